// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/container/btree_map.h"
#include "src/queue/entry.h"
#include "src/queue/hint_table.h"

namespace berth::queue {

// The unschedulable and the gated pods, indexed by the plugins that rejected them.
//
// Thread safety: belongs to the scheduling thread.
class ParkedPods {
 public:
  // `hints` must outlive this.
  explicit ParkedPods(const HintTable& hints);

  // Under entry->sequence, which must be free. The entry's rejectors must not change while it is
  // here: take it out first.
  void Add(Entry* entry);
  void Remove(Entry* entry);

  // By sequence.
  const absl::btree_map<uint64_t, Entry*>& all() const { return all_; }
  size_t gated() const { return gated_; }

  // The pods that the event may move: those that HintTable::Evaluate, asked for each, might not
  // skip; gated ones only if their gating plugin registered for the event. By sequence.
  std::vector<Entry*> Candidates(const EventMatch& match) const;

 private:
  // The buckets that hold the entry.
  template <typename Visit>
  void ForEachBucket(const Entry& entry, Visit visit);

  const HintTable& hints_;
  absl::btree_map<uint64_t, Entry*> all_;
  // [profile * plugin_count + plugin], and last the pods of unknown profiles.
  std::vector<absl::btree_map<uint64_t, Entry*>> buckets_;
  size_t gated_ = 0;
};

}  // namespace berth::queue
