// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "berth/in_tree/handle.h"
#include "berth/in_tree/pod_group_points.h"
#include "berth/in_tree/points.h"
#include "plugins/gang_scheduling/args.h"

namespace berth::plugins {

// Pods of a gang (a PodGroup with schedulingPolicy.gang) start together: minCount of them, or none.
//
//   PreEnqueue         holds the pods back until their PodGroup and minCount of them are there
//   PlacementFeasible  ends the group's cycle without a placement when minCount cannot be reached
//   Permit             holds decided pods back until minCount of them are decided
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
  // A reason that names the group lasts until the next call.
  Status PreEnqueue(const PodInfo& pod) override;
  PermitResult Permit(CycleState& state, const PodInfo& pod, std::string_view node_name) override;
  Status PlacementFeasible(CycleState& state, const api::PodGroup& group,
                           const PlacementProgress& progress) override;
  size_t search_steps() const override { return static_cast<size_t>(args_.search_steps); }
  std::vector<ClusterEventWithHint> EventsToRegister() const override;

 private:
  // nullptr: no pod names it.
  const PodGroupState* StateOf(const api::Pod& pod) const;
  void ActivateGroup(const PodGroupState& group);

  Handle& handle_;
  const GangSchedulingArgs args_;
  std::optional<ReasonTable> reasons_;
  const Status too_few_pods_;
  const Status waiting_;
  // What is not there yet: groups that ask for it wait.
  const Status needs_hierarchy_;
};

}  // namespace berth::plugins
