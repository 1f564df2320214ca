// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "berth/in_tree/handle.h"
#include "berth/in_tree/points.h"
#include "plugins/weighted_topology_spread/args.h"
#include "plugins/weighted_topology_spread/value_counts.h"

namespace berth::plugins {

// Spreads pods over values of a node label by weights, as 7 on spot nodes to 3 on others, or fills
// the values in an order: what topologySpreadConstraints cannot say. The constraints are the
// profile's, and hold for the pods that they select.
//
// Every constraint scores. One with DoNotSchedule also keeps pods off nodes that have none of its
// values and, with weights, off values that have more than their share.
//
// Thread safety: Filter, Score, their column forms and NormalizeScore may run concurrently; the
// rest on the scheduling thread only. The plugin itself keeps no state.
class WeightedTopologySpread final : public UpdatablePreFilterPlugin,
                                     public PreFilterExtensions,
                                     public ColumnFilterPlugin,
                                     public UpdatablePreScorePlugin,
                                     public ColumnScorePlugin,
                                     public ScoreExtensions,
                                     public EnqueueExtensions {
 public:
  static constexpr std::string_view kName = "WeightedTopologySpread";
  static constexpr bool kSkipsDeferredResizes = true;
  static constexpr std::string_view kShareReason =
      "node(s) didn't match weighted topology spread constraints";
  static constexpr std::string_view kValueReason =
      "node(s) didn't match weighted topology spread constraints (missing required value)";
  static constexpr std::string_view kFilterWithoutPreFilter =
      "WeightedTopologySpread counts pods at PreFilter, where the profile does not call it";
  static constexpr std::string_view kScoreWithoutPreScore =
      "WeightedTopologySpread counts pods at PreScore, where the profile does not call it";

  // `args` are valid.
  WeightedTopologySpread(const WeightedTopologySpreadArgs& args, Handle& handle);

  Inputs DeclaredInputs() const;

  // Skips pods for which no constraint with DoNotSchedule holds.
  PreFilterResult PreFilter(CycleState& state, const PodInfo& pod,
                            const Snapshot& snapshot) override;
  bool UpdatePreFilter(CycleState& state, const PodInfo& pod, const Snapshot& snapshot,
                       std::span<const NodeRow> rows, NodeSet& touched) override;
  Status AddPod(CycleState& state, const PodInfo& pod, const PodInfo& added,
                const NodeView& node) override;
  Status RemovePod(CycleState& state, const PodInfo& pod, const PodInfo& removed,
                   const NodeView& node) override;

  // Unschedulable where the node's value would have too many pods for its share,
  // UnschedulableAndUnresolvable where the node has none of the values.
  Status Filter(const CycleState& state, const PodInfo& pod, const NodeView& node) const override;
  Status FilterNodes(const CycleState& state, const PodInfo& pod, const Snapshot& snapshot,
                     NodeSet& nodes) const override;

  // Skips pods for which no constraint holds.
  Status PreScore(CycleState& state, const PodInfo& pod, const Snapshot& snapshot,
                  const NodeSet& feasible) override;
  bool UpdatePreScore(CycleState& state, const PodInfo& pod, const Snapshot& snapshot,
                      std::span<const NodeRow> rows, const NodeSet& feasible,
                      NodeSet& touched) override;
  std::optional<ScoreGroups> Groups(const CycleState& state) const override;
  // The sum over the constraints of how much each prefers the node's value (0 to 100).
  ScoreResult Score(const CycleState& state, const PodInfo& pod,
                    const NodeView& node) const override;
  void ScoreNodes(const CycleState& state, const PodInfo& pod, const Snapshot& snapshot,
                  std::span<const NodeRow> nodes, std::span<int64_t> scores) const override;
  // The best feasible node gets 100 and the worst 0; all 100 where they are alike.
  Status NormalizeScore(const CycleState& state, const PodInfo& pod, std::span<const NodeRow> nodes,
                        std::span<int64_t> scores) const override;
  bool NormalizesByValue(const CycleState&) const override { return true; }

  // Queues the pod when pods that its constraints count come, go or change their labels, when nodes
  // come, go or get another value, and when the pod itself gets other labels.
  std::vector<ClusterEventWithHint> EventsToRegister() const override;

 private:
  using Constraints = std::vector<std::shared_ptr<const WeightedConstraint>>;
  // The constraints that hold for the pod, of one kind or all.
  enum class Which : uint8_t { kAll, kDoNotSchedule };
  Constraints HoldingFor(const api::Pod& pod, Which which) const;

  Result<QueueingHint> AfterAssignedPodChange(const api::Pod& pod, const api::ObjectPtr& old_object,
                                              const api::ObjectPtr& new_object) const;
  Result<QueueingHint> AfterNodeChange(const api::Pod& pod, const api::ObjectPtr& old_object,
                                       const api::ObjectPtr& new_object) const;

  Constraints constraints_;
  Status share_rejection_;
  Status value_rejection_;
};

}  // namespace berth::plugins
