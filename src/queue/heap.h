// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "berth/time.h"
#include "src/queue/entry.h"

namespace berth::queue {

// A binary min-heap of entries that knows where each one is, so that any of them can be moved or
// removed in O(log n). What orders the entries lies in the heap itself: a comparison follows no
// pointer.
//
// Thread safety: one owner.
class EntryHeap {
 public:
  // The end of the backoff comes first, then the higher priority, then the earlier timestamp (as
  // PrioritySort has it), then the order of arrival. A heap that goes by less leaves the rest at
  // the same value for all.
  struct Key {
    Time backoff_ends;
    int32_t priority = 0;
    Time timestamp;
    uint64_t sequence = 0;
  };

  // `less` takes the place of priority and timestamp; nullptr: those count.
  explicit EntryHeap(QueueLess less = nullptr) : less_(std::move(less)) {}

  bool empty() const { return items_.empty(); }
  size_t size() const { return items_.size(); }
  // The least entry and its key; the heap must not be empty.
  Entry* Top() const { return items_.front().entry; }
  const Key& TopKey() const { return items_.front().key; }
  // All entries, the least first.
  std::vector<Entry*> InOrder() const {
    std::vector<Item> items = items_;
    std::sort(items.begin(), items.end(),
              [this](const Item& a, const Item& b) { return Before(a, b); });
    std::vector<Entry*> entries;
    entries.reserve(items.size());
    for (const Item& item : items) entries.push_back(item.entry);
    return entries;
  }

  void Push(Entry* entry, const Key& key) {
    items_.push_back({key, entry});
    Up(items_.size() - 1);
  }
  // `entry`, which is in this heap, has changed.
  void Update(Entry* entry, const Key& key) {
    items_[entry->heap_index].key = key;
    Up(entry->heap_index);
    Down(entry->heap_index);
  }
  void Remove(Entry* entry) {
    const size_t hole = entry->heap_index;
    const Item last = items_.back();
    items_.pop_back();
    if (last.entry == entry) return;
    Place(hole, last);
    Up(hole);
    Down(last.entry->heap_index);
  }

 private:
  struct Item {
    Key key;
    Entry* entry;
  };

  bool Before(const Item& a, const Item& b) const {
    if (a.key.backoff_ends != b.key.backoff_ends) return a.key.backoff_ends < b.key.backoff_ends;
    if (less_ != nullptr) {
      const QueueSortKey key_a = {a.entry->pod->info.get(), a.entry->pod->timestamp};
      const QueueSortKey key_b = {b.entry->pod->info.get(), b.entry->pod->timestamp};
      if (less_(key_a, key_b)) return true;
      if (less_(key_b, key_a)) return false;
    } else {
      if (a.key.priority != b.key.priority) return a.key.priority > b.key.priority;
      if (a.key.timestamp != b.key.timestamp) return a.key.timestamp < b.key.timestamp;
    }
    return a.key.sequence < b.key.sequence;
  }
  void Place(size_t index, const Item& item) {
    items_[index] = item;
    item.entry->heap_index = index;
  }
  void Up(size_t index) {
    const Item item = items_[index];
    while (index > 0) {
      const size_t parent = (index - 1) / 2;
      if (!Before(item, items_[parent])) break;
      Place(index, items_[parent]);
      index = parent;
    }
    Place(index, item);
  }
  void Down(size_t index) {
    const Item item = items_[index];
    while (true) {
      size_t child = 2 * index + 1;
      if (child >= items_.size()) break;
      if (child + 1 < items_.size() && Before(items_[child + 1], items_[child])) ++child;
      if (!Before(items_[child], item)) break;
      Place(index, items_[child]);
      index = child;
    }
    Place(index, item);
  }

  QueueLess less_;
  std::vector<Item> items_;
};

}  // namespace berth::queue
