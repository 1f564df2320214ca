// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "berth/in_tree/handle.h"
#include "berth/in_tree/pod_group_points.h"
#include "berth/in_tree/points.h"
#include "plugins/shared/args_kind.h"

namespace berth::plugins {

// Berth's own: kube-scheduler's plugin has no args.
struct GangSchedulingArgs {
  // How many decisions more may be spent on a gang of unequal pods that does not fit in the order
  // of the queue; 0: none.
  int32_t search_steps = 1000;

  friend bool operator==(const GangSchedulingArgs&, const GangSchedulingArgs&) = default;
};

// Errors: a negative number.
extern const ArgsKind<GangSchedulingArgs> kGangSchedulingArgs;

// Pods of a gang (a PodGroup with schedulingPolicy.gang) start together: minCount of them, or none.
//
//   PreEnqueue         holds the pods back until their PodGroup and minCount of them are there
//   PlacementFeasible  ends the group's cycle without a placement when minCount cannot be reached
//   Permit             holds decided pods back until minCount of them are decided
//
// With the gate CompositePodGroup the pods of a composite group do: those of minGroupCount of its
// children, each of which has what it needs itself. A group that is no gang needs one pod, or one
// child. Groups of scheduling.x-k8s.io are Coscheduling's.
//
// Thread safety: the scheduling thread.
class GangScheduling final : public PreEnqueuePlugin,
                             public PermitPlugin,
                             public PlacementFeasiblePlugin,
                             public EnqueueExtensions {
 public:
  static constexpr std::string_view kName = "GangScheduling";

  GangScheduling(const GangSchedulingArgs& args, Handle& handle);

  // Filters and scores nothing. What its hints say is the same for all pods of one group.
  Inputs DeclaredInputs() const { return Inputs::Of(0, {}); }
  // A reason that names a group lasts until the next call.
  Status PreEnqueue(const PodInfo& pod) override;
  PermitResult Permit(CycleState& state, const PodInfo& pod, std::string_view node_name) override;
  Status PlacementFeasible(CycleState& state, const AnyPodGroup& group,
                           const PlacementProgress& progress) override;
  size_t search_steps() const override { return static_cast<size_t>(args_.search_steps); }
  std::vector<ClusterEventWithHint> EventsToRegister() const override;

 private:
  // Which of a group's pods count.
  enum class Count { kAll, kScheduled };
  const PodGroupNode* NodeOf(const api::Pod& pod) const;
  // Whether the group has what it needs; `depth` is its own, from 1.
  bool IsReady(const PodGroupNode& group, Count count, int depth = 1) const;
  // Of a pod whose group is `group`.
  Status PreEnqueueInTree(const PodGroupNode& group);
  // Calls visit(const PodGroupState&) for the pod groups below `group`, or it alone.
  template <typename Visit>
  void ForEachState(const PodGroupNode& group, Visit visit, int depth = 1) const;
  // Moves the pods without a node to activeQ.
  void Activate(const PodGroupNode& root);
  // Whether the pod's group and the other one have the same root.
  bool SameRoot(const api::Pod& pod, const PodGroupNode* other) const;

  Result<QueueingHint> AfterPodAdded(const api::Pod& pod, const api::ObjectPtr& added) const;
  Result<QueueingHint> AfterPodGroupUpdated(const api::Pod& pod, const api::ObjectPtr& before,
                                            const api::ObjectPtr& after) const;

  Handle& handle_;
  const GangSchedulingArgs args_;
  std::optional<ReasonTable> reasons_;
  const Status too_few_pods_;
  const Status waiting_;
};

}  // namespace berth::plugins
