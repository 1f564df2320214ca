// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "berth/api/pod.h"
#include "berth/cycle_state.h"
#include "berth/snapshot.h"
#include "plugins/pod_topology_spread/constraints.h"

namespace berth::plugins {

// How crowded each domain is with the pods that a pod's soft constraints count. Immutable.
class SpreadPreScoreState final : public StateData {
 public:
  // `require_all_keys`: nodes that lack the key of some constraint neither count nor get a score;
  // otherwise they count as if their value were "".
  SpreadPreScoreState(const api::Pod& pod, const Snapshot& snapshot, SpreadConstraints constraints,
                      const NodeSet& feasible, bool require_all_keys, bool comparison_operators);
  std::unique_ptr<StateData> Clone() const override {
    return std::make_unique<SpreadPreScoreState>(*this);
  }

  // The feasible nodes that get no score.
  const NodeSet& ignored() const { return *ignored_; }
  // The raw score of a feasible node: pods in its domains, each domain weighted by ln(how many
  // domains there are + 2), plus maxSkew - 1 a constraint. 0 for ignored nodes.
  int64_t Score(NodeRow row) const;

 private:
  struct Soft {
    std::shared_ptr<const Topology> topology;
    // By domain, or for kubernetes.io/hostname by node: then nullptr stands for no pods.
    std::vector<int32_t> pods;
    bool by_node = false;
    std::shared_ptr<const PodCounts> node_pods;
    double weight = 0;
    double tolerance = 0;
  };

  static int32_t Pods(const Soft& soft, NodeRow row, DomainId domain) {
    if (!soft.by_node) return soft.pods[domain];
    return soft.node_pods == nullptr ? 0 : soft.node_pods->by_row().Get(row);
  }

  std::shared_ptr<const std::vector<Soft>> soft_;
  std::shared_ptr<const NodeSet> ignored_;
};

}  // namespace berth::plugins
