// SPDX-License-Identifier: Apache-2.0
#include "src/scheduler/pod_group_trial.h"

#include <utility>

#include "src/framework/pod_group_runtime.h"
#include "src/scheduler/cycle_steps.h"

namespace berth::scheduler {
namespace {

using Result = MemberAttempt::Result;

GroupVerdict ErrorVerdict(std::string message) {
  return {.code = Code::kError, .reasons = {std::move(message)}};
}

// Reasons that begin with the group's own.
GroupVerdict Unschedulable(const Status& status) {
  GroupVerdict verdict{.code = Code::kUnschedulable,
                       .reasons = {std::string(kPodGroupUnschedulable)}};
  verdict.reasons.insert(verdict.reasons.end(), status.reasons().begin(), status.reasons().end());
  return verdict;
}

}  // namespace

PodGroupTrial::PodGroupTrial(SchedulerState& state, const Profiles& profiles,
                             engine::Engine& engine, const SchedulerOptions& options)
    : state_(state),
      profiles_(profiles),
      engine_(engine),
      stopwatch_(options.stopwatch),
      algorithm_series_(state.metrics.Series(metrics::Metric::kSchedulingAlgorithmDuration)) {}

GroupVerdict PodGroupTrial::Run(PodGroupAttempt& group) { return Run(group, Keep::kPlacements); }

GroupVerdict PodGroupTrial::Try(PodGroupAttempt& group) { return Run(group, Keep::kNothing); }

GroupVerdict PodGroupTrial::Run(PodGroupAttempt& group, Keep keep) {
  refused_.reset();
  nominated_.clear();
  cache::Trial trial = state_.cache.BeginTrial();
  GroupVerdict verdict = TryAll(group);
  if (verdict.ok() && keep == Keep::kPlacements) {
    trial.Commit();
  } else {
    TakeBack(group);
    trial.Rollback();
  }
  return verdict;
}

GroupVerdict PodGroupTrial::TryAll(PodGroupAttempt& group) {
  framework::Cycle placement;
  placement.observer = &state_.observer;
  const api::PodGroup& object = *group.object;
  const auto feasible = [&](const PlacementProgress& progress) {
    return framework::RunPlacementFeasible(*group.profile, placement, object, progress);
  };
  const PodGroupState* known =
      state_.pod_groups.Find(object.metadata.namespace_, object.metadata.name);
  PlacementProgress progress{.scheduled = known == nullptr ? 0 : known->scheduled,
                             .remaining = group.members.size()};
  Status status = feasible(progress);
  if (status.code() == Code::kError) {
    return ErrorVerdict("failed to evaluate placement feasibility: " + status.message());
  }
  if (status.rejected()) return Unschedulable(status);

  bool any_placed = false;
  for (MemberAttempt& member : group.members) {
    TryOne(member);
    if (member.result == Result::kError) {
      return ErrorVerdict("failed to schedule other pod from a pod group: " +
                          member.failure.message);
    }
    --progress.remaining;
    if (member.result == Result::kPlaced) ++progress.scheduled;
    status = feasible(progress);
    if (status.code() == Code::kError) {
      return ErrorVerdict("failed to evaluate placement feasibility: " + status.message());
    }
    // However the other pods fare, it is not enough.
    if (status.rejected()) return {.code = status.code(), .reasons = status.reasons()};
    any_placed = any_placed || member.result == Result::kPlaced;
  }
  if (status.wait() || !any_placed) return Unschedulable(status);
  return {};
}

void PodGroupTrial::TryOne(MemberAttempt& member) {
  Attempt& attempt = member.attempt;
  const PodInfo& info = *attempt.info();
  attempt.start = state_.clock.Now();
  if (stopwatch_) attempt.stopwatch_start = stopwatch_();
  nominated_.emplace_back(state_.nominator.NominatedNode(attempt.uid()));
  if (const Failure* alike = RefusedAlike(info)) {
    member.result = Result::kRejected;
    member.failure = *alike;
  } else {
    const engine::Decision decision = engine_.Schedule(
        *attempt.profile, attempt.cycle, info, ClusterOf(state_),
        profiles_.PercentageOfNodesToScore(*attempt.profile), engine::RefuseAlike::kNo);
    if (decision.kind == engine::Decision::Kind::kScheduled) {
      member.node_name = state_.cache.node(decision.node).metadata.name;
      if (std::optional<Failure> failure = AssumeAndReserve(state_, attempt, decision.node)) {
        member.failure = *std::move(failure);
        member.result = member.failure.rejected() ? Result::kRejected : Result::kError;
      } else {
        member.result = Result::kPlaced;
      }
    } else {
      Refuse(member, decision);
    }
  }
  if (stopwatch_) attempt.decision_took = stopwatch_() - attempt.stopwatch_start;
  state_.metrics.Observe(algorithm_series_, state_.clock.Now() - attempt.start);
}

void PodGroupTrial::Refuse(MemberAttempt& member, const engine::Decision& decision) {
  Failure& failure = member.failure;
  member.result = Result::kRejected;
  switch (decision.kind) {
    case engine::Decision::Kind::kNoNodes:
      failure.code = Code::kUnschedulableAndUnresolvable;
      failure.message = engine::kNoNodesMessage;
      return;
    case engine::Decision::Kind::kUnfit: {
      const engine::Diagnosis& diagnosis = engine_.diagnosis();
      failure = {.code = Code::kUnschedulable,
                 .message = engine::FitErrorMessage(diagnosis),
                 .unschedulable_plugins = diagnosis.unschedulable_plugins,
                 .pending_plugins = diagnosis.pending_plugins,
                 .nominating = {}};
      const PodInfo& info = *member.attempt.info();
      refused_ = Refused{info.pod_class, info.class_epoch, state_.cache.generation(), failure};
      return;
    }
    default:
      member.result = Result::kError;
      failure.message = decision.error;
  }
}

const Failure* PodGroupTrial::RefusedAlike(const PodInfo& pod) const {
  const api::PodSpec& spec = pod.pod->spec;
  const bool same = refused_ && pod.pod_class != kNoPodClass &&
                    pod.pod_class == refused_->pod_class &&
                    pod.class_epoch == refused_->class_epoch &&
                    refused_->cache_generation == state_.cache.generation();
  // What belongs to one pod is no part of its class, and a nomination is such a thing, too.
  if (!same || !spec.volumes.empty() || !spec.resource_claims.empty() ||
      !state_.nominator.empty() || !state_.extenders.empty()) {
    return nullptr;
  }
  return &refused_->failure;
}

// In reverse, as what is undone may build on what was done before.
void PodGroupTrial::TakeBack(PodGroupAttempt& group) {
  for (size_t i = nominated_.size(); i-- > 0;) {
    MemberAttempt& member = group.members[i];
    if (member.result != Result::kPlaced) continue;
    UnreserveAndForget(state_, member.attempt, member.node_name);
    if (!nominated_[i].empty()) {
      state_.nominator.AddNominatedPod(member.attempt.info(),
                                       {NominatingMode::kOverride, nominated_[i]});
    }
  }
}

}  // namespace berth::scheduler
