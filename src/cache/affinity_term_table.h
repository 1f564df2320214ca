// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "berth/counts.h"
#include "berth/pod_affinity.h"
#include "berth/topology.h"
#include "src/cache/selector_index.h"
#include "src/cache/topology_table.h"

namespace berth::cache {

// The distinct pod affinity and anti-affinity terms of placed pods, and how many pods have each in
// each domain of its topology key.
//
// A term that its last pod has left stays, out of sight, until Sweep(): its pods often come back,
// and what a trial takes away surely does.
//
// Thread safety: one owner.
class AffinityTermTable {
 public:
  // `topologies` must outlive the table.
  AffinityTermTable(TopologyTable& topologies, size_t max_unused,
                    size_t max_unused_bytes = size_t{1} << 20)
      : topologies_(topologies), max_unused_(max_unused), max_unused_bytes_(max_unused_bytes) {}

  // A pod with these terms came to `row` (delta 1), or left it (-1). While a pod is here, its row
  // must not change its domain.
  void Count(NodeRow row, const PodAffinityTerms& terms, int32_t delta);
  // Adds to `out` what Snapshot::MatchingAffinityTerms says; valid until Sweep().
  void AddMatching(const api::Pod& pod, const api::StringMap& namespace_labels,
                   AffinityTermKinds kinds, std::vector<AffinityTermCounts>& out) const;
  // Forgets the terms that no pod has, when they are more, or longer, than allowed and than the
  // others.
  void Sweep();

  // Terms that pods have; those that wait for Sweep().
  size_t size() const { return by_identity_.size() - num_unused_; }
  size_t num_unused() const { return num_unused_; }

 private:
  using Slot = uint32_t;
  struct Entry {
    uint64_t serial = 0;
    AffinityTerm term;
    std::string identity;
    std::shared_ptr<const Topology> topology;
    Counts by_domain;
    size_t uses = 0;  // on rows without a domain, too
  };

  static PodScope ScopeOf(const AffinityTerm& term) {
    return {term.namespaces, !term.namespace_selector.nothing(), term.selector};
  }
  Slot FindOrAdd(const AffinityTerm& term);

  TopologyTable& topologies_;
  const size_t max_unused_;
  const size_t max_unused_bytes_;
  std::vector<std::unique_ptr<Entry>> entries_;  // by slot; nullptr: free
  std::vector<Slot> free_slots_;                 // the last is used first
  absl::flat_hash_map<std::string_view, Slot> by_identity_;
  SelectorIndex index_;
  size_t num_unused_ = 0;
  size_t unused_bytes_ = 0;  // of their identities; they take about twice as much memory
  size_t used_bytes_ = 0;    // of the identities of the others
  uint64_t last_serial_ = 0;
  std::string scratch_;
  mutable std::vector<Slot> matching_;
};

}  // namespace berth::cache
