// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/container/flat_hash_map.h"
#include "src/queue/entry.h"
#include "src/queue/hint_table.h"

namespace berth::queue {

// Parked pods that no hint can tell apart: of one profile and class, with the same rejectors.
// What a hint says to one of them it says to all. A pod without a class is a group of its own, and
// so is a pod group.
struct ParkedGroup {
  uint64_t number = 0;                        // groups count up as they are made
  absl::btree_map<uint64_t, Entry*> members;  // by Entry::sequence; never empty
  absl::btree_map<uint64_t, Entry*> moved;    // of these, those with Entry::gate_moved
  uint64_t wanted = 0;  // the number of the last event that would have let its gated pods out

  const Entry& any() const { return *members.begin()->second; }
};

// The unschedulable and the gated pods, in groups, indexed by the plugins that rejected them.
//
// Thread safety: belongs to the scheduling thread.
class ParkedPods {
 public:
  // `hints` must outlive this.
  explicit ParkedPods(const HintTable& hints);

  // Under entry->sequence, which must be free. The entry's pod and rejectors must not change while
  // it is here: take it out first.
  void Add(Entry* entry);
  void Remove(Entry* entry);
  void SetGateMoved(Entry* entry, bool moved);
  // An event came that would let the group's pods out, but for their gate.
  void NoteWanted(const ParkedGroup& group);
  // Whether one came since the entry waits at its gate.
  static bool Wanted(const ParkedGroup& group, const Entry& entry) {
    return entry.wanted || group.wanted > entry.wanted_before;
  }
  // After the hints have been replaced. There must be no parked pod.
  void Reset();

  // By sequence.
  const absl::btree_map<uint64_t, Entry*>& all() const { return all_; }
  size_t gated() const { return gated_; }

  // The groups that the event may move: those that HintTable::Evaluate might not skip; gated ones
  // only if their gating plugin registered for the event. In the order in which they were made.
  std::vector<const ParkedGroup*> Candidates(const EventMatch& match) const;

 private:
  struct GroupKey {
    uint32_t profile = 0;
    PodClassId pod_class = kNoPodClass;
    uint32_t class_epoch = 0;
    uint64_t alone = 0;  // the entry's sequence where no other may share the group
    uint32_t gating_plugin = 0;
    bool gated = false;
    bool rejected = false;
    std::vector<uint64_t> rejectors;

    friend bool operator==(const GroupKey&, const GroupKey&) = default;
    template <typename H>
    friend H AbslHashValue(H h, const GroupKey& key) {
      return H::combine(std::move(h), key.profile, key.pod_class, key.class_epoch, key.alone,
                        key.gating_plugin, key.gated, key.rejected, key.rejectors);
    }
  };
  using Bucket = absl::btree_map<uint64_t, const ParkedGroup*>;  // by ParkedGroup::number

  GroupKey KeyOf(const Entry& entry) const;
  // The buckets that hold the entry's group.
  template <typename Visit>
  void ForEachBucket(const Entry& entry, Visit visit);

  const HintTable& hints_;
  absl::btree_map<uint64_t, Entry*> all_;
  absl::flat_hash_map<GroupKey, std::unique_ptr<ParkedGroup>> groups_;
  uint64_t last_group_ = 0;
  uint64_t last_wanted_ = 0;
  // [profile * plugin_count + plugin], and last the groups of unknown profiles.
  std::vector<Bucket> buckets_;
  Bucket all_groups_;
  size_t gated_ = 0;
};

}  // namespace berth::queue
