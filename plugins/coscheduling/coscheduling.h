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

// Those of scheduler-plugins 0.34, and how many decisions a search may take.
struct CoschedulingArgs {
  // How long a pod that has a node waits for the others of its group, where the group does not say
  // it. 0: a minute.
  int64_t permit_waiting_time_seconds = 60;
  // How long a group that was rejected backs off at least; the scheduler heeds it.
  int64_t pod_group_backoff_seconds = 0;
  // Taken, and of no effect: a group is rejected only once none of its pods hold anything.
  int32_t pod_group_reject_percentage = 10;
  // As that of GangSchedulingArgs.
  int32_t search_steps = 1000;

  friend bool operator==(const CoschedulingArgs&, const CoschedulingArgs&) = default;
};

// Errors: values out of range.
extern const ArgsKind<CoschedulingArgs> kCoschedulingArgs;

// Pods of a PodGroup of scheduling.x-k8s.io, which the label scheduling.x-k8s.io/pod-group names,
// start together: minMember of them, or none. That a profile names the plugin, at whatever point,
// makes the label count and the custom resource be watched.
//
//   PreEnqueue         holds the pods back until their PodGroup and minMember of them are there
//   PlacementFeasible  ends the group's cycle without a placement when minMember cannot be reached
//   Permit             holds decided pods back until minMember of them are decided
//
// It sorts the queue as PrioritySort does. At the other points of scheduler-plugins' Coscheduling
// it has nothing to do: they are there so that a profile that names them starts.
//
// Thread safety: the scheduling thread.
class Coscheduling final : public QueueSortPlugin,
                           public PreEnqueuePlugin,
                           public PreFilterPlugin,
                           public PostFilterPlugin,
                           public ReservePlugin,
                           public PermitPlugin,
                           public PlacementFeasiblePlugin,
                           public EnqueueExtensions {
 public:
  static constexpr std::string_view kName = "Coscheduling";

  Coscheduling(const CoschedulingArgs& args, Handle& handle);

  // Filters and scores nothing. What its hints say is the same for all pods of one group.
  Inputs DeclaredInputs() const { return Inputs::Of(0, {}); }
  bool Less(const QueueSortKey& a, const QueueSortKey& b) const override;
  // A reason with numbers lasts until the next call.
  Status PreEnqueue(const PodInfo& pod) override;
  PreFilterResult PreFilter(CycleState&, const PodInfo&, const Snapshot&) override {
    return {Status(Code::kSkip)};
  }
  PostFilterResult PostFilter(CycleState& state, const PodInfo& pod, const Snapshot& snapshot,
                              const NodeToStatus& statuses) override;
  Status Reserve(CycleState&, const PodInfo&, std::string_view) override { return {}; }
  void Unreserve(CycleState&, const PodInfo&, std::string_view) override {}
  PermitResult Permit(CycleState& state, const PodInfo& pod, std::string_view node_name) override;
  Status PlacementFeasible(CycleState& state, const AnyPodGroup& group,
                           const PlacementProgress& progress) override;
  size_t search_steps() const override { return static_cast<size_t>(args_.search_steps); }
  std::vector<ClusterEventWithHint> EventsToRegister() const override;

 private:
  // The group of scheduling.x-k8s.io that the pod names.
  struct Membership {
    const std::string* name = nullptr;       // nullptr: none
    const api::PodGroup* group = nullptr;    // nullptr: it is not there
    const PodGroupState* members = nullptr;  // of `group`; nullptr: none are there
  };
  Membership Of(const api::Pod& pod) const;
  Duration WaitingTime(const api::PodGroup& group) const;
  // Whether both are of one group that is there.
  bool SameGroup(const api::Pod& pod, const api::ObjectPtr& other) const;

  Handle& handle_;
  const CoschedulingArgs args_;
  std::optional<ReasonTable> reasons_;
  const Status not_found_;
  const Status waiting_;
  const Status no_room_made_;
};

}  // namespace berth::plugins
