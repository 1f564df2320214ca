// SPDX-License-Identifier: Apache-2.0
#pragma once

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
  ScoreResult ScorePlacement(CycleState& state, const PodGroupInfo& group, const Snapshot& snapshot,
                             const PodGroupAssignments& placement) override;
  // The most pods become 100. Error: there are none at all.
  Status NormalizePlacementScores(CycleState& state, const PodGroupInfo& group,
                                  std::span<int64_t> scores) override;

 private:
  Handle& handle_;
};

}  // namespace berth::plugins
