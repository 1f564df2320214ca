// SPDX-License-Identifier: Apache-2.0
#include "src/scheduler/cycle_steps.h"

#include <utility>

#include "berth/node_allocatable.h"
#include "src/base/logging.h"
#include "src/binding/claim_status_write.h"
#include "src/engine/diagnosis.h"
#include "src/scheduler/pod_store.h"

namespace berth::scheduler {
namespace {

// One cycle in ten also times each plugin.
constexpr uint64_t kPluginSampling = 10;

Result<void> CountClaims(SchedulerState& state, const Attempt& attempt, NodeRow node) {
  PodInfoPtr counted = CountedWithClaims(state, attempt.cycle.state, attempt.pod(), node);
  if (counted == nullptr) return {};
  state.cache.ForgetPod(attempt.uid());
  return state.cache.AssumePod(std::move(counted), node);
}

}  // namespace

engine::ClusterState ClusterOf(SchedulerState& state) {
  return {state.cache,
          state.nominator,
          state.objects.generation(),
          state.objects.disruption_budgets_generation(),
          state.extenders.empty() ? nullptr : &state.extenders,
          &state.cache.node_order()};
}

bool IsSettled(SchedulerState& state, const Attempt& attempt) {
  const api::Pod& pod = attempt.pod();
  if (pod.metadata.deletion_timestamp) {
    attempt.profile->handle().RecordEvent(pod, PodEventType::kWarning, "FailedScheduling",
                                          "Scheduling",
                                          "skip schedule deleting pod: " + pod.metadata.Key());
    return true;
  }
  return state.cache.IsAssumed(attempt.uid());
}

PodInfoPtr CountedWithClaims(SchedulerState& state, const CycleState& reserved, const api::Pod& pod,
                             NodeRow node) {
  const auto* claims = reserved.Find<NodeAllocatableClaims>();
  const auto& known = pod.status.node_allocatable_resource_claim_statuses;
  if (claims == nullptr ? known.empty() : claims->statuses == known) return nullptr;
  api::Pod counted = *PodOn(pod, state.cache.node(node).metadata.name);
  counted.status.node_allocatable_resource_claim_statuses.clear();
  if (claims != nullptr) {
    counted.status.node_allocatable_resource_claim_statuses = claims->statuses;
  }
  return state.cache.MakePodInfo(std::make_shared<const api::Pod>(std::move(counted)));
}

void Prepare(SchedulerState& state, Attempt& attempt) {
  attempt.queued->info = state.cache.Reclass(std::move(attempt.queued->info));
  attempt.cycle.observer = &state.observer;
  attempt.cycle.observe_plugins = state.random.Below(kPluginSampling) == 0;
}

std::optional<Failure> AssumeAndReserve(SchedulerState& state, Attempt& attempt, NodeRow node) {
  if (auto assumed = state.cache.AssumePod(attempt.info(), node); !assumed) {
    return Failure{.message = assumed.error().message};
  }
  const std::string_view node_name = state.cache.node_name(node);
  state.pod_groups.SetPlaced(attempt.info()->pod, node_name, true);
  state.nominator.DeleteNominatedPodIfExists(attempt.pod());
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
  if (!state.cache.ForgetPod(pod->pod->metadata.uid)) return false;
  state.pod_groups.RemovePlaced(*pod->pod);
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

}  // namespace berth::scheduler
