// SPDX-License-Identifier: Apache-2.0
#include "plugins/coscheduling/coscheduling.h"

#include <chrono>
#include <string>

#include "plugins/shared/gang.h"
#include "plugins/shared/hint_objects.h"

namespace berth::plugins {
namespace {

constexpr std::string_view kPermitWaitingTime = "permitWaitingTimeSeconds";
constexpr std::string_view kPodGroupBackoff = "podGroupBackoffSeconds";
constexpr std::string_view kPodGroupRejectPercentage = "podGroupRejectPercentage";
constexpr std::string_view kCoschedulingSearchSteps = "searchSteps";
// A century: later than that no clock of ours goes.
constexpr int64_t kMaxSeconds = int64_t{100} * 365 * 24 * 60 * 60;

CoschedulingArgs ReadCoschedulingArgs(FieldReader& fields) {
  CoschedulingArgs args;
  fields.Read(kPermitWaitingTime, args.permit_waiting_time_seconds);
  fields.Read(kPodGroupBackoff, args.pod_group_backoff_seconds);
  fields.Read(kPodGroupRejectPercentage, args.pod_group_reject_percentage);
  fields.Read(kCoschedulingSearchSteps, args.search_steps);
  return args;
}

std::vector<std::string> CoschedulingProblems(const CoschedulingArgs& args,
                                              const std::string& parent) {
  std::vector<std::string> problems;
  const auto check = [&](std::string_view field, int64_t value, int64_t highest) {
    CheckRange(value, 0, highest, FieldPath(parent, field), problems);
  };
  check(kPermitWaitingTime, args.permit_waiting_time_seconds, kMaxSeconds);
  check(kPodGroupBackoff, args.pod_group_backoff_seconds, kMaxSeconds);
  check(kPodGroupRejectPercentage, args.pod_group_reject_percentage, 100);
  check(kCoschedulingSearchSteps, args.search_steps, INT64_MAX);
  return problems;
}

ConfigValue WithCoschedulingDefaults(const ConfigValue& args, const ArgsFeatures&) {
  const CoschedulingArgs defaults;
  ConfigValue out =
      WithDefault(args, kPermitWaitingTime, ConfigValue(defaults.permit_waiting_time_seconds));
  out = WithDefault(out, kPodGroupBackoff, ConfigValue(defaults.pod_group_backoff_seconds));
  return WithDefault(out, kPodGroupRejectPercentage,
                     ConfigValue(int64_t{defaults.pod_group_reject_percentage}));
}

size_t MinMember(const api::PodGroup& group) {
  return static_cast<size_t>(group.spec.scheduling_policy.gang->min_count);
}

}  // namespace

constexpr ArgsKind<CoschedulingArgs> kCoschedulingArgs =
    MakeArgsKind<"Coscheduling", ReadCoschedulingArgs, CoschedulingProblems>(
        WithCoschedulingDefaults);

Coscheduling::Coscheduling(const CoschedulingArgs& args, Handle& handle)
    : handle_(handle),
      args_(args),
      not_found_(handle.reasons().Make(Code::kUnschedulableAndUnresolvable, "PodGroup not found")),
      waiting_(handle.reasons().Make(Code::kWait,
                                     "waiting for minMember pods of the PodGroup to be scheduled")),
      no_room_made_(Code::kUnschedulable) {}

// The same as PrioritySort, whose order the queue has built in.
bool Coscheduling::Less(const QueueSortKey& a, const QueueSortKey& b) const {
  if (a.pod->priority() != b.pod->priority()) return a.pod->priority() > b.pod->priority();
  return a.timestamp < b.timestamp;
}

Coscheduling::Membership Coscheduling::Of(const api::Pod& pod) const {
  Membership found;
  found.name = PodGroupNameOf(pod);
  if (found.name == nullptr) return found;
  const std::string& namespace_ = pod.metadata.namespace_;
  const PodGroupNode* node = handle_.pod_group_forest().Find(namespace_, *found.name);
  if (node == nullptr || !node->object) return found;
  // Those of scheduling.k8s.io are GangScheduling's.
  if (!IsCoscheduled(node->object)) return {};
  found.group = node->object.pod_group.get();
  found.members = handle_.pod_groups().Find(namespace_, *found.name);
  return found;
}

Status Coscheduling::PreEnqueue(const PodInfo& pod) {
  const Membership membership = Of(*pod.pod);
  if (membership.name == nullptr) return {};
  // Where both kinds count, GangScheduling says it of a field that names none.
  if (membership.group == nullptr) {
    return handle_.features().generic_workload ? Status() : not_found_;
  }
  const size_t there = membership.members == nullptr ? 0 : membership.members->members.size();
  const size_t min_member = MinMember(*membership.group);
  if (there >= min_member) return {};
  return reasons_.emplace().Make(Code::kUnschedulableAndUnresolvable,
                                 "the PodGroup has " + std::to_string(there) +
                                     " pods, fewer than its minMember (" +
                                     std::to_string(min_member) + ")");
}

PostFilterResult Coscheduling::PostFilter(CycleState&, const PodInfo&, const Snapshot&,
                                          const NodeToStatus&) {
  return {no_room_made_};
}

Duration Coscheduling::WaitingTime(const api::PodGroup& group) const {
  const auto& of_group = group.coscheduling->schedule_timeout_seconds;
  if (of_group) return std::chrono::seconds(std::max(*of_group, 0));
  const int64_t seconds = args_.permit_waiting_time_seconds;
  return std::chrono::seconds(seconds == 0 ? CoschedulingArgs().permit_waiting_time_seconds
                                           : seconds);
}

PermitResult Coscheduling::Permit(CycleState&, const PodInfo& pod, std::string_view) {
  const Membership membership = Of(*pod.pod);
  if (membership.name == nullptr) return {};
  if (membership.group == nullptr) {
    return handle_.features().generic_workload ? PermitResult()
                                               : PermitResult{.status = not_found_};
  }
  const PodGroupState* members = membership.members;
  if (members == nullptr) return {};
  if (members->scheduled < MinMember(*membership.group)) {
    ActivateOne(*members, handle_);
    return {.status = waiting_, .timeout = WaitingTime(*membership.group)};
  }
  AllowAssumed(*members, kName, handle_);
  return {};
}

Status Coscheduling::PlacementFeasible(CycleState& state, const AnyPodGroup& group,
                                       const PlacementProgress& progress) {
  if (!IsCoscheduled(group)) return {};
  const size_t min_member = MinMember(*group.pod_group);
  if (progress.scheduled >= min_member) return {};
  const bool hopeless = progress.scheduled + progress.remaining < min_member;
  return state.reasons().Make(
      hopeless ? Code::kUnschedulable : Code::kWait,
      "minMember (" + std::to_string(min_member) + ") " + (hopeless ? "cannot be" : "is not yet") +
          " satisfied: " + std::to_string(progress.scheduled) + " scheduled, " +
          std::to_string(progress.remaining) + " remaining");
}

bool Coscheduling::SameGroup(const api::Pod& pod, const api::ObjectPtr& other) const {
  const Membership membership = Of(pod);
  if (membership.group == nullptr) return false;
  const api::ObjectMeta& metadata = membership.group->metadata;
  if (const auto* sibling = api::As<api::Pod>(other)) {
    const std::string* name = PodGroupNameOf(*sibling);
    return name != nullptr && *name == metadata.name &&
           sibling->metadata.namespace_ == metadata.namespace_;
  }
  const auto* group = api::As<api::PodGroup>(other);
  return group != nullptr && group->metadata.name == metadata.name &&
         group->metadata.namespace_ == metadata.namespace_;
}

// A pod of the group may complete what it needs; so may a group that comes, or needs less.
std::vector<ClusterEventWithHint> Coscheduling::EventsToRegister() const {
  const auto after = [this](const api::Pod& pod, const api::ObjectPtr&,
                            const api::ObjectPtr& added) -> Result<QueueingHint> {
    return QueueIf(SameGroup(pod, added));
  };
  return {{{EventResource::kUnscheduledPod, action::kAdd}, after},
          {{EventResource::kAssignedPod, action::kAdd}, after},
          {{EventResource::kPodGroup, action::kAdd | action::kUpdate}, after}};
}

}  // namespace berth::plugins
