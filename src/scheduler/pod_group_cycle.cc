// SPDX-License-Identifier: Apache-2.0
#include "src/scheduler/pod_group_cycle.h"

#include <algorithm>
#include <utility>

#include "src/base/logging.h"
#include "src/scheduler/cycle_steps.h"

namespace berth::scheduler {
namespace {

using Result = MemberAttempt::Result;

constexpr std::string_view kPreemptLowerPriority = "PreemptLowerPriority";

std::string_view PreemptionPolicy(const std::optional<std::string>& policy) {
  return policy ? std::string_view(*policy) : kPreemptLowerPriority;
}

// What the pods of one group must have in common, with the group or with each other.
struct Common {
  std::string_view scheduler_name;
  int32_t priority = 0;
  std::string_view preemption_policy;
  bool policy_of_group = false;
};

std::optional<std::string> Mismatch(const api::Pod& pod, const Common& common) {
  if (pod.spec.scheduler_name != common.scheduler_name) {
    return "all pods in a single pod group should have the same .spec.schedulerName set, got: \"" +
           pod.spec.scheduler_name + "\" and \"" + std::string(common.scheduler_name) + "\"";
  }
  if (pod.priority() != common.priority) {
    return "all pods in a single pod group should have the same priority as the pod group's "
           "priority, got " +
           std::to_string(pod.priority()) + " and " + std::to_string(common.priority);
  }
  const std::string_view policy = PreemptionPolicy(pod.spec.preemption_policy);
  if (policy != common.preemption_policy) {
    return "all pods in a single pod group should have the same preemption policy" +
           std::string(common.policy_of_group ? " as the pod group's preemption policy" : "") +
           ", got " + std::string(policy) + " and " + std::string(common.preemption_policy);
  }
  return std::nullopt;
}

api::Condition InitiallyScheduled(const GroupVerdict& verdict, int64_t generation) {
  api::Condition condition;
  condition.type = "PodGroupInitiallyScheduled";
  condition.status = verdict.ok() ? "True" : "False";
  condition.reason = verdict.ok()                           ? "Scheduled"
                     : verdict.code == Code::kUnschedulable ? "Unschedulable"
                                                            : "SchedulerError";
  condition.message = verdict.message();
  condition.observed_generation = generation;
  return condition;
}

}  // namespace

PodGroupCycle::PodGroupCycle(const Parts& parts, const SchedulerOptions& options)
    : parts_(parts),
      state_(parts.state),
      trial_(parts.state, parts.profiles, parts.engine, options),
      on_cycle_(options.on_cycle) {}

void PodGroupCycle::Schedule(std::unique_ptr<queue::QueuedPod> popped) {
  PodGroupAttempt group = Begin(std::move(popped));
  if (const auto problem = Problem(group)) {
    FailAll(std::move(group), *problem);
    return;
  }
  DropSettled(group);
  if (group.members.empty()) {
    parts_.queue.AddAttemptedPodGroup(std::move(group.queued), queue::GroupResult::kScheduled,
                                      state_.clock.Now());
    return;
  }
  base::LogV(3, "Attempting to schedule pod group", {{"podGroup", group.object->metadata.Key()}});
  for (MemberAttempt& member : group.members) Prepare(state_, member.attempt);
  GroupVerdict verdict = trial_.Run(group);
  group.untried_message = verdict.message();
  if (verdict.code == Code::kUnschedulable) AddPreemption(group, verdict);
  Submit(std::move(group), verdict);
}

PodGroupAttempt PodGroupCycle::Begin(std::unique_ptr<queue::QueuedPod> popped) {
  PodGroupAttempt group;
  group.start = state_.clock.Now();
  group.object = popped->group->object;
  group.members.reserve(popped->group->members.size());
  for (std::unique_ptr<queue::QueuedPod>& pod : popped->group->members) {
    MemberAttempt& member = group.members.emplace_back();
    member.attempt.queued = std::move(pod);
    member.attempt.start = group.start;
    member.attempt.profile = parts_.profiles.Find(member.attempt.pod().spec.scheduler_name);
  }
  group.queued = std::move(popped);
  group.profile = group.members.front().attempt.profile;
  return group;
}

std::optional<std::string> PodGroupCycle::Problem(const PodGroupAttempt& group) const {
  const api::PodGroupSpec& spec = group.object->spec;
  const api::PodSpec& first = group.members.front().attempt.pod().spec;
  Common common{.scheduler_name = first.scheduler_name,
                .priority = spec.priority.value_or(0),
                .preemption_policy = PreemptionPolicy(first.preemption_policy)};
  if (state_.features.pod_group_preemption_policy) {
    common.preemption_policy = PreemptionPolicy(spec.preemption_policy);
    common.policy_of_group = true;
  }
  for (const MemberAttempt& member : group.members) {
    if (auto problem = Mismatch(member.attempt.pod(), common)) return problem;
  }
  const api::ObjectMeta& metadata = group.object->metadata;
  if (const PodGroupState* known = state_.pod_groups.Find(metadata.namespace_, metadata.name)) {
    for (const auto& [uid, member] : known->members) {
      if (!member.placed) continue;
      if (auto problem = Mismatch(*member.pod, common)) return problem;
    }
  }
  if (group.profile == nullptr) {
    return "profile not found for scheduler name \"" + std::string(common.scheduler_name) + "\"";
  }
  return std::nullopt;
}

void PodGroupCycle::AddPreemption(const PodGroupAttempt& group, GroupVerdict& verdict) const {
  const auto& post_filters = group.profile->plugins().post_filter;
  const bool preempts = std::ranges::any_of(
      post_filters, [](const auto& entry) { return entry.instance->preemption != nullptr; });
  if (!preempts) return;
  const api::PodGroupSpec& spec = group.object->spec;
  const std::string_view policy =
      PreemptionPolicy(state_.features.pod_group_preemption_policy
                           ? spec.preemption_policy
                           : group.members.front().attempt.pod().spec.preemption_policy);
  bool any_lower = false;
  state_.cache.ForEachPod([&](const cache::CachedPod& pod) {
    any_lower = any_lower || pod.info->priority() < spec.priority.value_or(0);
  });
  verdict.reasons.push_back(std::string("pod group preemption: ") +
                            (policy == "Never" ? "not eligible due to preemptionPolicy=Never."
                             : any_lower       ? "Berth does not preempt pods for pod groups yet"
                                         : "No preemption victims found for incoming preemptor"));
}

void PodGroupCycle::DropSettled(PodGroupAttempt& group) {
  std::erase_if(group.members, [this](const MemberAttempt& member) {
    if (!IsSettled(state_, member.attempt)) return false;
    parts_.queue.Done(member.attempt.uid());
    return true;
  });
}

void PodGroupCycle::FailAll(PodGroupAttempt group, const std::string& error) {
  const GroupVerdict verdict{.code = Code::kError, .reasons = {error}};
  for (MemberAttempt& member : group.members) {
    if (member.attempt.profile == nullptr) {
      parts_.queue.Done(member.attempt.uid());
    } else {
      Fail(std::move(member.attempt), {.message = error});
    }
  }
  End(std::move(group), verdict);
}

void PodGroupCycle::Submit(PodGroupAttempt group, const GroupVerdict& verdict) {
  for (MemberAttempt& member : group.members) {
    if (verdict.ok() && member.result == Result::kPlaced) {
      Commit(std::move(member));
    } else {
      FailMember(std::move(member), verdict, group.untried_message);
    }
  }
  const std::string key = group.object->metadata.Key();
  if (verdict.ok()) {
    base::LogV(2, "Successfully scheduled a pod group", {{"podGroup", key}});
  } else if (verdict.code == Code::kUnschedulable) {
    base::LogV(2, "Unable to schedule a pod group",
               {{"podGroup", key}, {"err", verdict.message()}});
  } else {
    base::LogError("Error scheduling pod group", {{"podGroup", key}, {"err", verdict.message()}});
  }
  End(std::move(group), verdict);
}

void PodGroupCycle::Commit(MemberAttempt member) {
  Attempt& attempt = member.attempt;
  framework::PermitVerdict permit =
      framework::RunPermit(*attempt.profile, attempt.cycle, *attempt.info(), member.node_name);
  const Status& verdict = permit.verdict.status;
  if (verdict.ok() || verdict.wait()) {
    Report(attempt, verdict.code(), member.node_name, "");
    const Time start = attempt.start;
    parts_.binding_cycles.Begin(std::move(attempt), std::move(member.node_name), std::move(permit),
                                start);
    return;
  }
  Failure failure = FailureOf(permit.verdict);
  UnreserveAndForget(state_, attempt, member.node_name);
  Fail(std::move(attempt), std::move(failure));
}

void PodGroupCycle::FailMember(MemberAttempt member, const GroupVerdict& verdict,
                               const std::string& untried_message) {
  if (verdict.code == Code::kError && member.result != Result::kError) {
    member.failure = {.message = verdict.message()};
  } else if (member.result == Result::kPlaced) {
    member.failure = {.code = Code::kUnschedulable,
                      .message = std::string(kPodGroupUnschedulable) + ", " + verdict.message()};
  } else if (member.result == Result::kUntried) {
    member.failure = {.code = Code::kUnschedulable, .message = untried_message, .nominating = {}};
  }
  Fail(std::move(member.attempt), std::move(member.failure));
}

void PodGroupCycle::Fail(Attempt attempt, Failure failure) {
  Report(attempt, failure.code, "", failure.message);
  const Time start = attempt.start;
  parts_.failures.Handle(std::move(attempt), std::move(failure), start);
}

void PodGroupCycle::Report(const Attempt& attempt, Code code, std::string_view node_name,
                           std::string_view message) const {
  if (on_cycle_) on_cycle_({attempt.pod(), code, node_name, message, attempt.decision_took});
}

void PodGroupCycle::End(PodGroupAttempt group, const GroupVerdict& verdict) {
  state_.group_status_patcher.Patch(group.object,
                                    InitiallyScheduled(verdict, group.object->metadata.generation));
  using queue::GroupResult;
  const GroupResult result = verdict.ok()                           ? GroupResult::kScheduled
                             : verdict.code == Code::kUnschedulable ? GroupResult::kRejected
                                                                    : GroupResult::kError;
  parts_.queue.AddAttemptedPodGroup(std::move(group.queued), result, state_.clock.Now());
}

}  // namespace berth::scheduler
