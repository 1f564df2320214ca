// SPDX-License-Identifier: Apache-2.0
#include "src/scheduler/cycle_steps.h"

#include <utility>

#include "src/engine/diagnosis.h"

namespace berth::scheduler {
namespace {

// One cycle in ten also times each plugin.
constexpr uint64_t kPluginSampling = 10;

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

void Prepare(SchedulerState& state, Attempt& attempt) {
  attempt.queued->info = state.cache.Reclass(std::move(attempt.queued->info));
  attempt.cycle.observer = &state.observer;
  attempt.cycle.observe_plugins = state.random.Below(kPluginSampling) == 0;
}

std::optional<Failure> AssumeAndReserve(SchedulerState& state, Attempt& attempt, NodeRow node) {
  if (auto assumed = state.cache.AssumePod(attempt.info(), node); !assumed) {
    return Failure{.message = assumed.error().message};
  }
  const std::string& node_name = state.cache.node(node).metadata.name;
  state.pod_groups.SetPlaced(attempt.info()->pod, node_name, true);
  state.nominator.DeleteNominatedPodIfExists(attempt.pod());
  const framework::PluginStatus verdict =
      framework::RunReserve(*attempt.profile, attempt.cycle, *attempt.info(), node_name);
  if (verdict.status.ok()) return std::nullopt;
  Failure failure = FailureOf(verdict);
  UnreserveAndForget(state, attempt, node_name);
  return failure;
}

void UnreserveAndForget(SchedulerState& state, Attempt& attempt, std::string_view node_name) {
  framework::RunUnreserve(*attempt.profile, attempt.cycle, *attempt.info(), node_name);
  Forget(state, attempt.info());
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
