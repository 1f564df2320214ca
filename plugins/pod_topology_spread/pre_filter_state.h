// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "berth/api/pod.h"
#include "berth/cycle_state.h"
#include "berth/snapshot.h"
#include "plugins/pod_topology_spread/constraints.h"
#include "plugins/pod_topology_spread/domain_counts.h"

namespace berth::plugins {

// How the pods that a pod's hard constraints count stand over their domains. Copies share what
// PreFilter found and keep apart what AddPod and RemovePod changed.
//
// Thread safety: one owner; any number of readers while nobody writes.
class SpreadPreFilterState final : public StateData {
 public:
  enum class Verdict : uint8_t { kPass, kMissingLabel, kTooSkewed };

  SpreadPreFilterState(const api::Pod& pod, const Snapshot& snapshot, SpreadConstraints constraints,
                       bool comparison_operators);
  std::unique_ptr<StateData> Clone() const override {
    return std::make_unique<SpreadPreFilterState>(*this);
  }

  Verdict Judge(NodeRow row) const;
  // Counts `pod`, of the namespace of the incoming pod, `delta` times more on the row.
  void Count(const api::Pod& pod, NodeRow row, int32_t delta);

 private:
  // What does not change after PreFilter.
  struct Hard {
    SpreadConstraint constraint;
    std::shared_ptr<const Topology> topology;
    NodeSet nodes;              // whose pods count
    std::vector<int32_t> pods;  // by domain
    size_t num_domains = 0;     // of `nodes`
    bool selects_itself = false;
  };
  struct Change {
    size_t constraint = 0;
    DomainId domain = kNoDomain;
    int32_t delta = 0;
  };

  int32_t Pods(size_t constraint, DomainId domain) const;

  std::shared_ptr<const std::vector<Hard>> hard_;
  std::vector<CriticalPaths> paths_;  // one a constraint
  std::vector<Change> changes_;       // one a constraint and domain
};

}  // namespace berth::plugins
