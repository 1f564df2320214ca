// SPDX-License-Identifier: Apache-2.0
#include "src/scheduler/pod_group_cycle.h"

#include <algorithm>
#include <utility>

#include "src/base/logging.h"
#include "src/base/string_map.h"
#include "src/framework/pod_group_runtime.h"
#include "src/scheduler/cycle_steps.h"
#include "src/scheduler/kept_chance.h"
#include "src/scheduler/pod_group_dry_run.h"

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

MetricsObserver::GroupResult ResultOf(const PodGroupAttempt& group, const GroupVerdict& verdict) {
  using enum MetricsObserver::GroupResult;
  if (verdict.ok()) return kScheduled;
  if (verdict.code != Code::kUnschedulable) return kError;
  return group.waits_for_preemption ? kWaitingOnPreemption : kUnschedulable;
}

}  // namespace

PodGroupCycle::PodGroupCycle(const CycleParts& parts, const SchedulerOptions& options)
    : parts_(parts),
      state_(parts.state),
      trial_(parts.state, parts.profiles, parts.engine, options),
      end_(parts, options),
      algorithm_series_(
          state_.metrics.Series(metrics::Metric::kPodGroupSchedulingAlgorithmDuration)),
      on_pod_group_(options.on_pod_group) {}

void PodGroupCycle::Schedule(std::unique_ptr<queue::QueuedPod> popped) {
  PodGroupAttempt group = Begin(std::move(popped));
  if (const auto problem = Problem(group)) {
    FailAll(std::move(group), *problem);
    return;
  }
  DropSettled(group);
  if (group.members.empty()) {
    parts_.queue.AddAttemptedPodGroup(std::move(group.queued), queue::GroupResult::kScheduled,
                                      state_.step_clock.Now());
    return;
  }
  base::LogV(3, "Attempting to schedule pod group", {{"podGroup", group.object->metadata.Key()}});
  // What the group's pods are nominated for is theirs together: none leaves room for another.
  std::vector<std::string> uids;
  for (MemberAttempt& member : group.members) {
    Prepare(state_, member.attempt);
    if (!state_.nominator.empty()) uids.push_back(member.attempt.uid());
  }
  state_.nominator.SetAside(uids);
  GroupVerdict verdict = trial_.Run(group);
  state_.metrics.Observe(algorithm_series_, state_.clock.Now() - group.start);
  group.untried_message = verdict.message();
  if (verdict.code == Code::kUnschedulable) MakeRoom(group, verdict);
  state_.nominator.SetAside({});
  Submit(std::move(group), verdict);
}

std::optional<engine::PodGroupPreview> PodGroupCycle::Preview(const api::Pod& pod,
                                                              Effects effects) {
  std::optional<PreviewAttempt> begun = BeginPreview(state_, parts_.profiles, pod);
  if (!begun) return std::nullopt;
  PodGroupAttempt& group = begun->group;
  if (group.object == nullptr || group.members.empty()) {
    return EndPreview(*std::move(begun), {.code = Code::kUnschedulable, .reasons = {}});
  }
  if (const auto problem = Problem(group)) {
    return EndPreview(*std::move(begun), {.code = Code::kError, .reasons = {*problem}});
  }
  if (effects == Effects::kNone) {
    if (std::string why = WhyNotTried(state_, group); !why.empty()) {
      return EndPreview(*std::move(begun), {.code = Code::kUnschedulable, .reasons = {why}});
    }
  }
  group.preview = true;
  const KeptChance chance(state_, parts_.engine, *group.profile);
  std::vector<std::string> uids;
  for (const MemberAttempt& member : group.members) uids.push_back(member.attempt.uid());
  state_.nominator.SetAside(uids);
  const GroupVerdict verdict = trial_.TryEvery(group);
  state_.nominator.SetAside({});
  return EndPreview(*std::move(begun), verdict);
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

void PodGroupCycle::MakeRoom(PodGroupAttempt& group, GroupVerdict& verdict) {
  const PodGroupInfo info = group.Info();
  framework::Cycle cycle;
  cycle.observer = &state_.observer;
  PodGroupPostFilterResult result;
  {
    GroupPreemptionDryRun dry_run(state_, trial_, cycle, group);
    result = framework::RunPodGroupPostFilter(*group.profile, cycle, info, state_.cache, dry_run);
  }
  if (result.status.code() == Code::kError) verdict = {.code = Code::kError, .reasons = {}};
  verdict.reasons.push_back(result.status.message());
  if (!result.status.ok()) return;
  group.waits_for_preemption = true;
  base::StringMap<std::string> nominated;
  for (auto& [uid, node_name] : result.nominations) nominated.emplace(uid, std::move(node_name));
  for (MemberAttempt& member : group.members) {
    NominatingInfo& nominating = member.failure.nominating;
    if (const auto it = nominated.find(member.attempt.uid()); it != nominated.end()) {
      nominating = {NominatingMode::kOverride, std::move(it->second)};
    } else if (member.result != Result::kRejected) {
      nominating = {};
    }
  }
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
      end_.Fail(std::move(member.attempt), {.message = error});
    }
  }
  End(std::move(group), verdict);
}

void PodGroupCycle::Submit(PodGroupAttempt group, const GroupVerdict& verdict) {
  for (MemberAttempt& member : group.members) {
    if (verdict.ok() && member.result == Result::kPlaced) {
      end_.Bind(std::move(member.attempt), std::move(member.node_name));
    } else {
      FailMember(member, group, verdict);
    }
  }
  const std::string key = group.object->metadata.Key();
  state_.observer.ObserveGroupAttempt(*group.profile, ResultOf(group, verdict),
                                      state_.clock.Now() - group.start);
  if (verdict.ok()) {
    base::LogV(2, "Successfully scheduled a pod group", {{"podGroup", key}});
  } else if (verdict.code == Code::kUnschedulable) {
    base::LogV(2,
               group.waits_for_preemption ? "Pod group is waiting for preemption"
                                          : "Unable to schedule a pod group",
               {{"podGroup", key}, {"err", verdict.message()}});
  } else {
    base::LogError("Error scheduling pod group", {{"podGroup", key}, {"err", verdict.message()}});
  }
  End(std::move(group), verdict);
}

void PodGroupCycle::FailMember(MemberAttempt& member, const PodGroupAttempt& group,
                               const GroupVerdict& verdict) {
  Failure& failure = member.failure;
  if (verdict.code == Code::kError) {
    if (member.result != Result::kError) failure = {.message = verdict.message()};
  } else if (member.result == Result::kPlaced && group.waits_for_preemption) {
    failure.code = Code::kUnschedulable;
    failure.message = verdict.message();
  } else if (member.result == Result::kPlaced) {
    failure = {.code = Code::kUnschedulable,
               .message = std::string(kPodGroupUnschedulable) + ", " + verdict.message()};
  } else if (member.result == Result::kUntried) {
    if (!group.waits_for_preemption) failure.nominating = {};
    failure.code = Code::kUnschedulable;
    failure.message = group.untried_message;
  }
  const bool placed = member.result == Result::kPlaced;
  end_.Fail(std::move(member.attempt), std::move(failure), placed ? member.node_name : "");
}

void PodGroupCycle::End(PodGroupAttempt group, const GroupVerdict& verdict) {
  api::Condition condition = InitiallyScheduled(verdict, group.object->metadata.generation);
  if (on_pod_group_) {
    on_pod_group_({*group.object, condition.status, condition.reason, condition.message});
  }
  state_.group_status_patcher.Patch(group.object, std::move(condition));
  using queue::GroupResult;
  const GroupResult result = verdict.ok()                           ? GroupResult::kScheduled
                             : verdict.code == Code::kUnschedulable ? GroupResult::kRejected
                                                                    : GroupResult::kError;
  parts_.queue.AddAttemptedPodGroup(std::move(group.queued), result, state_.step_clock.Now());
}

}  // namespace berth::scheduler
