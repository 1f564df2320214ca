// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/hash/hash.h"
#include "berth/node_set.h"
#include "berth/pod_info.h"

namespace berth::cache {

// A pod that the cache knows.
struct CachedPod {
  PodInfoPtr info;
  NodeRow row = kNoRow;
  bool assumed = false;
};

// The known pods by UID and by row. Adding and removing take constant time.
//
// Undone in reverse order, additions and removals leave the very same table, the order of pods on
// a row included.
//
// Thread safety: one owner.
class PodTable {
 public:
  using Slot = uint32_t;
  static constexpr Slot kNoSlot = UINT32_MAX;

  // What Remove() took, and where from.
  struct Removed {
    CachedPod pod;
    Slot slot = kNoSlot;
    uint32_t index = 0;
  };

  PodTable() : by_uid_(0, UidHash{{&entries_}}, UidEqual{{&entries_}}) {}
  PodTable(const PodTable&) = delete;
  PodTable& operator=(const PodTable&) = delete;

  void Grow(size_t rows) { rows_.resize(rows); }

  Slot Find(std::string_view uid) const;
  const CachedPod& pod(Slot slot) const { return entries_[slot].pod; }
  // The UID must be unknown.
  Slot Add(CachedPod pod);
  Removed Remove(Slot slot);
  // Undoes a Remove() that nothing but undone changes followed.
  void PutBack(Removed removed);
  // The newest version of a pod, read from the API server on the node where the table has it.
  void Confirm(Slot slot, PodInfoPtr info);

  // Of the row, in no particular order.
  std::span<const PodInfo* const> pods(NodeRow row) const { return rows_[row].infos; }
  std::span<const Slot> slots(NodeRow row) const { return rows_[row].slots; }
  size_t num_rows() const { return rows_.size(); }
  size_t size() const { return by_uid_.size(); }
  size_t num_assumed() const { return num_assumed_; }

 private:
  struct Entry {
    CachedPod pod;
    uint32_t index = 0;  // in Row::infos and Row::slots
    // Of its UID: a set that grows asks for all of them, and each UID lies in memory of its own.
    size_t uid_hash = 0;
  };
  struct Row {
    std::vector<const PodInfo*> infos;
    std::vector<Slot> slots;  // slots[i] holds infos[i]
  };
  // The set holds slots and finds them by the UID of their pod.
  struct ByUid {
    using is_transparent = void;
    const std::vector<Entry>* entries;

    std::string_view Uid(std::string_view uid) const { return uid; }
    std::string_view Uid(Slot slot) const { return (*entries)[slot].pod.info->pod->metadata.uid; }
  };
  struct UidHash : ByUid {
    size_t operator()(std::string_view uid) const { return absl::Hash<std::string_view>()(uid); }
    size_t operator()(Slot slot) const { return (*entries)[slot].uid_hash; }
  };
  struct UidEqual : ByUid {
    template <typename A, typename B>
    bool operator()(const A& a, const B& b) const {
      return Uid(a) == Uid(b);
    }
  };

  std::vector<Entry> entries_;
  std::vector<Slot> free_slots_;  // the last is used first
  std::vector<Row> rows_;
  absl::flat_hash_set<Slot, UidHash, UidEqual> by_uid_;
  size_t num_assumed_ = 0;
};

}  // namespace berth::cache
