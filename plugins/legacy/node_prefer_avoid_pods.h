// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "berth/loadable/plugin.hpp"

namespace berth::legacy {

// Keeps the pods of a ReplicationController or ReplicaSet, as far as other nodes will do, off nodes
// whose annotation scheduler.alpha.kubernetes.io/preferAvoidPods names their controller.
// Kubernetes had it up to 1.22; a PreferNoSchedule taint says the same.
//
// Thread safety: stateless; every method may run concurrently.
class NodePreferAvoidPods final : public ColumnScorePlugin {
 public:
  static constexpr std::string_view kAnnotation = "scheduler.alpha.kubernetes.io/preferAvoidPods";

  NodePreferAvoidPods(const ConfigValue&, Handle) {}

  // 0 on nodes that avoid the pod, 100 on all others. An annotation that cannot be read avoids
  // nothing.
  ScoreResult Score(const CycleState& state, const PodView& pod,
                    const NodeView& node) const override;
  void ScoreNodes(const CycleState& state, const PodView& pod, const Snapshot& snapshot,
                  const uint32_t* rows, int64_t* scores, size_t n) const override;
};

}  // namespace berth::legacy
