// SPDX-License-Identifier: Apache-2.0
#include "src/cache/pod_table.h"

#include <utility>

#include "berth/check.h"

namespace berth::cache {
namespace {

constexpr size_t kFirstPods = 4;

}  // namespace

PodTable::Slot PodTable::Find(std::string_view uid) const {
  const auto it = by_uid_.find(uid);
  return it == by_uid_.end() ? kNoSlot : *it;
}

PodTable::Slot PodTable::Add(CachedPod pod) {
  Slot slot = static_cast<Slot>(entries_.size());
  if (free_slots_.empty()) {
    entries_.emplace_back();
  } else {
    slot = free_slots_.back();
    free_slots_.pop_back();
  }
  Row& row = rows_[pod.row];
  if (row.infos.capacity() == 0) {
    // Most nodes have more than one, and growing by one at a time is most of the cost.
    row.infos.reserve(kFirstPods);
    row.slots.reserve(kFirstPods);
  }
  row.infos.push_back(pod.info.get());
  row.slots.push_back(slot);
  if (pod.assumed) ++num_assumed_;
  const size_t uid_hash = by_uid_.hash_function()(pod.info->pod->metadata.uid);
  entries_[slot] = {std::move(pod), static_cast<uint32_t>(row.slots.size() - 1), uid_hash};
  BERTH_CHECK(by_uid_.insert(slot).second, "pod UID added twice");
  return slot;
}

PodTable::Removed PodTable::Remove(Slot slot) {
  by_uid_.erase(slot);
  Entry& entry = entries_[slot];
  Row& row = rows_[entry.pod.row];
  row.infos[entry.index] = row.infos.back();
  row.slots[entry.index] = row.slots.back();
  entries_[row.slots.back()].index = entry.index;
  row.infos.pop_back();
  row.slots.pop_back();
  if (entry.pod.assumed) --num_assumed_;
  free_slots_.push_back(slot);
  return {std::exchange(entry.pod, {}), slot, entry.index};
}

void PodTable::PutBack(Removed removed) {
  const uint32_t index = removed.index;
  const Slot slot = Add(std::move(removed.pod));
  BERTH_CHECK(slot == removed.slot, "removals undone out of order");
  Entry& entry = entries_[slot];
  Row& row = rows_[entry.pod.row];
  std::swap(row.infos[index], row.infos.back());
  std::swap(row.slots[index], row.slots.back());
  entries_[row.slots.back()].index = entry.index;
  entry.index = index;
}

void PodTable::Confirm(Slot slot, PodInfoPtr info) {
  Entry& entry = entries_[slot];
  if (std::exchange(entry.pod.assumed, false)) --num_assumed_;
  rows_[entry.pod.row].infos[entry.index] = info.get();
  entry.pod.info = std::move(info);
}

}  // namespace berth::cache
