// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "berth/api/pod.h"
#include "berth/in_tree/cycle_state.h"
#include "berth/snapshot.h"
#include "plugins/pod_topology_spread/constraints.h"
#include "plugins/pod_topology_spread/domain_counts.h"

namespace berth::plugins {

// How the pods that a pod's hard constraints count stand over their domains. Copies share what
// PreFilter found and keep apart what AddPod and RemovePod changed.
//
// Thread safety: one owner; any number of readers while it does not write.
class SpreadPreFilterState final {
 public:
  enum class Verdict : uint8_t { kPass, kMissingLabel, kTooSkewed };

  SpreadPreFilterState(const api::Pod& pod, const Snapshot& snapshot, SpreadConstraints constraints,
                       bool comparison_operators);

  size_t bytes() const;

  Verdict Judge(NodeRow row) const;
  // Takes out the rows that do not pass.
  void FilterNodes(NodeSet& nodes) const;
  // Counts `pod`, of the namespace of the incoming pod, `delta` times more on the row.
  void Count(const api::Pod& pod, NodeRow row, int32_t delta);

  // Pods came to or left `rows`: brings the counts up to date and adds the rows whose verdict may
  // differ to `touched`. Not for copies, nor where pods are imagined.
  void Update(std::span<const NodeRow> rows, NodeSet& touched);

 private:
  struct Hard {
    SpreadConstraint constraint;
    DomainPods pods;
    std::vector<DomainId> domains;  // of the nodes whose pods count
    bool selects_itself = false;
  };

  // The fewest pods of a domain, as the skew is measured against.
  int64_t Minimum(size_t constraint) const;
  bool TooSkewed(size_t constraint, int64_t pods, int64_t minimum) const;
  int32_t Pods(size_t constraint, DomainId domain) const;

  std::shared_ptr<std::vector<Hard>> hard_;  // copies read it only
  std::vector<CriticalPaths> paths_;         // one a constraint
  std::vector<Counts> changes_;              // one a constraint, by domain; empty: nothing changed
};

}  // namespace berth::plugins
