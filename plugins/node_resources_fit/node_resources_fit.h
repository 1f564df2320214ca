// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <set>
#include <span>
#include <string>

#include "berth/in_tree/handle.h"
#include "berth/in_tree/placement_points.h"
#include "berth/in_tree/points.h"
#include "plugins/dynamic_resources/device_counts.h"
#include "plugins/node_resources_fit/args.h"
#include "plugins/node_resources_fit/fit_checks.h"
#include "plugins/shared/allocation.h"
#include "plugins/shared/allocation_strategy.h"
#include "plugins/shared/extended_resource_classes.h"

namespace berth::plugins {

// Keeps a pod off nodes that have not enough left of what it requests, and prefers nodes by how
// full they are (LeastAllocated, MostAllocated or RequestedToCapacityRatio).
//
// The rejection is Unschedulable, since evicting pods makes room, but
// UnschedulableAndUnresolvable where the pod asks for more than the node has in all.
//
// Where a node has none of an extended resource that is scored, but a device class stands for it,
// the class's devices on the node count (DeviceCounts).
//
// Thread safety: the scheduling thread.
class NodeResourcesFit final : public PreFilterPlugin,
                               public ColumnFilterPlugin,
                               public PreScorePlugin,
                               public ColumnScorePlugin,
                               public ScoreExtensions,
                               public PlacementScorePlugin,
                               public EnqueueExtensions,
                               public MemoryPlugin {
 public:
  static constexpr std::string_view kName = "NodeResourcesFit";

  // `args` are valid; `handle` outlives the plugin.
  NodeResourcesFit(const NodeResourcesFitArgs& args, Handle& handle);

  Inputs DeclaredInputs() const;

  // Never skips: the number of pods is always checked.
  PreFilterResult PreFilter(CycleState& state, const PodInfo& pod,
                            const Snapshot& snapshot) override;
  // Names every resource that is short; scalars by name.
  Status Filter(const CycleState& state, const PodInfo& pod, const NodeView& node) const override;
  Status FilterNodes(const CycleState& state, const PodInfo& pod, const Snapshot& snapshot,
                     NodeSet& nodes) const override;

  // Never skips.
  Status PreScore(CycleState& state, const PodInfo& pod, const Snapshot& snapshot,
                  const NodeSet& feasible) override;
  // From 0 to 100.
  ScoreResult Score(const CycleState& state, const PodInfo& pod,
                    const NodeView& node) const override;
  void ScoreNodes(const CycleState& state, const PodInfo& pod, const Snapshot& snapshot,
                  std::span<const NodeRow> nodes, std::span<int64_t> scores) const override;

  // Changes nothing.
  Status NormalizeScore(const CycleState&, const PodInfo&, std::span<const NodeRow>,
                        std::span<int64_t>) const override {
    return Status::Success();
  }
  // False where devices count: claims take and release these without any change to the node.
  bool NormalizesByValue(const CycleState& state) const override;

  // How full the placement's nodes would be all together, whatever the strategy: from 0 to 100 for
  // the fullest.
  ScoreResult ScorePlacement(CycleState& state, const PodGroupInfo& group, const Snapshot& snapshot,
                             const PodGroupAssignments& placement) override;

  // Queues the pod when a placed pod goes or asks for less, when a node comes or grows that could
  // hold the pod, when a device class may stand for a resource of the pod, and when the pod itself
  // asks for less.
  std::vector<ClusterEventWithHint> EventsToRegister() const override;

  size_t kept_bytes() const override { return device_counts_->kept_bytes(); }

 private:
  std::vector<FitCheck> ChecksFor(const PodInfo& pod) const;
  bool IsIgnored(std::string_view resource) const;
  // What the score counts of the pod, by resource.
  std::vector<int64_t> AmountsOf(const PodInfo& pod) const;
  std::vector<AllocationTerm> TermsFor(const PodInfo& pod) const;

  Handle* handle_;
  std::set<std::string, std::less<>> ignored_resources_;
  std::set<std::string, std::less<>> ignored_resource_groups_;
  FitReasonMemo reason_memo_;
  const ExtendedResourceClasses classes_;
  AllocationStrategy strategy_;
  ScoredResources scored_;
  const std::unique_ptr<DeviceCounts> device_counts_;
};

}  // namespace berth::plugins
