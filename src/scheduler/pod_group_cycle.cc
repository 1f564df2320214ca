// SPDX-License-Identifier: Apache-2.0
#include "src/scheduler/pod_group_cycle.h"

#include <algorithm>
#include <utility>

#include "berth/check.h"
#include "berth/in_tree/pod_groups.h"
#include "src/base/logging.h"
#include "src/base/string_map.h"
#include "src/framework/pod_group_runtime.h"
#include "src/scheduler/cycle_steps.h"
#include "src/scheduler/kept_chance.h"
#include "src/scheduler/pod_group_dry_run.h"

namespace berth::scheduler {
namespace {

using AttemptResult = MemberAttempt::Result;

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

MetricsObserver::GroupResult ResultOf(const PodGroupTree& tree) {
  using enum MetricsObserver::GroupResult;
  const GroupVerdict& verdict = *tree.root().verdict;
  if (verdict.ok()) return kScheduled;
  if (verdict.code != Code::kUnschedulable) return kError;
  return tree.waits_for_preemption ? kWaitingOnPreemption : kUnschedulable;
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
  PodGroupTree tree = Begin(std::move(popped));
  if (const auto problem = Problem(tree)) {
    FailAll(std::move(tree), *problem);
    return;
  }
  DropSettled(tree);
  if (tree.num_members() == 0) {
    parts_.queue.AddAttemptedPodGroup(std::move(tree.queued), queue::GroupResult::kScheduled,
                                      state_.step_clock.Now());
    return;
  }
  base::LogV(3, "Attempting to schedule pod group",
             {{"podGroup", tree.root().object.metadata().Key()}});
  Decide(tree);
  Submit(std::move(tree));
}

void PodGroupCycle::Decide(PodGroupTree& tree) {
  // What the pods are nominated for is theirs together: none leaves room for another.
  std::vector<std::string> uids;
  tree.ForEachMember([&](MemberAttempt& member) {
    Prepare(state_, member.attempt);
    if (!state_.nominator.empty()) uids.push_back(member.attempt.uid());
  });
  state_.nominator.SetAside(uids);
  const GroupVerdict verdict = trial_.Run(tree);
  state_.metrics.Observe(algorithm_series_, state_.clock.Now() - tree.start);
  tree.Complete();
  for (PodGroupTree::Group& group : tree.groups) {
    group.pods.untried_message = group.verdict->message();
  }
  if (verdict.code == Code::kUnschedulable) MakeRoom(tree);
  state_.nominator.SetAside({});
}

std::optional<engine::PodGroupPreview> PodGroupCycle::Preview(const api::Pod& pod,
                                                              Effects effects) {
  std::optional<PreviewAttempt> begun = BeginPreview(state_, parts_.profiles, pod);
  if (!begun) return std::nullopt;
  PodGroupTree& tree = begun->tree;
  if (begun->preview.exists && !tree.root().object) {
    return EndPreview(
        *std::move(begun),
        {.code = Code::kUnschedulable, .reasons = {"a composite pod group above it is not found"}});
  }
  if (!tree.root().object || tree.num_members() == 0) {
    return EndPreview(*std::move(begun), {.code = Code::kUnschedulable, .reasons = {}});
  }
  if (const auto problem = Problem(tree)) {
    return EndPreview(*std::move(begun), {.code = Code::kError, .reasons = {*problem}});
  }
  if (effects == Effects::kNone) {
    if (std::string why = WhyNotTried(state_, tree); !why.empty()) {
      return EndPreview(*std::move(begun), {.code = Code::kUnschedulable, .reasons = {why}});
    }
  }
  const KeptChance chance(state_, parts_.engine, *tree.profile);
  std::vector<std::string> uids;
  tree.ForEachMember([&](const MemberAttempt& member) { uids.push_back(member.attempt.uid()); });
  state_.nominator.SetAside(uids);
  const GroupVerdict verdict = trial_.TryEvery(tree);
  state_.nominator.SetAside({});
  return EndPreview(*std::move(begun), verdict);
}

PodGroupTree PodGroupCycle::Begin(std::unique_ptr<queue::QueuedPod> popped) {
  const PodGroupNode* root = state_.pod_group_forest.Find(popped->group->object);
  BERTH_CHECK(root != nullptr, "a queued pod group is not known");
  PodGroupTree tree = PodGroupTree::Of(*root);
  tree.start = state_.clock.Now();
  for (std::unique_ptr<queue::QueuedPod>& pod : popped->group->members) {
    PodGroupAttempt* group = tree.Find(*PodGroupNameOf(pod->pod()));
    BERTH_CHECK(group != nullptr, "a pod is queued with another group than its own");
    Attempt& attempt = group->members.emplace_back().attempt;
    attempt.queued = std::move(pod);
    attempt.start = tree.start;
    attempt.profile = parts_.profiles.Find(attempt.pod().spec.scheduler_name);
  }
  tree.queued = std::move(popped);
  tree.SetProfile();
  return tree;
}

std::optional<std::string> PodGroupCycle::Problem(PodGroupTree& tree) const {
  const AnyPodGroup& root = tree.root().object;
  std::optional<Common> common;
  std::optional<std::string> problem;
  tree.ForEachMember([&](const MemberAttempt& member) {
    const api::PodSpec& spec = member.attempt.pod().spec;
    if (!common) {
      common = {.scheduler_name = spec.scheduler_name,
                .priority = root.priority(),
                .preemption_policy = PreemptionPolicy(spec.preemption_policy)};
      if (state_.features.pod_group_preemption_policy) {
        common->preemption_policy = PreemptionPolicy(root.preemption_policy());
        common->policy_of_group = true;
      }
    }
    if (!problem) problem = Mismatch(member.attempt.pod(), *common);
  });
  if (problem) return problem;
  for (const PodGroupTree::Group& group : tree.groups) {
    if (group.object.composite != nullptr) continue;
    const api::ObjectMeta& metadata = group.object.metadata();
    const PodGroupState* known = state_.pod_groups.Find(metadata.namespace_, metadata.name);
    if (known == nullptr) continue;
    for (const auto& [uid, member] : known->members) {
      if (!member.placed) continue;
      if (problem = Mismatch(*member.pod, *common); problem) return problem;
    }
  }
  if (tree.profile == nullptr) {
    return "profile not found for scheduler name \"" + std::string(common->scheduler_name) + "\"";
  }
  return std::nullopt;
}

void PodGroupCycle::MakeRoom(PodGroupTree& tree) {
  const PodGroupInfo info = tree.Info(0);
  framework::Cycle cycle;
  cycle.observer = &state_.observer;
  PodGroupPostFilterResult result;
  {
    GroupPreemptionDryRun dry_run(state_, trial_, cycle, tree);
    result = framework::RunPodGroupPostFilter(*tree.profile, cycle, info, state_.cache, dry_run);
  }
  for (PodGroupTree::Group& group : tree.groups) {
    if (result.status.code() == Code::kError) {
      group.verdict = {.code = Code::kError, .reasons = {}};
    }
    group.verdict->reasons.push_back(result.status.message());
  }
  if (!result.status.ok()) return;
  tree.waits_for_preemption = true;
  base::StringMap<std::string> nominated;
  for (auto& [uid, node_name] : result.nominations) nominated.emplace(uid, std::move(node_name));
  tree.ForEachMember([&](MemberAttempt& member) {
    NominatingInfo& nominating = member.failure.nominating;
    if (const auto it = nominated.find(member.attempt.uid()); it != nominated.end()) {
      nominating = {NominatingMode::kOverride, std::move(it->second)};
    } else if (member.result != AttemptResult::kRejected) {
      nominating = {};
    }
  });
}

void PodGroupCycle::DropSettled(PodGroupTree& tree) {
  for (PodGroupTree::Group& group : tree.groups) {
    std::erase_if(group.pods.members, [this](const MemberAttempt& member) {
      if (!IsSettled(state_, member.attempt)) return false;
      parts_.queue.Done(member.attempt.uid());
      return true;
    });
  }
}

void PodGroupCycle::FailAll(PodGroupTree tree, const std::string& error) {
  for (PodGroupTree::Group& group : tree.groups) {
    for (MemberAttempt& member : group.pods.members) {
      if (member.attempt.profile == nullptr) {
        parts_.queue.Done(member.attempt.uid());
      } else {
        end_.Fail(std::move(member.attempt), {.message = error});
      }
    }
    group.verdict = {.code = Code::kError, .reasons = {error}};
    Tell(tree, group);
  }
  End(std::move(tree));
}

void PodGroupCycle::Submit(PodGroupTree tree) {
  for (PodGroupTree::Group& group : tree.groups) {
    for (MemberAttempt& member : group.pods.members) {
      if (group.verdict->ok() && member.result == AttemptResult::kPlaced) {
        end_.Bind(std::move(member.attempt), std::move(member.node_name));
      } else {
        FailMember(member, tree, group);
      }
    }
    Tell(tree, group);
  }
  state_.observer.ObserveGroupAttempt(*tree.profile, ResultOf(tree),
                                      state_.clock.Now() - tree.start);
  const GroupVerdict& verdict = *tree.root().verdict;
  const std::string key = tree.root().object.metadata().Key();
  if (verdict.ok()) {
    base::LogV(2, "Successfully scheduled a pod group", {{"podGroup", key}});
  } else if (verdict.code == Code::kUnschedulable) {
    base::LogV(2,
               tree.waits_for_preemption ? "Pod group is waiting for preemption"
                                         : "Unable to schedule a pod group",
               {{"podGroup", key}, {"err", verdict.message()}});
  } else {
    base::LogError("Error scheduling pod group", {{"podGroup", key}, {"err", verdict.message()}});
  }
  End(std::move(tree));
}

void PodGroupCycle::FailMember(MemberAttempt& member, const PodGroupTree& tree,
                               const PodGroupTree::Group& group) {
  Failure& failure = member.failure;
  const GroupVerdict& verdict = *group.verdict;
  if (verdict.code == Code::kError) {
    if (member.result != AttemptResult::kError) failure = {.message = verdict.message()};
  } else if (member.result == AttemptResult::kPlaced && tree.waits_for_preemption) {
    failure.code = Code::kUnschedulable;
    failure.message = verdict.message();
  } else if (member.result == AttemptResult::kPlaced) {
    failure = {.code = Code::kUnschedulable,
               .message = std::string(kPodGroupUnschedulable) + ", " + verdict.message()};
  } else if (member.result == AttemptResult::kUntried) {
    if (!tree.waits_for_preemption) failure.nominating = {};
    failure.code = Code::kUnschedulable;
    failure.message = group.pods.untried_message;
  }
  const bool placed = member.result == AttemptResult::kPlaced;
  end_.Fail(std::move(member.attempt), std::move(failure), placed ? member.node_name : "");
}

void PodGroupCycle::Tell(const PodGroupTree& tree, const PodGroupTree::Group& group) {
  const std::shared_ptr<const api::PodGroup>& object = group.object.pod_group;
  if (object == nullptr) return;
  api::Condition condition = InitiallyScheduled(*group.verdict, object->metadata.generation);
  if (on_pod_group_) {
    on_pod_group_({.pod_group = *object,
                   .composite_pod_group = tree.root().object.composite.get(),
                   .status = condition.status,
                   .reason = condition.reason,
                   .message = condition.message});
  }
  state_.group_status_patcher.Patch(object, std::move(condition));
}

void PodGroupCycle::End(PodGroupTree tree) {
  using queue::GroupResult;
  const GroupVerdict& verdict = *tree.root().verdict;
  const GroupResult result = verdict.ok()                           ? GroupResult::kScheduled
                             : verdict.code == Code::kUnschedulable ? GroupResult::kRejected
                                                                    : GroupResult::kError;
  parts_.queue.AddAttemptedPodGroup(std::move(tree.queued), result, state_.step_clock.Now());
}

}  // namespace berth::scheduler
