// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include "src/base/logging.h"
#include "src/scheduler/scheduler.h"

namespace berth::scheduler {
namespace {

api::PodCondition Unscheduled(const api::Pod& pod, bool rejected, std::string message) {
  api::PodCondition condition;
  condition.type = "PodScheduled";
  condition.status = "False";
  condition.reason = rejected ? "Unschedulable" : "SchedulerError";
  condition.message = std::move(message);
  condition.observed_generation = pod.metadata.generation;
  return condition;
}

}  // namespace

// Puts the pod back, unless it is gone, has a node, or is another one by now, and tells its owner
// why.
void Scheduler::HandleFailure(std::unique_ptr<queue::QueuedPod> queued,
                              const framework::Profile& profile, Failure failure, Time started) {
  const bool rejected = failure.rejected();
  observer_.ObserveAttempt(
      profile, rejected ? MetricsObserver::Result::kUnschedulable : MetricsObserver::Result::kError,
      clock_.Now() - started);
  const std::string key = queued->pod().metadata.Key();
  if (rejected) {
    base::LogV(2, "Unable to schedule pod; no fit; waiting",
               {{"pod", key}, {"err", failure.message}});
  } else {
    base::LogError("Error scheduling pod; retrying", {{"pod", key}, {"err", failure.message}});
  }

  PodInfoPtr info = queued->info;
  queued->ClearRejectorPlugins();
  queued->unschedulable_plugins = std::move(failure.unschedulable_plugins);
  queued->pending_plugins = std::move(failure.pending_plugins);
  queued->rejected_in_binding = rejected && failure.in_binding;
  const std::shared_ptr<const api::Pod> newest = pods_.Find(key);
  if (newest == nullptr) {
    // Deleted, or bound by somebody.
    queue_->Done(info->pod->metadata.uid);
  } else if (newest->metadata.uid != info->pod->metadata.uid) {
    queue_->Done(info->pod->metadata.uid);
    return;
  } else {
    const bool unchanged = newest == info->pod;
    if (!unchanged) info = cache_.MakePodInfo(newest);
    queued->info = info;
    queued->verdict = unchanged ? std::move(failure.verdict) : nullptr;
    queue_->AddUnschedulablePodIfNotPresent(std::move(queued), now_);
  }
  nominator_.AddNominatedPod(info, failure.nominating);

  RecordEvent(*info->pod, profile, true, "FailedScheduling", "Scheduling", failure.message);
  api::PodStatusChange change;
  if (failure.nominating.mode == NominatingMode::kOverride) {
    change.nominated_node_name = failure.nominating.nominated_node_name;
  }
  change.condition = Unscheduled(*info->pod, rejected, std::move(failure.message));
  status_patcher_.Patch(info->pod, std::move(change));
}

void Scheduler::RecordEvent(const api::Pod& pod, const framework::Profile& profile, bool warning,
                            std::string_view reason, std::string_view action, std::string note) {
  profile.handle().RecordEvent(pod, warning, reason, action, std::move(note));
}

}  // namespace berth::scheduler
