// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include "src/scheduler/scheduler.h"

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
uint64_t Scheduler::VerdictEpoch(bool assumes_count) const {
  return nominator_.generation() + objects_.generation() +
         objects_.disruption_budgets_generation() + handlers_->num_opened_nodes() +
         (assumes_count ? num_assumes_ : 0);
}

std::shared_ptr<const queue::SharedVerdict> Scheduler::ShareVerdict(
    const queue::QueuedPod& queued, const framework::Profile& profile,
    const Failure& failure) const {
  if (!options_.share_verdicts || queued.info->pod_class == kNoPodClass ||
      !queued.pod().status.nominated_node_name.empty() || failure.unschedulable_plugins.empty()) {
    return nullptr;
  }
  // An extender may answer differently the next time.
  if (extenders_.num_calls() != extender_calls_) return nullptr;
  auto verdict = std::make_shared<queue::SharedVerdict>();
  for (const std::string& plugin : failure.unschedulable_plugins) {
    if (!IsDeclared(profile, plugin)) return nullptr;
    verdict->assumes_count = verdict->assumes_count || HearsOfNewPods(profile, plugin);
  }
  verdict->message = failure.message;
  verdict->unschedulable_plugins = failure.unschedulable_plugins;
  verdict->pending_plugins = failure.pending_plugins;
  verdict->nominating = failure.nominating;
  verdict->epoch = VerdictEpoch(verdict->assumes_count);
  return verdict;
}

std::shared_ptr<const queue::SharedVerdict> Scheduler::FindVerdict(
    const queue::QueuedPod& queued) const {
  // A pod that was parked too long is there to be looked at afresh.
  if (queued.was_flushed_from_unschedulable || !queued.pod().status.nominated_node_name.empty()) {
    return nullptr;
  }
  auto verdict = queue_->FindVerdict(*queued.info);
  if (verdict == nullptr || verdict->epoch != VerdictEpoch(verdict->assumes_count)) return nullptr;
  return verdict;
}

void Scheduler::FailAlike(std::unique_ptr<queue::QueuedPod> queued,
                          const framework::Profile& profile,
                          std::shared_ptr<const queue::SharedVerdict> verdict, Time started) {
  ++num_reused_verdicts_;
  decision_took_ = Stopwatch() - decision_began_;
  metrics_.Add(series_.reused_rejections);
  metrics_.Observe(series_.algorithm_duration, clock_.Now() - started);
  Failure failure;
  failure.code = Code::kUnschedulable;
  failure.message = verdict->message;
  failure.unschedulable_plugins = verdict->unschedulable_plugins;
  failure.pending_plugins = verdict->pending_plugins;
  failure.nominating = verdict->nominating;
  failure.verdict = std::move(verdict);
  ReportCycle(queued->pod(), failure.code, "", failure.message);
  HandleFailure(std::move(queued), profile, std::move(failure), started);
}

}  // namespace berth::scheduler
