// SPDX-License-Identifier: Apache-2.0
#include "src/scheduler/pod_groups/members_trial.h"

#include <utility>

#include "src/framework/placement_runtime.h"
#include "src/scheduler/cycle_steps.h"

namespace berth::scheduler {
namespace {

using AttemptResult = MemberAttempt::Result;

GroupVerdict ErrorVerdict(std::string message) {
  return {.code = Code::kError, .reasons = {std::move(message)}};
}

// What belongs to one pod is no part of its class, so such a pod may fare otherwise than others of
// its class, and they otherwise than it.
bool IsLikeItsClass(const api::Pod& pod) {
  return pod.spec.volumes.empty() && pod.spec.resource_claims.empty();
}

// Reasons that begin with the group's own.
GroupVerdict Unschedulable(const Status& status) {
  GroupVerdict verdict{.code = Code::kUnschedulable,
                       .reasons = {std::string(kPodGroupUnschedulable)}};
  verdict.reasons.insert(verdict.reasons.end(), status.reasons().begin(), status.reasons().end());
  return verdict;
}

}  // namespace

MembersTrial::MembersTrial(SchedulerState& state, const Profiles& profiles, engine::Engine& engine,
                           const SchedulerOptions& options)
    : state_(state),
      profiles_(profiles),
      engine_(engine),
      stopwatch_(options.stopwatch),
      algorithm_series_(state.metrics.Series(metrics::Metric::kSchedulingAlgorithmDuration)) {}

GroupVerdict MembersTrial::Run(PodGroupAttempt& group, const MembersPlan& plan) {
  Begin(group);
  framework::Cycle placement;
  if (!group.preview) placement.observer = &state_.observer;
  const AnyPodGroup object{.pod_group = group.object};
  const auto feasible = [&](const PlacementProgress& progress) {
    return framework::RunPlacementFeasible(*group.profile, placement, object, progress);
  };
  const PodGroupState* known =
      state_.cluster.pod_groups.Find(object.metadata().namespace_, object.metadata().name);
  PlacementProgress progress{.scheduled = known == nullptr ? 0 : known->scheduled,
                             .remaining = group.members.size()};
  Status status = feasible(progress);
  if (status.code() == Code::kError) {
    return ErrorVerdict("failed to evaluate placement feasibility: " + status.message());
  }
  std::optional<GroupVerdict> rejected;
  if (status.rejected()) {
    rejected = Unschedulable(status);
    if (plan.tries != Tries::kEvery) return *std::move(rejected);
  }

  for (size_t i = 0; i < group.members.size(); ++i) {
    MemberAttempt& member = group.members[i];
    const bool on_one = !plan.rows.empty() && plan.rows[i] != kNoRow;
    TryMember(group, i, on_one ? OnlyNode(plan.rows[i]) : plan.placement);
    if (member.result == AttemptResult::kError) {
      return ErrorVerdict("failed to schedule other pod from a pod group: " +
                          member.failure.message);
    }
    --progress.remaining;
    if (member.result == AttemptResult::kPlaced) ++progress.scheduled;
    status = feasible(progress);
    if (status.code() == Code::kError) {
      return ErrorVerdict("failed to evaluate placement feasibility: " + status.message());
    }
    // However the other pods fare, it is not enough.
    if (status.rejected()) {
      if (!rejected) rejected = {.code = status.code(), .reasons = status.reasons()};
      if (plan.tries != Tries::kEvery) return *std::move(rejected);
    }
  }
  if (rejected) return *std::move(rejected);
  if (status.wait()) return Unschedulable(status);
  return {};
}

GroupVerdict MembersTrial::PlaceAgain(PodGroupAttempt& group, std::span<const NodeRow> rows) {
  refused_.reset();
  group.tried.clear();
  for (size_t i = 0; i < rows.size(); ++i) {
    if (rows[i] == kNoRow) continue;
    MemberAttempt& member = group.members[i];
    member.StartOver();
    TryMember(group, i, OnlyNode(rows[i]));
    if (member.result != AttemptResult::kPlaced) {
      return ErrorVerdict("failed to assume the subtree: " + member.failure.message);
    }
  }
  return {};
}

const NodeSet* MembersTrial::OnlyNode(NodeRow row) {
  one_node_.Assign(state_.cluster.cache.num_rows(), false);
  one_node_.Set(row);
  return &one_node_;
}

void MembersTrial::Begin(PodGroupAttempt& group) {
  refused_.reset();
  group.tried.clear();
  for (MemberAttempt& member : group.members) member.StartOver();
}

void MembersTrial::TryMember(PodGroupAttempt& group, size_t i, const NodeSet* nodes) {
  MemberAttempt& member = group.members[i];
  Attempt& attempt = member.attempt;
  const PodInfo& info = *attempt.info();
  attempt.start = state_.clock.Now();
  if (stopwatch_) attempt.stopwatch_start = stopwatch_();
  group.tried.push_back({i, state_.cluster.nominator.PlaceOf(attempt.uid())});
  if (const Failure* alike = RefusedAlike(info, nodes)) {
    member.result = AttemptResult::kRejected;
    member.failure = *alike;
  } else {
    engine::ClusterState cluster = ClusterOf(state_);
    cluster.placement = nodes;
    const engine::Decision decision = engine_.Schedule(
        *attempt.profile, attempt.cycle, info, cluster,
        profiles_.PercentageOfNodesToScore(*attempt.profile), engine::RefuseAlike::kNo);
    if (decision.kind == engine::Decision::Kind::kScheduled) {
      member.node_name = state_.cluster.cache.node(decision.node).metadata.name;
      attempt.feasible_nodes = decision.feasible_nodes;
      attempt.evaluated_nodes = decision.evaluated_nodes;
      if (std::optional<Failure> failure = AssumeAndReserve(state_, attempt, decision.node)) {
        member.failure = *std::move(failure);
        member.result =
            member.failure.rejected() ? AttemptResult::kRejected : AttemptResult::kError;
      } else {
        member.result = AttemptResult::kPlaced;
      }
    } else {
      Refuse(member, nodes, decision);
    }
  }
  if (stopwatch_) attempt.decision_took = stopwatch_() - attempt.stopwatch_start;
  member.took = state_.clock.Now() - attempt.start;
  if (!group.preview) state_.metrics.Observe(algorithm_series_, member.took);
}

void MembersTrial::Refuse(MemberAttempt& member, const NodeSet* nodes,
                          const engine::Decision& decision) {
  Failure& failure = member.failure;
  member.result = AttemptResult::kRejected;
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
      if (IsLikeItsClass(*info.pod)) {
        refused_ = Refused{info.pod_class, info.class_epoch, nodes,
                           state_.cluster.cache.generation(), failure};
      }
      return;
    }
    default:
      member.result = AttemptResult::kError;
      failure.message = decision.error;
  }
}

const Failure* MembersTrial::RefusedAlike(const PodInfo& pod, const NodeSet* nodes) const {
  const bool same = refused_ && pod.pod_class != kNoPodClass &&
                    pod.pod_class == refused_->pod_class &&
                    pod.class_epoch == refused_->class_epoch && nodes == refused_->nodes &&
                    refused_->cache_generation == state_.cluster.cache.generation();
  // A nomination belongs to one pod, too.
  if (!same || !IsLikeItsClass(*pod.pod) || !state_.cluster.nominator.empty() ||
      !state_.extenders.empty()) {
    return nullptr;
  }
  return &refused_->failure;
}

void MembersTrial::TakeBackLast(PodGroupAttempt& group) {
  Undo(group, group.tried.back());
  group.members[group.tried.back().member].StartOver();
  group.tried.pop_back();
  refused_.reset();
}

// In reverse, as what is undone may build on what was done before.
void MembersTrial::TakeBack(PodGroupAttempt& group) {
  for (; !group.tried.empty(); group.tried.pop_back()) Undo(group, group.tried.back());
}

void MembersTrial::Undo(PodGroupAttempt& group, const PodGroupAttempt::Tried& tried) {
  MemberAttempt& member = group.members[tried.member];
  if (member.result != AttemptResult::kPlaced) return;
  UnreserveAndForget(state_, member.attempt, member.node_name);
  if (tried.nomination) state_.cluster.nominator.Restore(member.attempt.info(), *tried.nomination);
}

}  // namespace berth::scheduler
