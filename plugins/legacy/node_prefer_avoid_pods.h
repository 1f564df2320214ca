// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "berth/in_tree/handle.h"
#include "berth/in_tree/points.h"

namespace berth::plugins {

// Keeps the pods of a ReplicationController or ReplicaSet, as far as other nodes will do, off nodes
// whose annotation scheduler.alpha.kubernetes.io/preferAvoidPods names their controller.
// Kubernetes had it up to 1.22; a PreferNoSchedule taint says the same.
//
// Thread safety: stateless; every method may run concurrently.
class NodePreferAvoidPods final : public ColumnScorePlugin {
 public:
  static constexpr std::string_view kName = "NodePreferAvoidPods";
  static constexpr std::string_view kAnnotation = "scheduler.alpha.kubernetes.io/preferAvoidPods";

  Inputs DeclaredInputs() const { return Inputs::Of(pod_part::kOwner, {{Reach::kNode}}); }

  // 0 on nodes that avoid the pod, 100 on all others. An annotation that cannot be read avoids
  // nothing.
  ScoreResult Score(const CycleState& state, const PodInfo& pod,
                    const NodeView& node) const override;
  void ScoreNodes(const CycleState& state, const PodInfo& pod, const Snapshot& snapshot,
                  std::span<const NodeRow> nodes, std::span<int64_t> scores) const override;
};

}  // namespace berth::plugins
