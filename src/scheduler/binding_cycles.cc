// SPDX-License-Identifier: Apache-2.0
#include "src/scheduler/binding_cycles.h"

#include <algorithm>
#include <utility>

#include "src/base/key_text.h"
#include "src/base/logging.h"
#include "src/base/text.h"
#include "src/engine/diagnosis.h"
#include "src/scheduler/cycle_steps.h"
#include "src/scheduler/pod_store.h"

namespace berth::scheduler {
namespace {

// Decided pods that may await the answer to their Bind, however small the burst.
constexpr int32_t kMinBindLimit = 64;

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

BindingCycles::BindingCycles(SchedulerState& state, queue::SchedulingQueue& queue,
                             FailureHandler& failures, int32_t burst)
    : state_(state),
      queue_(queue),
      failures_(failures),
      bind_limit_(static_cast<size_t>(std::max(kMinBindLimit, burst))),
      attempts_series_(state.metrics.Series(metrics::Metric::kPodSchedulingAttempts)),
      flushed_series_(state.metrics.Series(metrics::Metric::kPodScheduledAfterFlush)) {}

void BindingCycles::Begin(Attempt&& attempt, std::string&& node_name,
                          framework::PermitVerdict permit, Time now) {
  const PodInfoPtr info = attempt.info();
  const bool waits = permit.verdict.status.wait();
  framework::PreFlightVerdict pre_flight =
      framework::RunPreBindPreFlight(*attempt.profile, attempt.cycle, *info, node_name);
  AssumedPod pod{.attempt = std::move(attempt),
                 .node_name = std::move(node_name),
                 .pre_bind = std::move(pre_flight.to_run)};
  if (pre_flight.status.code() == Code::kError) {
    Fail(std::move(pod), {.message = pre_flight.status.message()}, now);
    return;
  }
  // Tells others, such as cluster-autoscaler, where the pod is about to go, when that may take a
  // while.
  if (state_.features.nominated_node_name_for_expectation && (waits || pre_flight.status.ok())) {
    api::PodStatusChange change;
    change.nominated_node_name = pod.node_name;
    state_.writers.status_patcher.Patch(info->pod, std::move(change));
  }
  if (waits) state_.waiting_pods.Add(info, pod.node_name, std::move(permit.waits), now);
  const auto it = assumed_.insert_or_assign(info->pod->metadata.uid, std::move(pod)).first;
  AssumedPod& assumed = it->second;
  ReportAssignment(info->pod, assumed.node_name);
  if (!waits) StartBinding(assumed);
}

// From here on a failure cannot be "unschedulable" any more, so the pod needs no events.
void BindingCycles::StartBinding(AssumedPod& pod) {
  const std::string& uid = pod.attempt.uid();
  queue_.Done(uid);
  state_.writers.status_patcher.DropCondition(uid);
  if (state_.in_shadow) {
    EndInShadow(Take(assumed_.find(uid)));
    return;
  }
  const framework::PluginLists& plugins = pod.attempt.profile->plugins();
  binding::BindingCycle cycle{.pod = pod.attempt.info(),
                              .node_name = pod.node_name,
                              .state = std::move(pod.attempt.cycle.state),
                              .pre_bind = std::move(pod.pre_bind),
                              .extender = {},
                              .bind = {plugins.bind.begin(), plugins.bind.end()},
                              .post_bind = plugins.post_bind,
                              .time_plugins = pod.attempt.cycle.observe_plugins};
  if (state_.writers.extender_bind.IsInterested(*cycle.pod->pod)) {
    cycle.extender.plugin = &state_.writers.extender_bind;
    cycle.extender.name = extender::kExtenderName;
  }
  if (cycle.pre_bind.empty()) SetAwaitingBind(pod, true);
  if (state_.tape != nullptr && state_.tape->KeepBinding(cycle)) return;
  state_.writers.binder.Start(std::move(cycle));
}

void BindingCycles::HandlePreBindDone(std::string_view uid) {
  if (const auto it = assumed_.find(uid); it != assumed_.end()) SetAwaitingBind(it->second, true);
}

void BindingCycles::HandleUnconfirmed(std::string_view uid) {
  const auto it = assumed_.find(uid);
  if (it == assumed_.end()) return;
  it->second.unconfirmed = true;
  SetAwaitingBind(it->second, false);
}

void BindingCycles::SetAwaitingBind(AssumedPod& pod, bool awaiting) {
  if (std::exchange(pod.awaiting_bind, awaiting) == awaiting) return;
  if (awaiting) {
    ++awaiting_bind_;
  } else {
    --awaiting_bind_;
  }
}

BindingCycles::AssumedPod BindingCycles::Take(AssumedPods::iterator it) {
  SetAwaitingBind(it->second, false);
  AssumedPod pod = std::move(it->second);
  assumed_.erase(it);
  return pod;
}

// What a plugin does when one pod lost its place may end the wait of others.
void BindingCycles::HandlePermitOutcomes(Time now) {
  for (auto outcomes = state_.waiting_pods.TakeOutcomes(now); !outcomes.empty();
       outcomes = state_.waiting_pods.TakeOutcomes(now)) {
    for (framework::PermitOutcome& outcome : outcomes) HandlePermitOutcome(outcome, now);
  }
}

void BindingCycles::HandlePermitOutcome(framework::PermitOutcome& outcome, Time now) {
  const auto it = assumed_.find(outcome.uid);
  if (it == assumed_.end()) return;
  state_.observer.ObservePermitWait(outcome.code, outcome.waited);
  if (outcome.code == Code::kSuccess) {
    StartBinding(it->second);
    return;
  }
  Failure failure{.code = outcome.code};
  if (failure.rejected()) {
    const ReasonSet reasons{outcome.message};
    failure.message = engine::FitErrorMessage(Status(outcome.code, &reasons));
    // Of a pod that is being deleted no plugin: nothing wakes it.
    failure.unschedulable_plugins.push_back(outcome.plugin);
  } else {
    failure.message = "waiting on permit for pod: " + outcome.message;
  }
  Fail(Take(it), std::move(failure), now);
}

void BindingCycles::HandleOutcome(binding::BindOutcome&& outcome, Time now) {
  const auto it = assumed_.find(outcome.pod_uid);
  if (it == assumed_.end()) return;
  AssumedPod pod = Take(it);
  ObserveTimings(*pod.attempt.profile, outcome);
  if (outcome.status.ok()) {
    FinishBound(pod, now);
    return;
  }
  // Given up while stopping: whether it is bound is for the next process to see.
  if (outcome.unknown) return;
  pod.attempt.cycle.state = std::move(outcome.state);
  // No plugin is named: no event is recorded for the pod any more, so it backs off as after an
  // error.
  Fail(std::move(pod), {.code = outcome.status.code, .message = std::move(outcome.status.message)},
       now);
}

void BindingCycles::ObserveTimings(const framework::Profile& profile,
                                   const binding::BindOutcome& outcome) {
  for (const binding::BindingTiming& timing : outcome.timings) {
    const framework::ExtensionPoint point = PointOf(timing.stage);
    if (timing.plugin.empty()) {
      state_.observer.ObserveExtensionPoint(profile, point, timing.code, timing.duration);
    } else {
      state_.observer.ObservePlugin(timing.plugin, point, timing.code, timing.duration);
    }
  }
}

void BindingCycles::EndInShadow(AssumedPod pod) {
  Attempt& attempt = pod.attempt;
  base::LogV(2, "Would bind pod to node",
             {{"pod", attempt.pod().metadata.Key()}, {"node", pod.node_name}});
  state_.observer.ObserveAttempt(*attempt.profile, MetricsObserver::Result::kScheduled,
                                 state_.clock.Now() - attempt.start);
  UnreserveAndForget(state_, attempt, pod.node_name);
  ReportAssignment(attempt.info()->pod, "");
}

void BindingCycles::FinishBound(const AssumedPod& pod, Time now) {
  const queue::QueuedPod& queued = *pod.attempt.queued;
  const base::KeyText key(queued.pod().metadata);
  if (base::LogVerbosity() >= 2) {
    base::LogV(2, "Successfully bound pod to node",
               {{"pod", key.view()},
                {"node", pod.node_name},
                {"evaluatedNodes", pod.attempt.evaluated_nodes},
                {"feasibleNodes", pod.attempt.feasible_nodes}});
  }
  state_.observer.ObserveAttempt(*pod.attempt.profile, MetricsObserver::Result::kScheduled,
                                 state_.clock.Now() - pod.attempt.start);
  state_.metrics.Observe(attempts_series_, static_cast<double>(queued.attempts));
  if (queued.initial_attempt_timestamp) {
    state_.observer.ObservePodScheduled(queued.attempts, now - *queued.initial_attempt_timestamp);
  }
  if (queued.was_flushed_from_unschedulable) state_.metrics.Add(flushed_series_);
  pod.attempt.profile->handle().RecordEvent(
      queued.pod(), PodEventType::kNormal, "Scheduled", "Binding",
      base::Concat("Successfully assigned ", key.view(), " to ", pod.node_name), {});
}

// Releases what the pod held, wakes others with it, and requeues the pod. A rejected pod wakes
// the others last, and not itself: its own room would look like news to it.
void BindingCycles::Fail(AssumedPod pod, Failure failure, Time now) {
  Attempt& attempt = pod.attempt;
  const PodInfoPtr info = attempt.info();
  const std::string& uid = info->pod->metadata.uid;
  Unreserve(state_, attempt, pod.node_name);
  // A pod that went meanwhile gave its room back then, and only now what plugins reserved for it.
  const bool released = Forget(state_, info) || !state_.cluster.cache.FindPod(uid);
  ReportAssignment(info->pod, "");
  const ClusterEvent event{EventResource::kAssignedPod, action::kDelete};
  const bool rejected = failure.rejected();
  // What goes is the pod as it was assumed: hints look at the node that it leaves.
  const std::shared_ptr<const api::Pod> gone = PodOn(*info->pod, pod.node_name);
  if (released && !rejected) queue_.MoveAllToActiveOrBackoffQueue(event, gone, {}, now);
  failures_.Handle(std::move(attempt), std::move(failure), now);
  if (released && rejected) {
    queue_.MoveAllToActiveOrBackoffQueue(
        event, gone, {}, now, [&uid](const api::Pod& other) { return other.metadata.uid != uid; });
  }
}

std::optional<BindingCycles::View> BindingCycles::Find(std::string_view uid) const {
  const auto it = assumed_.find(uid);
  if (it == assumed_.end()) return std::nullopt;
  const AssumedPod& pod = it->second;
  View view{View::Step::kPreBind, pod.attempt.queued.get(), pod.node_name,
            state_.waiting_pods.Objectors(uid)};
  if (!view.objectors.empty()) {
    view.step = View::Step::kPermit;
  } else if (pod.unconfirmed) {
    view.step = View::Step::kUnconfirmed;
  } else if (pod.awaiting_bind) {
    view.step = View::Step::kBind;
  }
  return view;
}

void BindingCycles::WatchAssignments(AssignmentSink sink) {
  assignment_sink_ = std::move(sink);
  for (const auto& [uid, pod] : assumed_) ReportAssignment(pod.attempt.info()->pod, pod.node_name);
}

size_t BindingCycles::CountPodsOf(std::string_view scheduler_name) const {
  return static_cast<size_t>(
      std::count_if(assumed_.begin(), assumed_.end(), [scheduler_name](const auto& entry) {
        return entry.second.attempt.pod().spec.scheduler_name == scheduler_name;
      }));
}

}  // namespace berth::scheduler
