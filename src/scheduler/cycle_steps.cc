// SPDX-License-Identifier: Apache-2.0
#include "src/scheduler/cycle_steps.h"

#include <utility>

#include "berth/resources.h"
#include "src/base/logging.h"
#include "src/binding/claim_writes.h"
#include "src/engine/diagnosis.h"
#include "src/scheduler/pod_store.h"

namespace berth::scheduler {
namespace {

// One cycle in ten also times each plugin.
constexpr uint64_t kPluginSampling = 10;

Result<void> CountClaims(SchedulerState& state, const Attempt& attempt, NodeRow node) {
  PodInfoPtr counted = CountedWithClaims(state, attempt.cycle.state, attempt.pod(), node);
  if (counted == nullptr) return {};
  state.cluster.cache.ForgetPod(attempt.uid());
  return state.cluster.cache.AssumePod(std::move(counted), node);
}

}  // namespace

engine::ClusterState ClusterOf(SchedulerState& state) {
  const cache::ObjectTables& objects = state.cluster.objects;
  return {state.cluster.cache,
          state.cluster.nominator,
          objects.generation(),
          objects.disruption_budgets_generation() + objects.pod_groups_generation(),
          state.extenders.empty() ? nullptr : &state.extenders,
          &state.cluster.cache.node_order()};
}

bool IsSettled(SchedulerState& state, const Attempt& attempt) {
  const api::Pod& pod = attempt.pod();
  if (pod.metadata.deletion_timestamp) {
    attempt.profile->handle().RecordEvent(pod, PodEventType::kWarning, "FailedScheduling",
                                          "Scheduling",
                                          "skip schedule deleting pod: " + pod.metadata.Key(), {});
    base::LogV(3, "Skip schedule deleting pod", {{"pod", pod.metadata.Key()}});
    return true;
  }
  return state.cluster.cache.IsAssumed(attempt.uid());
}

PodInfoPtr CountedWithClaims(SchedulerState& state, const CycleState& reserved, const api::Pod& pod,
                             NodeRow node) {
  const auto* claims = reserved.Find<NodeAllocatableClaims>();
  const auto& known = pod.status.node_allocatable_resource_claim_statuses;
  if (claims == nullptr ? known.empty() : claims->statuses == known) return nullptr;
  api::Pod counted = *PodOn(pod, state.cluster.cache.node(node).metadata.name);
  counted.status.node_allocatable_resource_claim_statuses.clear();
  if (claims != nullptr) counted.status.node_allocatable_resource_claim_statuses = claims->statuses;
  return state.cluster.cache.MakePodInfo(std::make_shared<const api::Pod>(std::move(counted)));
}

void Prepare(SchedulerState& state, Attempt& attempt) {
  attempt.queued->info = state.cluster.cache.Reclass(std::move(attempt.queued->info));
  attempt.cycle.observer = &state.observer;
  attempt.cycle.observe_plugins = state.random.Below(kPluginSampling) == 0;
}

std::optional<Failure> AssumeAndReserve(SchedulerState& state, Attempt& attempt, NodeRow node) {
  if (auto assumed = state.cluster.cache.AssumePod(attempt.info(), node); !assumed) {
    return Failure{.message = assumed.error().message};
  }
  const std::string_view node_name = state.cluster.cache.node_name(node);
  state.cluster.pod_groups.SetPlaced(attempt.info()->pod, node_name, true);
  state.cluster.node_metrics.SetPlaced(attempt.info()->pod, node_name, state.step_clock.WallNow());
  state.cluster.nominator.DeleteNominatedPodIfExists(attempt.pod());
  const framework::PluginStatus verdict =
      framework::RunReserve(*attempt.profile, attempt.cycle, *attempt.info(), node_name);
  Failure failure;
  if (verdict.status.ok()) {
    const Result<void> counted = CountClaims(state, attempt, node);
    if (counted) return std::nullopt;
    failure.message = counted.error().message;
  } else {
    failure = FailureOf(verdict);
  }
  UnreserveAndForget(state, attempt, node_name);
  return failure;
}

std::optional<Failure> AskPermit(SchedulerState& state, Attempt& attempt,
                                 std::string_view node_name, framework::PermitVerdict& permit) {
  permit = framework::RunPermit(*attempt.profile, attempt.cycle, *attempt.info(), node_name);
  const Status& verdict = permit.verdict.status;
  if (verdict.ok() || verdict.wait()) return std::nullopt;
  Failure failure = FailureOf(permit.verdict);
  UnreserveAndForget(state, attempt, node_name);
  return failure;
}

Failure ResizeFits(Attempt& attempt, std::string_view node_name) {
  const framework::PluginStatus verdict =
      framework::RunPermit(*attempt.profile, attempt.cycle, *attempt.info(), node_name).verdict;
  if (verdict.status.rejected() || verdict.status.code() == Code::kError) return FailureOf(verdict);
  // The profile does not call DeferredPodScheduling, so no plugin knows what to wait for.
  return {.code = Code::kUnschedulableAndUnresolvable,
          .message = "the resize fits, and no plugin of the profile waits for the kubelet"};
}

void UnreserveAndForget(SchedulerState& state, Attempt& attempt, std::string_view node_name) {
  Unreserve(state, attempt, node_name);
  Forget(state, attempt.info());
}

void Unreserve(SchedulerState& state, Attempt& attempt, std::string_view node_name) {
  framework::RunUnreserve(*attempt.profile, attempt.cycle, *attempt.info(), node_name);
  const auto* claims = attempt.cycle.state.Find<NodeAllocatableClaims>();
  if (claims == nullptr || !claims->sent) return;
  binding::WriteClaimStatuses(state.api, attempt.pod(), {},
                              [key = attempt.pod().metadata.Key()](const AsyncStatus& status) {
                                if (status.ok()) return;
                                base::LogError(
                                    "Pod keeps what its claims would have taken of a node",
                                    {{"pod", key}, {"err", status.message}});
                              });
}

bool Forget(SchedulerState& state, const PodInfoPtr& pod) {
  if (!state.cluster.cache.ForgetPod(pod->pod->metadata.uid)) return false;
  state.cluster.pod_groups.RemovePlaced(*pod->pod);
  state.cluster.node_metrics.RemovePlaced(*pod->pod);
  return true;
}

Failure FailureOf(const framework::PluginStatus& verdict) {
  Failure failure{.code = verdict.status.code(), .message = verdict.status.message()};
  if (verdict.status.rejected()) {
    failure.message = engine::FitErrorMessage(verdict.status);
    failure.AddRejector(std::string(verdict.plugin));
  }
  return failure;
}

void CycleEnd::Bind(Attempt&& attempt, std::string&& node_name, framework::PermitVerdict&& permit) {
  Report({.pod = attempt.pod(),
          .code = permit.verdict.status.code(),
          .node_name = node_name,
          .message = {},
          .tried_node = {},
          .nominated_node = {},
          .took = attempt.decision_took});
  parts_.binding_cycles.Begin(std::move(attempt), std::move(node_name), std::move(permit),
                              parts_.state.step_clock.Now());
}

void CycleEnd::Fail(Attempt attempt, Failure failure, std::string_view tried_node) {
  Report({.pod = attempt.pod(),
          .code = failure.code,
          .node_name = {},
          .message = failure.message,
          .tried_node = tried_node,
          .nominated_node = failure.nominating.nominated_node_name,
          .took = attempt.decision_took});
  parts_.failures.Handle(std::move(attempt), std::move(failure), parts_.state.step_clock.Now());
}

void CycleEnd::Report(const CycleOutcome& outcome) const {
  if (on_cycle_) on_cycle_(outcome);
  if (parts_.state.tape != nullptr) parts_.state.tape->Decided(outcome);
}

}  // namespace berth::scheduler
