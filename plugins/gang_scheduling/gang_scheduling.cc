// SPDX-License-Identifier: Apache-2.0
#include "plugins/gang_scheduling/gang_scheduling.h"

#include <chrono>
#include <string>

namespace berth::plugins {
namespace {

// How long a decided pod waits for the others of its gang.
constexpr Duration kPermitTimeout = std::chrono::minutes(5);

// How many pods the group needs: of a group that is no gang, one.
size_t MinCount(const api::PodGroup& group) {
  const auto& gang = group.spec.scheduling_policy.gang;
  return gang ? static_cast<size_t>(gang->min_count) : 1;
}

QueueingHint QueueIf(bool queue) { return queue ? QueueingHint::kQueue : QueueingHint::kQueueSkip; }

// A pod of the same group may complete the gang.
Result<QueueingHint> AfterPodAdded(const api::Pod& pod, const api::ObjectPtr&,
                                   const api::ObjectPtr& added) {
  const auto* other = api::As<api::Pod>(added);
  const std::string* group = PodGroupNameOf(pod);
  const std::string* other_group = other == nullptr ? nullptr : PodGroupNameOf(*other);
  return QueueIf(group != nullptr && other_group != nullptr && *group == *other_group &&
                 pod.metadata.namespace_ == other->metadata.namespace_);
}

bool IsOf(const api::Pod& pod, const api::PodGroup* group) {
  const std::string* name = PodGroupNameOf(pod);
  return group != nullptr && name != nullptr && *name == group->metadata.name &&
         pod.metadata.namespace_ == group->metadata.namespace_;
}

Result<QueueingHint> AfterPodGroupAdded(const api::Pod& pod, const api::ObjectPtr&,
                                        const api::ObjectPtr& added) {
  return QueueIf(IsOf(pod, api::As<api::PodGroup>(added)));
}

// Fewer pods may be enough now.
Result<QueueingHint> AfterPodGroupUpdated(const api::Pod& pod, const api::ObjectPtr& before,
                                          const api::ObjectPtr& after) {
  const auto* old_group = api::As<api::PodGroup>(before);
  const auto* group = api::As<api::PodGroup>(after);
  if (old_group == nullptr || !IsOf(pod, group)) return QueueingHint::kQueueSkip;
  const auto& old_gang = old_group->spec.scheduling_policy.gang;
  const auto& gang = group->spec.scheduling_policy.gang;
  return QueueIf(old_gang && gang && gang->min_count < old_gang->min_count);
}

}  // namespace

GangScheduling::GangScheduling(const GangSchedulingArgs& args, Handle& handle)
    : handle_(handle),
      args_(args),
      too_few_pods_(
          handle.reasons().Make(Code::kUnschedulableAndUnresolvable,
                                "waiting for minCount pods from a gang to appear in scheduling "
                                "queue")),
      waiting_(handle.reasons().Make(Code::kWait,
                                     "waiting for minCount pods from a gang to be scheduled")),
      needs_hierarchy_(
          handle.reasons().Make(Code::kUnschedulableAndUnresolvable,
                                "pod group is part of a composite pod group, which Berth does not "
                                "support yet")) {}

Status GangScheduling::PreEnqueue(const PodInfo& pod) {
  const std::string* name = PodGroupNameOf(*pod.pod);
  if (name == nullptr) return {};
  const std::string& namespace_ = pod.pod->metadata.namespace_;
  const api::PodGroup* group = handle_.listers().FindPodGroup(namespace_, *name);
  if (group == nullptr) {
    return reasons_.emplace().Make(
        Code::kUnschedulableAndUnresolvable,
        "waiting for pods's pod group \"" + *name + "\" to appear in scheduling queue");
  }
  if (handle_.features().composite_pod_group && group->spec.parent_composite_pod_group_name) {
    return needs_hierarchy_;
  }
  if (!group->spec.scheduling_policy.gang) return {};
  const PodGroupState* state = StateOf(*pod.pod);
  const size_t known = state == nullptr ? 0 : state->members.size();
  return known < MinCount(*group) ? too_few_pods_ : Status();
}

const PodGroupState* GangScheduling::StateOf(const api::Pod& pod) const {
  return handle_.pod_groups().Find(pod.metadata.namespace_, *PodGroupNameOf(pod));
}

PermitResult GangScheduling::Permit(CycleState& state, const PodInfo& pod, std::string_view) {
  const std::string* name = PodGroupNameOf(*pod.pod);
  if (name == nullptr) return {};
  const std::string& namespace_ = pod.pod->metadata.namespace_;
  const api::PodGroup* group = handle_.listers().FindPodGroup(namespace_, *name);
  if (group == nullptr) {
    return {.status = state.reasons().Error("failed to get podGroup " + namespace_ + "/" + *name)};
  }
  if (!group->spec.scheduling_policy.gang) return {};
  const PodGroupState* members = StateOf(*pod.pod);
  if (members == nullptr || members->scheduled < MinCount(*group)) {
    if (members != nullptr) ActivateGroup(*members);
    return {.status = waiting_, .timeout = kPermitTimeout};
  }
  for (const auto& [uid, member] : members->members) {
    if (!member.assumed) continue;
    if (WaitingPod* waiting = handle_.FindWaitingPod(uid)) waiting->Allow(kName);
  }
  return {};
}

// Those without a node wait together: what moves one of them moves all.
void GangScheduling::ActivateGroup(const PodGroupState& group) {
  for (const auto& [uid, member] : group.members) {
    if (member.placed) continue;
    handle_.Activate({member.pod->metadata.Key()});
    return;
  }
}

Status GangScheduling::PlacementFeasible(CycleState& state, const api::PodGroup& group,
                                         const PlacementProgress& progress) {
  const size_t min_count = MinCount(group);
  if (progress.scheduled >= min_count) return {};
  const bool hopeless = progress.scheduled + progress.remaining < min_count;
  return state.reasons().Make(
      hopeless ? Code::kUnschedulable : Code::kWait,
      "minCount (" + std::to_string(min_count) + ") " + (hopeless ? "cannot be" : "is not yet") +
          " satisfied: " + std::to_string(progress.scheduled) + " scheduled, " +
          std::to_string(progress.remaining) + " remaining");
}

std::vector<ClusterEventWithHint> GangScheduling::EventsToRegister() const {
  return {{{EventResource::kUnscheduledPod, action::kAdd}, AfterPodAdded},
          {{EventResource::kAssignedPod, action::kAdd}, AfterPodAdded},
          {{EventResource::kPodGroup, action::kAdd}, AfterPodGroupAdded},
          {{EventResource::kPodGroup, action::kUpdate}, AfterPodGroupUpdated}};
}

}  // namespace berth::plugins
