// SPDX-License-Identifier: Apache-2.0
#include "src/scheduler/scheduling_cycle.h"

#include <string>
#include <utility>

#include "src/base/logging.h"

namespace berth::scheduler {
namespace {

using metrics::Metric;

}  // namespace

SchedulingCycle::SchedulingCycle(const CycleParts& parts, const SchedulerOptions& options)
    : parts_(parts),
      state_(parts.state),
      end_(parts, options),
      stopwatch_(options.stopwatch),
      algorithm_series_(state_.metrics.Series(Metric::kSchedulingAlgorithmDuration)),
      reused_rejections_series_(state_.metrics.Series(Metric::kReusedVerdicts, {"unschedulable"})),
      reused_decisions_series_(state_.metrics.Series(Metric::kReusedVerdicts, {"scheduled"})),
      preemption_attempts_series_(state_.metrics.Series(Metric::kPreemptionAttempts)) {}

void SchedulingCycle::Schedule(std::unique_ptr<queue::QueuedPod> popped) {
  std::optional<Attempt> attempt = Begin(std::move(popped));
  if (!attempt) return;
  if (!state_.unfinished.empty()) {
    if (parts_.queue.HasReady() && state_.unfinished.Defer(attempt->uid())) {
      end_.Fail(*std::move(attempt), {.message = std::string(kUnfinishedMessage)});
      return;
    }
    state_.unfinished.Forget(attempt->uid());
  }
  const UnfinishedPods::Attempt trying(state_.unfinished, attempt->uid());
  // A pod that was parked for too long is there to be evaluated.
  const auto refuse_alike = attempt->queued->was_flushed_from_unschedulable
                                ? engine::RefuseAlike::kNo
                                : engine::RefuseAlike::kYes;
  const engine::Decision decision = parts_.engine.Schedule(
      *attempt->profile, attempt->cycle, *attempt->info(), ClusterOf(state_),
      parts_.profiles.PercentageOfNodesToScore(*attempt->profile), refuse_alike);
  if (decision.kind == engine::Decision::Kind::kScheduled) {
    if (decision.kept) state_.metrics.Add(reused_decisions_series_);
    attempt->feasible_nodes = decision.feasible_nodes;
    attempt->evaluated_nodes = decision.evaluated_nodes;
    EndDecision(*attempt);
    Commit(std::move(*attempt), decision.node);
  } else {
    FailUndecided(std::move(*attempt), decision);
  }
}

std::optional<Attempt> SchedulingCycle::Begin(std::unique_ptr<queue::QueuedPod> queued) {
  Attempt attempt;
  attempt.queued = std::move(queued);
  attempt.start = state_.clock.Now();
  if (base::LogVerbosity() >= 4) {
    base::LogV(4, "About to try and schedule pod", {{"pod", attempt.pod().metadata.Key()}});
  }
  attempt.profile = parts_.profiles.Find(attempt.pod().spec.scheduler_name);
  if (attempt.profile == nullptr || IsSettled(state_, attempt)) {
    parts_.queue.Done(attempt.uid());
    return std::nullopt;
  }
  if (base::LogVerbosity() >= 3) {
    base::LogV(3, "Attempting to schedule pod", {{"pod", attempt.pod().metadata.Key()}});
  }
  attempt.stopwatch_start = Stopwatch();
  Prepare(state_, attempt);
  return attempt;
}

void SchedulingCycle::Commit(Attempt&& attempt, NodeRow node) {
  std::string node_name(state_.cluster.cache.node_name(node));
  if (attempt.info()->resize_deferred) {
    Failure failure = ResizeFits(attempt, node_name);
    end_.Fail(std::move(attempt), std::move(failure));
    return;
  }
  if (std::optional<Failure> failure = AssumeAndReserve(state_, attempt, node)) {
    end_.Fail(std::move(attempt), *std::move(failure));
    return;
  }
  framework::PermitVerdict permit;
  if (std::optional<Failure> failure = AskPermit(state_, attempt, node_name, permit)) {
    end_.Fail(std::move(attempt), *std::move(failure));
    return;
  }
  end_.Bind(std::move(attempt), std::move(node_name), std::move(permit));
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
        CountPreemptionAttempts(*attempt.profile);
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
  end_.Fail(std::move(attempt), std::move(failure));
}

// An attempt to preempt counts for each pod, as in kube-scheduler, also where its end is known from
// another of its class.
void SchedulingCycle::CountPreemptionAttempts(const framework::Profile& profile) {
  for (const auto& entry : profile.plugins().post_filter) {
    if (entry.instance->preemption != nullptr) state_.metrics.Add(preemption_attempts_series_);
  }
}

engine::Refusal SchedulingCycle::Refuse(Attempt& attempt) {
  const framework::Profile& profile = *attempt.profile;
  engine::Diagnosis& diagnosis = parts_.engine.diagnosis();
  engine::Refusal refusal;
  refusal.nominating = {NominatingMode::kOverride, ""};
  bool preempted = false;
  if (!profile.plugins().post_filter.empty()) {
    framework::PostFilterVerdict post_filter = framework::RunPostFilter(
        profile, attempt.cycle, *attempt.info(), state_.cluster.cache, diagnosis.statuses);
    diagnosis.post_filter_message = std::move(post_filter.message);
    refusal.nominating = post_filter.nominating.value_or(NominatingInfo{});
    preempted = !post_filter.verdict.status.rejected();
  }
  refusal.message = engine::FitErrorMessage(diagnosis);
  refusal.unschedulable_plugins = diagnosis.unschedulable_plugins;
  refusal.pending_plugins = diagnosis.pending_plugins;
  if (!preempted) parts_.engine.KeepRefusal(profile, *attempt.info(), ClusterOf(state_), refusal);
  return refusal;
}

void SchedulingCycle::EndDecision(Attempt& attempt) {
  attempt.decision_took = Stopwatch() - attempt.stopwatch_start;
  state_.metrics.Observe(algorithm_series_, state_.clock.Now() - attempt.start);
}

}  // namespace berth::scheduler
