// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "berth/in_tree/cycle_state.h"
#include "berth/snapshot.h"
#include "plugins/inter_pod_affinity/terms.h"
#include "plugins/inter_pod_affinity/topology_counts.h"

namespace berth::plugins {

// What required terms say about the nodes for one incoming pod: where pods are that it wants to be
// near, where pods are that it must keep away from, and where pods keep it away.
//
// Thread safety: that of TopologyCounts.
class PodAffinityFilterState final {
 public:
  // `pod`, and the namespaces that `resolver` knows, must outlive the state. `placed` are the
  // required anti-affinity terms of placed pods that mean the pod. Where `budget` is used up, the
  // state is not to be used.
  PodAffinityFilterState(const PodInfo& pod, const Snapshot& snapshot, TermResolver& resolver,
                         const std::vector<AffinityTermCounts>& placed, CycleBudget& budget);

  size_t bytes() const;

  // Nothing keeps the pod away from any node, and the pod asks for nothing.
  bool nothing_to_say() const;

  // `other` is added to the row (1) or removed from it (-1).
  void UpdateWithPod(const Snapshot& snapshot, const PodInfo& other, NodeRow row, int32_t delta);

  // Only UpdateWithPod() changes anything from now on, whatever pods come and go.
  void Detach();

  // Pods came to or left `rows`, and `placed` are the terms as they are now: brings the counts up
  // to date and adds the rows whose verdict may differ to `touched`. False: make a new state.
  // Not for copies, nor after Detach().
  bool Update(std::span<const NodeRow> rows, const std::vector<AffinityTermCounts>& placed,
              NodeSet& touched);

  // Whether near the row is, of every required affinity term, a pod that matches them all; or no
  // such pod is near any node and the pod matches its own terms. In either case the row must have
  // every topology key.
  bool SatisfiesAffinity(NodeRow row) const;
  bool SatisfiesAntiAffinity(NodeRow row) const { return !anti_affinity_.AnyPositive(row); }
  bool SatisfiesPlacedPods(NodeRow row) const { return !placed_anti_affinity_.AnyPositive(row); }

  // Takes out the rows that do not satisfy all three.
  void FilterNodes(NodeSet& nodes) const;

 private:
  struct KeyedTerm {
    std::string_view topology_key;  // the pod's
    PodQuery query;                 // of this term alone
  };
  // What stays as it is from PreFilter on; shared by copies.
  struct Terms {
    const api::Pod* pod = nullptr;
    std::shared_ptr<const PodAffinityTerms> own;  // what the keys are of
    const api::StringMap* namespace_labels = nullptr;
    PodQuery affinity;  // all affinity terms together; none: no pod matches
    std::vector<std::string_view> affinity_keys;  // the pod's, unique
    bool matches_own_affinity = false;
    std::vector<KeyedTerm> anti_affinity;  // unique
  };

  void ReadTerms(const PodInfo& pod, TermResolver& resolver, CycleBudget& budget);
  void CountOwn(const Snapshot& snapshot, CycleBudget& budget);

  std::shared_ptr<Terms> terms_;
  std::vector<uint64_t> placed_terms_;  // their serials
  TopologyCounts affinity_;
  TopologyCounts anti_affinity_;
  TopologyCounts placed_anti_affinity_;
};

}  // namespace berth::plugins
