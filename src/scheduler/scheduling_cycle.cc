// SPDX-License-Identifier: Apache-2.0
#include "src/scheduler/scheduling_cycle.h"

#include <string>
#include <utility>

#include "src/base/logging.h"

namespace berth::scheduler {
namespace {

using metrics::Metric;

// One cycle in ten also times each plugin.
constexpr uint64_t kPluginSampling = 10;

}  // namespace

SchedulingCycle::SchedulingCycle(const Parts& parts, const SchedulerOptions& options)
    : parts_(parts),
      state_(parts.state),
      on_cycle_(options.on_cycle),
      stopwatch_(options.stopwatch),
      algorithm_series_(state_.metrics.Series(Metric::kSchedulingAlgorithmDuration)),
      reused_rejections_series_(state_.metrics.Series(Metric::kReusedVerdicts, {"unschedulable"})),
      reused_decisions_series_(state_.metrics.Series(Metric::kReusedVerdicts, {"scheduled"})) {}

void SchedulingCycle::ScheduleOne() {
  std::optional<Attempt> attempt = Begin();
  if (!attempt) return;
  // A pod that was parked for too long is there to be evaluated.
  const auto refuse_alike = attempt->queued->was_flushed_from_unschedulable
                                ? engine::RefuseAlike::kNo
                                : engine::RefuseAlike::kYes;
  const engine::Decision decision = parts_.engine.Schedule(
      *attempt->profile, attempt->cycle, *attempt->info(), Cluster(),
      parts_.profiles.PercentageOfNodesToScore(*attempt->profile), refuse_alike);
  if (decision.kind == engine::Decision::Kind::kScheduled) {
    if (decision.kept) state_.metrics.Add(reused_decisions_series_);
    EndDecision(*attempt);
    Commit(std::move(*attempt), decision.node);
  } else {
    FailUndecided(std::move(*attempt), decision);
  }
}

engine::ClusterState SchedulingCycle::Cluster() {
  return {state_.cache,
          state_.nominator,
          state_.objects.generation(),
          state_.objects.disruption_budgets_generation(),
          state_.extenders.empty() ? nullptr : &state_.extenders,
          &state_.cache.node_order()};
}

std::optional<Attempt> SchedulingCycle::Begin() {
  Attempt attempt;
  attempt.queued = parts_.queue.Pop();
  if (attempt.queued == nullptr) return std::nullopt;
  attempt.start = state_.clock.Now();
  attempt.profile = parts_.profiles.Find(attempt.pod().spec.scheduler_name);
  if (attempt.profile == nullptr || Skip(attempt)) {
    parts_.queue.Done(attempt.uid());
    return std::nullopt;
  }
  base::LogV(3, "Attempting to schedule pod", {{"pod", attempt.pod().metadata.Key()}});
  attempt.stopwatch_start = Stopwatch();
  attempt.queued->info = state_.cache.Reclass(std::move(attempt.queued->info));
  attempt.cycle.observer = &state_.observer;
  attempt.cycle.observe_plugins = state_.random.Below(kPluginSampling) == 0;
  return attempt;
}

// Pods that need no node any more: being deleted, or assumed since they were queued.
bool SchedulingCycle::Skip(const Attempt& attempt) {
  const api::Pod& pod = attempt.pod();
  if (pod.metadata.deletion_timestamp) {
    attempt.profile->handle().RecordEvent(pod, PodEventType::kWarning, "FailedScheduling",
                                          "Scheduling",
                                          "skip schedule deleting pod: " + pod.metadata.Key());
    return true;
  }
  return state_.cache.IsAssumed(attempt.uid());
}

void SchedulingCycle::Commit(Attempt attempt, NodeRow node) {
  const framework::Profile& profile = *attempt.profile;
  const PodInfo& info = *attempt.info();
  std::string node_name = state_.cache.node(node).metadata.name;
  if (auto assumed = state_.cache.AssumePod(attempt.info(), node); !assumed) {
    Fail(std::move(attempt), {.message = assumed.error().message});
    return;
  }
  state_.nominator.DeleteNominatedPodIfExists(attempt.pod());

  framework::PluginStatus verdict = framework::RunReserve(profile, attempt.cycle, info, node_name);
  framework::PermitVerdict permit;
  if (verdict.status.ok()) {
    permit = framework::RunPermit(profile, attempt.cycle, info, node_name);
    verdict = permit.verdict;
  }
  if (verdict.status.ok() || verdict.status.wait()) {
    Report(attempt, verdict.status.code(), node_name, "");
    const Time start = attempt.start;
    parts_.binding_cycles.Begin(std::move(attempt), std::move(node_name), std::move(permit), start);
    return;
  }
  Failure failure{.code = verdict.status.code(), .message = verdict.status.message()};
  if (verdict.status.rejected()) {
    failure.message = engine::FitErrorMessage(verdict.status);
    failure.AddRejector(std::string(verdict.plugin));
  }
  framework::RunUnreserve(profile, attempt.cycle, info, node_name);
  state_.cache.ForgetPod(attempt.uid());
  Fail(std::move(attempt), std::move(failure));
}

void SchedulingCycle::FailUndecided(Attempt attempt, const engine::Decision& decision) {
  Failure failure;
  switch (decision.kind) {
    case engine::Decision::Kind::kNoNodes:
      failure.code = Code::kUnschedulableAndUnresolvable;
      failure.message = engine::kNoNodesMessage;
      break;
    case engine::Decision::Kind::kUnfit: {
      if (decision.refusal != nullptr) {
        ++num_reused_refusals_;
        state_.metrics.Add(reused_rejections_series_);
      }
      engine::Refusal refusal = decision.refusal != nullptr ? *decision.refusal : Refuse(attempt);
      failure = {.code = Code::kUnschedulable,
                 .message = std::move(refusal.message),
                 .unschedulable_plugins = std::move(refusal.unschedulable_plugins),
                 .pending_plugins = std::move(refusal.pending_plugins),
                 .nominating = std::move(refusal.nominating)};
      break;
    }
    default:
      failure.message = decision.error;
  }
  EndDecision(attempt);
  Fail(std::move(attempt), std::move(failure));
}

engine::Refusal SchedulingCycle::Refuse(Attempt& attempt) {
  const framework::Profile& profile = *attempt.profile;
  engine::Diagnosis& diagnosis = parts_.engine.diagnosis();
  engine::Refusal refusal;
  refusal.nominating = {NominatingMode::kOverride, ""};
  bool preempted = false;
  if (!profile.plugins().post_filter.empty()) {
    framework::PostFilterVerdict post_filter = framework::RunPostFilter(
        profile, attempt.cycle, *attempt.info(), state_.cache, diagnosis.statuses);
    diagnosis.post_filter_message = std::move(post_filter.message);
    refusal.nominating = post_filter.nominating.value_or(NominatingInfo{});
    preempted = !post_filter.verdict.status.rejected();
  }
  refusal.message = engine::FitErrorMessage(diagnosis);
  refusal.unschedulable_plugins = diagnosis.unschedulable_plugins;
  refusal.pending_plugins = diagnosis.pending_plugins;
  if (!preempted) {
    parts_.engine.KeepRefusal(profile, std::move(attempt.cycle), *attempt.info(), Cluster(),
                              refusal);
  }
  return refusal;
}

void SchedulingCycle::Fail(Attempt attempt, Failure failure) {
  Report(attempt, failure.code, "", failure.message);
  const Time start = attempt.start;
  parts_.failures.Handle(std::move(attempt), std::move(failure), start);
}

void SchedulingCycle::EndDecision(Attempt& attempt) {
  attempt.decision_took = Stopwatch() - attempt.stopwatch_start;
  state_.metrics.Observe(algorithm_series_, state_.clock.Now() - attempt.start);
}

void SchedulingCycle::Report(const Attempt& attempt, Code code, std::string_view node_name,
                             std::string_view message) const {
  if (on_cycle_) on_cycle_({attempt.pod(), code, node_name, message, attempt.decision_took});
}

}  // namespace berth::scheduler
