// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <utility>
#include <vector>

#include "src/queue/entry.h"

namespace berth::queue {

// A binary min-heap of entries that knows where each one is, so that any of them can be moved or
// removed in O(log n). `less` must be a strict total order for the order of equals to be fixed.
//
// Thread safety: one owner.
class EntryHeap {
 public:
  using Less = std::function<bool(const Entry&, const Entry&)>;
  explicit EntryHeap(Less less) : less_(std::move(less)) {}

  bool empty() const { return entries_.empty(); }
  size_t size() const { return entries_.size(); }
  // The least entry; the heap must not be empty.
  Entry* Top() const { return entries_.front(); }
  // All entries, in heap order.
  const std::vector<Entry*>& entries() const { return entries_; }
  bool Before(const Entry& a, const Entry& b) const { return less_(a, b); }

  void Push(Entry* entry) {
    entries_.push_back(entry);
    entry->heap_index = entries_.size() - 1;
    Up(entry->heap_index);
  }
  // Restores the order after `entry`, which is in this heap, changed.
  void Fix(Entry* entry) {
    Up(entry->heap_index);
    Down(entry->heap_index);
  }
  void Remove(Entry* entry) {
    const size_t hole = entry->heap_index;
    Entry* last = entries_.back();
    entries_.pop_back();
    if (last == entry) return;
    Place(hole, last);
    Fix(last);
  }

 private:
  void Place(size_t index, Entry* entry) {
    entries_[index] = entry;
    entry->heap_index = index;
  }
  void Up(size_t index) {
    Entry* entry = entries_[index];
    while (index > 0) {
      const size_t parent = (index - 1) / 2;
      if (!less_(*entry, *entries_[parent])) break;
      Place(index, entries_[parent]);
      index = parent;
    }
    Place(index, entry);
  }
  void Down(size_t index) {
    Entry* entry = entries_[index];
    while (true) {
      size_t child = 2 * index + 1;
      if (child >= entries_.size()) break;
      if (child + 1 < entries_.size() && less_(*entries_[child + 1], *entries_[child])) ++child;
      if (!less_(*entries_[child], *entry)) break;
      Place(index, entries_[child]);
      index = child;
    }
    Place(index, entry);
  }

  Less less_;
  std::vector<Entry*> entries_;
};

}  // namespace berth::queue
