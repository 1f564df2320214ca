// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "berth/in_tree/handle.h"
#include "berth/in_tree/points.h"

namespace berth::plugins {

// Keeps pods off nodes with a NoSchedule or NoExecute taint they do not tolerate, and prefers nodes
// with fewer PreferNoSchedule taints they do not tolerate.
//
// By column, a list of taints is judged once, however many nodes carry it.
//
// Thread safety: immutable; every method may run concurrently.
class TaintToleration final : public PreFilterPlugin,
                              public ColumnFilterPlugin,
                              public PreScorePlugin,
                              public ColumnScorePlugin,
                              public ScoreExtensions,
                              public EnqueueExtensions {
 public:
  static constexpr std::string_view kName = "TaintToleration";
  static constexpr bool kSkipsDeferredResizes = true;
  static constexpr std::string_view kReason = "node(s) had untolerated taint(s)";

  explicit TaintToleration(Handle& handle);

  Inputs DeclaredInputs() const { return Inputs::Of(pod_part::kTolerations, {{Reach::kNode}}); }

  PreFilterResult PreFilter(CycleState&, const PodInfo&, const Snapshot&) override { return {}; }
  Status Filter(const CycleState& state, const PodInfo& pod, const NodeView& node) const override;
  Status FilterNodes(const CycleState& state, const PodInfo& pod, const Snapshot& snapshot,
                     NodeSet& nodes) const override;

  // Never skips.
  Status PreScore(CycleState& state, const PodInfo& pod, const Snapshot& snapshot,
                  const NodeSet& feasible) override;
  // The number of PreferNoSchedule taints that are not tolerated; normalised to 100 for none.
  ScoreResult Score(const CycleState& state, const PodInfo& pod,
                    const NodeView& node) const override;
  void ScoreNodes(const CycleState& state, const PodInfo& pod, const Snapshot& snapshot,
                  std::span<const NodeRow> nodes, std::span<int64_t> scores) const override;
  bool NormalizesByValue(const CycleState&) const override { return true; }
  Status NormalizeScore(const CycleState& state, const PodInfo& pod, std::span<const NodeRow> nodes,
                        std::span<int64_t> scores) const override;

  // Queues the pod when a node comes whose taints it tolerates or an intolerable node becomes
  // tolerable, and whenever the pod gets a toleration.
  std::vector<ClusterEventWithHint> EventsToRegister() const override;

 private:
  int64_t CountIntolerable(std::span<const api::Toleration> tolerations,
                           std::span<const api::Taint> taints) const;

  Status rejection_;
  bool comparison_operators_;
};

}  // namespace berth::plugins
