// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string_view>

#include "berth/in_tree/handle.h"
#include "berth/in_tree/placement_points.h"

namespace berth::plugins {

// Prefers the placement where most pods of the group find a node.
//
// Thread safety: the scheduling thread.
class PodGroupPodsCount final : public PlacementScorePlugin {
 public:
  static constexpr std::string_view kName = "PodGroupPodsCount";

  explicit PodGroupPodsCount(Handle& handle) : handle_(handle) {}

  // Filters and scores no node.
  Inputs DeclaredInputs() const { return Inputs::Of(0, {}); }

  // How many pods of the group would have a node, those included that have one already: so one pod
  // more or less counts little in a group that runs.
  ScoreResult ScorePlacement(CycleState&, const PodGroupInfo& group, const Snapshot&,
                             const PodGroupAssignments& placement) override {
    size_t scheduled = 0;
    group.ForEachPodGroup([&](const api::PodGroup& pod_group) {
      const api::ObjectMeta& metadata = pod_group.metadata;
      const PodGroupState* pods = handle_.pod_groups().Find(metadata.namespace_, metadata.name);
      if (pods != nullptr) scheduled += pods->scheduled;
    });
    return {static_cast<int64_t>(scheduled + placement.assignments.size())};
  }
  // The most pods become 100. Error: there are none at all.
  Status NormalizePlacementScores(CycleState& state, const PodGroupInfo&,
                                  std::span<int64_t> scores) override {
    const int64_t most = scores.empty() ? 0 : *std::max_element(scores.begin(), scores.end());
    if (most <= 0) {
      return state.reasons().Error(
          "no pods from pod group are assigned to any of the candidate placements");
    }
    for (int64_t& score : scores) score = score * kMaxNodeScore / most;
    return {};
  }

 private:
  Handle& handle_;
};

}  // namespace berth::plugins
