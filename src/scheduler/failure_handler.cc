// SPDX-License-Identifier: Apache-2.0
#include "src/scheduler/failure_handler.h"

#include <algorithm>
#include <utility>

#include "src/base/logging.h"

namespace berth::scheduler {
namespace {

std::string_view ReasonOf(const Failure& failure) {
  return failure.rejected() ? "Unschedulable" : "SchedulerError";
}

// Whether the pod's status has such a failure's condition.
bool Shows(const api::Pod& pod, const Failure& failure) {
  return std::ranges::any_of(pod.status.conditions, [&](const api::PodCondition& condition) {
    return condition.type == "PodScheduled" && condition.status == "False" &&
           condition.reason == ReasonOf(failure) && condition.message == failure.message;
  });
}

// Why a pod that failed is not queued again, in kube-scheduler's words.
void LogNotQueued(const cache::Cache& cache, const api::Pod& pod) {
  if (base::LogVerbosity() < 0) return;
  const std::string key = pod.metadata.Key();
  const auto placed = cache.FindPod(pod.metadata.uid);
  if (placed) {
    base::LogInfo("Pod has been assigned to node. Abort adding it back to queue.",
                  {{"pod", key}, {"node", cache.node_name(placed->row)}});
  } else {
    base::LogInfo("Pod doesn't exist in informer cache",
                  {{"pod", key}, {"err", "pod \"" + pod.metadata.name + "\" not found"}});
  }
}

}  // namespace

void FailureHandler::Handle(Attempt attempt, Failure failure, Time now) {
  const bool rejected = failure.rejected();
  state_.observer.ObserveAttempt(
      *attempt.profile,
      rejected ? MetricsObserver::Result::kUnschedulable : MetricsObserver::Result::kError,
      state_.clock.Now() - attempt.start);
  PodInfoPtr info = attempt.info();
  const bool runs = info->resize_deferred;
  const std::string key = info->pod->metadata.Key();
  if (rejected) {
    if (failure.message == engine::kNoNodesMessage) {
      base::LogV(2, "Unable to schedule pod; no nodes are registered to the cluster; waiting",
                 {{"pod", key}});
    } else {
      base::LogV(2, "Unable to schedule pod; no fit; waiting",
                 {{"pod", key}, {"err", failure.message}});
    }
  } else if (base::LogVerbosity() >= 0) {
    // Below that a question is asked, and its answer says what became of the pod.
    base::LogError("Error scheduling pod; retrying", {{"pod", key}, {"err", failure.message}});
  }

  const std::shared_ptr<const api::Pod> newest = state_.cluster.pods.Find(key);
  if (newest == nullptr) {
    // Deleted, or bound by another scheduler.
    queue_.Done(info->pod->metadata.uid);
    if (!runs) LogNotQueued(state_.cluster.cache, *info->pod);
  } else if (newest->metadata.uid != info->pod->metadata.uid) {
    queue_.Done(info->pod->metadata.uid);
    base::LogV(
        2,
        "Pod was recreated while handling scheduling failure. Skip requeueing and status "
        "updates.",
        {{"pod", key}, {"oldUID", info->pod->metadata.uid}, {"newUID", newest->metadata.uid}});
    return;
  } else {
    if (newest != info->pod) info = state_.cluster.cache.MakePodInfo(newest);
    PutBack(std::move(attempt.queued), info, failure, now);
  }
  // The pod stays scheduled, and where it is; the kubelet tells what becomes of its resize.
  if (runs) return;
  // What is not written is not so: only nominations of the other scheduler count.
  if (state_.in_shadow) failure.nominating = {};
  state_.cluster.nominator.AddNominatedPod(info, failure.nominating);
  Report(info, *attempt.profile, std::move(failure));
}

void FailureHandler::PutBack(std::unique_ptr<queue::QueuedPod> queued, PodInfoPtr newest,
                             Failure& failure, Time now) {
  queued->info = std::move(newest);
  queued->ClearRejectorPlugins();
  queued->unschedulable_plugins = std::move(failure.unschedulable_plugins);
  queued->pending_plugins = std::move(failure.pending_plugins);
  queued->condition_unshown =
      !state_.in_shadow && !queued->info->resize_deferred && !Shows(queued->pod(), failure);
  queue_.AddUnschedulablePodIfNotPresent(std::move(queued), now);
}

void FailureHandler::Report(const PodInfoPtr& info, const framework::Profile& profile,
                            Failure failure) {
  const api::Pod& pod = *info->pod;
  profile.handle().RecordEvent(pod, PodEventType::kWarning, "FailedScheduling", "Scheduling",
                               failure.message, {});
  api::PodStatusChange change;
  if (failure.nominating.mode == NominatingMode::kOverride) {
    change.nominated_node_name = failure.nominating.nominated_node_name;
  }
  change.condition = UnscheduledCondition(ReasonOf(failure), std::move(failure.message));
  change.condition->observed_generation = pod.metadata.generation;
  state_.writers.status_patcher.Patch(info->pod, std::move(change));
}

api::PodCondition UnscheduledCondition(std::string_view reason, std::string message) {
  api::PodCondition condition;
  condition.type = "PodScheduled";
  condition.status = "False";
  condition.reason = reason;
  condition.message = std::move(message);
  return condition;
}

}  // namespace berth::scheduler
