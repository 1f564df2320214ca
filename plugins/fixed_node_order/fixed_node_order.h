// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "berth/in_tree/points.h"

namespace berth::plugins {

// Gives nodes an order that never changes and mixes their kinds: a place from 0 to 49, made of the
// node's name, counted double, and one more for a node that is used. With a small weight beside a
// score that many nodes share, it decides between them, so that pods fill one node after the other
// instead of a little of each.
//
// A node is used that has a pod besides those that come and go with it: a DaemonSet's, and static
// pods.
//
// Thread safety: any thread.
class FixedNodeOrder final : public ColumnScorePlugin {
 public:
  static constexpr std::string_view kName = "FixedNodeOrder";

  Inputs DeclaredInputs() const {
    return Inputs::Of(PodParts{0}, {{Reach::kNode}, {Reach::kUsage}});
  }

  ScoreResult Score(const CycleState& state, const PodInfo& pod,
                    const NodeView& node) const override;
  void ScoreNodes(const CycleState& state, const PodInfo& pod, const Snapshot& snapshot,
                  std::span<const NodeRow> nodes, std::span<int64_t> scores) const override;
};

}  // namespace berth::plugins
