// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include "src/scheduler/scheduling_cycle.h"

// Pods of one class fail for the same reasons. While one that failed is parked, nothing has
// happened that could help it, so the next ones of its class need no evaluation of their own. Each
// still gets its own condition, event, attempt and backoff.
namespace berth::scheduler {
namespace {

// Whether the plugin would wake a pod when another pod comes to a node.
bool HearsOfNewPods(const framework::Profile& profile, std::string_view plugin) {
  return std::any_of(
      profile.events().begin(), profile.events().end(),
      [plugin](const framework::RegisteredEvent& registered) {
        return registered.plugin == plugin &&
               registered.event.event.Matches({EventResource::kAssignedPod, action::kAdd});
      });
}

bool IsDeclared(const framework::Profile& profile, std::string_view plugin) {
  return std::any_of(profile.events().begin(), profile.events().end(),
                     [plugin](const framework::RegisteredEvent& registered) {
                       return registered.plugin == plugin && registered.declared;
                     });
}

}  // namespace

// Each part only grows, so the sum stays only if all of them do.
uint64_t SchedulingCycle::VerdictEpoch(bool assumes_count) const {
  return state_.nominator.generation() + state_.objects.generation() +
         state_.objects.disruption_budgets_generation() + parts_.handlers.num_opened_nodes() +
         (assumes_count ? num_assumes_ : 0);
}

std::shared_ptr<const queue::SharedVerdict> SchedulingCycle::ShareVerdict(
    const Attempt& attempt, const Failure& failure) const {
  if (!share_verdicts_ || attempt.info()->pod_class == kNoPodClass ||
      !attempt.pod().status.nominated_node_name.empty() || failure.unschedulable_plugins.empty()) {
    return nullptr;
  }
  // An extender may answer differently the next time.
  if (state_.extenders.num_calls() != attempt.extender_calls) return nullptr;
  auto verdict = std::make_shared<queue::SharedVerdict>();
  for (const std::string& plugin : failure.unschedulable_plugins) {
    if (!IsDeclared(*attempt.profile, plugin)) return nullptr;
    verdict->assumes_count = verdict->assumes_count || HearsOfNewPods(*attempt.profile, plugin);
  }
  verdict->message = failure.message;
  verdict->unschedulable_plugins = failure.unschedulable_plugins;
  verdict->pending_plugins = failure.pending_plugins;
  verdict->nominating = failure.nominating;
  verdict->epoch = VerdictEpoch(verdict->assumes_count);
  return verdict;
}

std::shared_ptr<const queue::SharedVerdict> SchedulingCycle::FindVerdict(
    const queue::QueuedPod& queued) const {
  // A pod that was parked too long is there to be looked at afresh.
  if (queued.was_flushed_from_unschedulable || !queued.pod().status.nominated_node_name.empty()) {
    return nullptr;
  }
  auto verdict = parts_.queue.FindVerdict(*queued.info);
  if (verdict == nullptr || verdict->epoch != VerdictEpoch(verdict->assumes_count)) return nullptr;
  return verdict;
}

void SchedulingCycle::FailAlike(Attempt attempt,
                                std::shared_ptr<const queue::SharedVerdict> verdict) {
  ++num_reused_verdicts_;
  state_.metrics.Add(reused_rejections_series_);
  EndDecision(attempt);
  Failure failure{.code = Code::kUnschedulable,
                  .message = verdict->message,
                  .unschedulable_plugins = verdict->unschedulable_plugins,
                  .pending_plugins = verdict->pending_plugins,
                  .nominating = verdict->nominating};
  failure.verdict = std::move(verdict);
  Fail(std::move(attempt), std::move(failure));
}

}  // namespace berth::scheduler
