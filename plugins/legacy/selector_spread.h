// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "berth/loadable/plugin.hpp"

namespace berth::legacy {

// Spreads the pods of a Service, ReplicationController, ReplicaSet or StatefulSet over nodes and
// zones. Kubernetes had it up to 1.24; PodTopologySpread's default constraints say the same.
//
// Thread safety: Score and ScoreNodes may run concurrently; the rest on the scheduling thread.
class SelectorSpread final : public PreScorePlugin,
                             public ColumnScorePlugin,
                             public NormalizeScorePlugin {
 public:
  SelectorSpread(const ConfigValue&, Handle handle) : handle_(handle) {}

  // Skips pods with topology spread constraints of their own.
  Status PreScore(CycleState& state, const PodView& pod, const Snapshot& snapshot,
                  const ConstNodeSet& feasible) override;
  // How many pods of the same kind, in the pod's namespace and not being deleted, are on the node.
  ScoreResult Score(const CycleState& state, const PodView& pod,
                    const NodeView& node) const override;
  void ScoreNodes(const CycleState& state, const PodView& pod, const Snapshot& snapshot,
                  const uint32_t* rows, int64_t* scores, size_t n) const override;
  // 100 for the nodes with the fewest of these pods, 0 for those with the most. Where any node is
  // in a zone, the zone's pods among the nodes make two thirds of the score of nodes in zones.
  Status NormalizeScore(const CycleState& state, const PodView& pod, const Snapshot& snapshot,
                        const uint32_t* rows, int64_t* scores, size_t n) const override;

 private:
  Handle handle_;
};

}  // namespace berth::legacy
