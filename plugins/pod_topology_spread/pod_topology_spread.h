// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "berth/in_tree/handle.h"
#include "berth/in_tree/points.h"
#include "plugins/pod_topology_spread/args.h"
#include "plugins/pod_topology_spread/constraints.h"

namespace berth::plugins {

// Spreads pods that belong together over the domains of topology keys. Constraints with
// DoNotSchedule keep a pod off nodes where it would make the spread too uneven; those with
// ScheduleAnyway prefer nodes of domains with fewer pods.
//
// PreFilter and PreScore turn counts that the snapshot keeps by node and by domain into one number
// a domain; judging a node then compares numbers, without a look at pods, labels or strings.
//
// Thread safety: Filter, Score, their column forms and NormalizeScore may run concurrently; the
// rest on the scheduling thread only. The plugin itself keeps no state.
class PodTopologySpread final : public UpdatablePreFilterPlugin,
                                public PreFilterExtensions,
                                public ColumnFilterPlugin,
                                public UpdatablePreScorePlugin,
                                public ColumnScorePlugin,
                                public ScoreExtensions,
                                public EnqueueExtensions {
 public:
  static constexpr std::string_view kName = "PodTopologySpread";
  static constexpr bool kSkipsDeferredResizes = true;
  static constexpr std::string_view kSkewReason =
      "node(s) didn't match pod topology spread constraints";
  static constexpr std::string_view kLabelReason =
      "node(s) didn't match pod topology spread constraints (missing required label)";
  static constexpr std::string_view kFilterWithoutPreFilter =
      "reading \"PreFilterPodTopologySpread\" from cycleState: not found";
  static constexpr std::string_view kScoreWithoutPreScore =
      "error reading \"PreScorePodTopologySpread\" from cycleState: not found";

  // `args` are valid.
  PodTopologySpread(const PodTopologySpreadArgs& args, Handle& handle);

  Inputs DeclaredInputs() const;

  // Skips pods without hard constraints. Error: a selector that cannot be parsed.
  PreFilterResult PreFilter(CycleState& state, const PodInfo& pod,
                            const Snapshot& snapshot) override;
  bool UpdatePreFilter(CycleState& state, const PodInfo& pod, const Snapshot& snapshot,
                       std::span<const NodeRow> rows, NodeSet& touched) override;
  Status AddPod(CycleState& state, const PodInfo& pod, const PodInfo& added,
                const NodeView& node) override;
  Status RemovePod(CycleState& state, const PodInfo& pod, const PodInfo& removed,
                   const NodeView& node) override;

  // Unschedulable where the pod would make the skew too large, UnschedulableAndUnresolvable where
  // the node lacks a topology key.
  Status Filter(const CycleState& state, const PodInfo& pod, const NodeView& node) const override;
  Status FilterNodes(const CycleState& state, const PodInfo& pod, const Snapshot& snapshot,
                     NodeSet& nodes) const override;

  // Skips pods without soft constraints. Error: a selector that cannot be parsed.
  Status PreScore(CycleState& state, const PodInfo& pod, const Snapshot& snapshot,
                  const NodeSet& feasible) override;
  bool UpdatePreScore(CycleState& state, const PodInfo& pod, const Snapshot& snapshot,
                      std::span<const NodeRow> rows, const NodeSet& feasible,
                      NodeSet& touched) override;
  std::optional<ScoreGroups> Groups(const CycleState& state) const override;
  // How crowded the node's domains are: more is worse until normalised.
  ScoreResult Score(const CycleState& state, const PodInfo& pod,
                    const NodeView& node) const override;
  void ScoreNodes(const CycleState& state, const PodInfo& pod, const Snapshot& snapshot,
                  std::span<const NodeRow> nodes, std::span<int64_t> scores) const override;
  // Not where some feasible nodes get no score: theirs does not count.
  bool NormalizesByValue(const CycleState& state) const override;
  // The emptiest domains get 100; nodes that lack a required key get 0.
  Status NormalizeScore(const CycleState& state, const PodInfo& pod, std::span<const NodeRow> nodes,
                        std::span<int64_t> scores) const override;

  // Queues the pod when pods that its constraints count, or nodes that carry their keys, come, go
  // or change.
  std::vector<ClusterEventWithHint> EventsToRegister() const override;

 private:
  Status Count(CycleState& state, const PodInfo& pod, const PodInfo& changed, const NodeView& node,
               int32_t delta) const;

  ConstraintSource constraints_;
  bool comparison_operators_;
  Status skew_rejection_;
  Status label_rejection_;
};

}  // namespace berth::plugins
