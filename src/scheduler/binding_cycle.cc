// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include "src/base/logging.h"
#include "src/scheduler/scheduler.h"

namespace berth::scheduler {
namespace {

framework::ExtensionPoint PointOf(binding::BindingStage stage) {
  switch (stage) {
    case binding::BindingStage::kPreBind:
      return framework::ExtensionPoint::kPreBind;
    case binding::BindingStage::kBind:
      return framework::ExtensionPoint::kBind;
    case binding::BindingStage::kPostBind:
      break;
  }
  return framework::ExtensionPoint::kPostBind;
}

}  // namespace

void Scheduler::EnterBindingCycle(const std::string& uid, bool waits) {
  InHand& pod = in_hand_.at(uid);
  const PodInfo& info = *pod.queued->info;
  framework::PreFlightVerdict pre_flight =
      framework::RunPreBindPreFlight(*pod.profile, pod.cycle, info, pod.node_name);
  if (pre_flight.status.code() == Code::kError) {
    Failure failure;
    failure.message = pre_flight.status.message();
    if (waits) {
      // Its place among the waiting pods goes with the outcome of this rejection.
      waiting_pods_.Reject(uid, failure.message);
      return;
    }
    InHand taken = std::move(pod);
    in_hand_.erase(uid);
    FailBinding(std::move(taken), std::move(failure));
    return;
  }
  pod.pre_bind = std::move(pre_flight.to_run);
  // Tells others, such as cluster-autoscaler, where the pod is about to go, when that may take
  // a while.
  if (options_.features.nominated_node_name_for_expectation && (waits || pre_flight.status.ok())) {
    api::PodStatusChange change;
    change.nominated_node_name = pod.node_name;
    status_patcher_.Patch(info.pod, std::move(change));
  }
  if (!waits) StartBinding(uid);
}

// From here on a failure cannot be "unschedulable" any more, so the pod needs no events.
void Scheduler::StartBinding(const std::string& uid) {
  InHand& pod = in_hand_.at(uid);
  queue_->Done(uid);
  status_patcher_.DropCondition(uid);
  binding::BindingCycle cycle;
  cycle.pod = pod.queued->info;
  cycle.node_name = pod.node_name;
  cycle.state = std::move(pod.cycle.state);
  cycle.pre_bind = pod.pre_bind;
  if (extender_bind_.IsInterested(*cycle.pod->pod)) cycle.extender = &extender_bind_;
  for (const auto& entry : pod.profile->plugins().bind) cycle.bind.push_back(entry.plugin);
  for (const auto& entry : pod.profile->plugins().post_bind) {
    cycle.post_bind.push_back(entry.plugin);
  }
  cycle.time_plugins = pod.cycle.observe_plugins;
  if (cycle.pre_bind.empty()) SetAwaitingBind(uid, true);
  binder_.Start(std::move(cycle));
}

void Scheduler::SetAwaitingBind(const std::string& uid, bool awaiting) {
  const auto it = in_hand_.find(uid);
  if (it == in_hand_.end() || it->second.awaiting_bind == awaiting) return;
  it->second.awaiting_bind = awaiting;
  if (awaiting) {
    ++awaiting_bind_;
  } else {
    --awaiting_bind_;
  }
}

// What a plugin does when it hears that one pod lost its place may end the wait of others.
void Scheduler::HandlePermitOutcomes() {
  for (auto outcomes = waiting_pods_.TakeOutcomes(now_); !outcomes.empty();
       outcomes = waiting_pods_.TakeOutcomes(now_)) {
    for (framework::PermitOutcome& outcome : outcomes) HandlePermitOutcome(outcome);
  }
}

void Scheduler::HandlePermitOutcome(framework::PermitOutcome& outcome) {
  const auto it = in_hand_.find(outcome.uid);
  if (it == in_hand_.end()) return;
  observer_.ObservePermitWait(outcome.code, outcome.waited);
  if (outcome.code == Code::kSuccess) {
    StartBinding(outcome.uid);
    return;
  }
  Failure failure;
  failure.code = outcome.code;
  if (failure.rejected()) {
    const ReasonSet reasons{outcome.message};
    failure.message = engine::FitErrorMessage(Status(outcome.code, &reasons));
    if (!outcome.plugin.empty()) failure.unschedulable_plugins.push_back(outcome.plugin);
  } else {
    failure.message = "waiting on permit for pod: " + outcome.message;
  }
  InHand pod = std::move(it->second);
  in_hand_.erase(it);
  FailBinding(std::move(pod), std::move(failure));
}

void Scheduler::HandleBindOutcome(binding::BindOutcome& outcome) {
  const auto it = in_hand_.find(outcome.pod_uid);
  if (it == in_hand_.end()) return;
  InHand pod = std::move(it->second);
  in_hand_.erase(it);
  if (pod.awaiting_bind) --awaiting_bind_;
  for (const binding::BindingTiming& timing : outcome.timings) {
    if (timing.plugin.empty()) {
      observer_.ObserveExtensionPoint(*pod.profile, PointOf(timing.stage), timing.code,
                                      timing.duration);
    } else {
      observer_.ObservePlugin(timing.plugin, PointOf(timing.stage), timing.code, timing.duration);
    }
  }
  if (outcome.status.ok()) {
    FinishBound(pod, outcome);
    return;
  }
  // Given up while stopping: whether it is bound is for the next process to see.
  if (outcome.unknown) return;
  Failure failure;
  failure.code = outcome.status.code;
  failure.message = std::move(outcome.status.message);
  failure.in_binding = true;
  if (failure.rejected() && !outcome.failed_plugin.empty()) {
    if (failure.code == Code::kPending) failure.pending_plugins.push_back(outcome.failed_plugin);
    failure.unschedulable_plugins.push_back(std::move(outcome.failed_plugin));
  }
  pod.cycle.state = std::move(outcome.state);
  FailBinding(std::move(pod), std::move(failure));
}

void Scheduler::FinishBound(InHand& pod, const binding::BindOutcome& outcome) {
  const queue::QueuedPod& queued = *pod.queued;
  const api::Pod& api_pod = queued.pod();
  base::LogV(2, "Successfully bound pod to node",
             {{"pod", api_pod.metadata.Key()}, {"node", outcome.node_name}});
  observer_.ObserveAttempt(*pod.profile, MetricsObserver::Result::kScheduled,
                           clock_.Now() - pod.started);
  metrics_.Observe(series_.attempts, static_cast<double>(queued.attempts));
  if (queued.initial_attempt_timestamp) {
    observer_.ObservePodScheduled(queued.attempts, now_ - *queued.initial_attempt_timestamp);
  }
  if (queued.was_flushed_from_unschedulable) metrics_.Add(series_.flushed);
  RecordEvent(api_pod, *pod.profile, false, "Scheduled", "Binding",
              "Successfully assigned " + api_pod.metadata.Key() + " to " + outcome.node_name);
  ActivatePods();
}

// Releases what the pod held, lets others have it, and requeues the pod. Of a rejected pod the
// others hear last, and it does not hear itself: its own room would look like news to it.
void Scheduler::FailBinding(InHand pod, Failure failure) {
  const PodInfoPtr info = pod.queued->info;
  const std::string uid = info->pod->metadata.uid;
  framework::RunUnreserve(*pod.profile, pod.cycle, *info, pod.node_name);
  const bool forgotten = cache_.ForgetPod(uid);
  const ClusterEvent event{EventResource::kAssignedPod, action::kDelete};
  const bool rejected = failure.rejected();
  // What goes is the pod as it was assumed: hints look at the node that it leaves.
  const std::shared_ptr<const api::Pod> gone = PodOn(*info->pod, pod.node_name);
  if (forgotten && !rejected) queue_->MoveAllToActiveOrBackoffQueue(event, gone, {}, now_);
  failure.nominating = {NominatingMode::kOverride, ""};
  HandleFailure(std::move(pod.queued), *pod.profile, std::move(failure), pod.started);
  if (forgotten && rejected) {
    queue_->MoveAllToActiveOrBackoffQueue(
        event, gone, {}, now_, [&uid](const api::Pod& other) { return other.metadata.uid != uid; });
  }
}

}  // namespace berth::scheduler
