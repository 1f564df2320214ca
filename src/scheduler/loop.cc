// SPDX-License-Identifier: Apache-2.0
#include "src/scheduler/loop.h"

#include <algorithm>
#include <string>
#include <utility>

#include "src/base/logging.h"

namespace berth::scheduler {
namespace {

using metrics::Metric;

constexpr Duration kPublishInterval = std::chrono::seconds(1);
// Kept answers of a class go when none of its pods was decided for ten of these.
constexpr Duration kAgeInterval = std::chrono::minutes(1);

}  // namespace

Loop::Series::Series(metrics::LocalMetrics& metrics)
    : inbox_depth(metrics.Series(Metric::kInboxDepth)),
      turns(metrics.Series(Metric::kLoopTurns)),
      turn_duration(metrics.Series(Metric::kLoopTurnDuration)),
      binding(metrics.Series(Metric::kGoroutines, {"binding"})),
      nodes(metrics.Series(Metric::kCacheSize, {"nodes"})),
      pods(metrics.Series(Metric::kCacheSize, {"pods"})),
      assumed_pods(metrics.Series(Metric::kCacheSize, {"assumed_pods"})),
      dropped_events(metrics.Series(Metric::kDroppedEvents)) {}

Loop::Loop(const Parts& parts, bool leading)
    : parts_(parts),
      state_(parts.state),
      published_(state_.step_clock.Now()),
      aged_(published_),
      background_due_(published_),
      last_turn_(published_),
      series_(state_.metrics) {
  if (leading) BeginLeading();
}

void Loop::BeginLeading() {
  leading_ = true;
  parts_.handlers.BeginLeading();
}

void Loop::Run() {
  state_.owner.Release();
  state_.cluster.cache.ReleaseThread();
  while (!stopped_) {
    const std::optional<Time> due = Turn(state_.clock.Now());
    if (stopped_) break;
    std::optional<Duration> timeout;
    if (due) timeout = std::max(*due - state_.clock.Now(), Duration::zero());
    state_.inbox.Drain(arrived_, timeout);
  }
  PublishMetrics(state_.clock.Now());
}

std::optional<Time> Loop::Turn(Time now) {
  BERTH_ON_THREAD(state_.owner);
  Time looked = state_.clock.Now();
  BeginTurn(now);
  last_turn_.store(now, std::memory_order_relaxed);
  if (now - aged_ >= kAgeInterval) {
    aged_ = now;
    parts_.engine.AgeKept();
    state_.unfinished.Age();
  }
  state_.metrics.Set(series_.inbox_depth, static_cast<double>(arrived_.size()));
  ApplyArrived(now);
  bool activated = false;
  for (;;) {
    state_.inbox.Drain(arrived_, Duration::zero());
    ApplyArrived(now);
    parts_.queue.Tick(now);
    state_.waiting_pods.Expire(now);
    state_.object_waits.Expire(now);
    state_.held_places.Expire(now);
    parts_.binding_cycles.HandlePermitOutcomes(now);
    for (const auto& nomination : state_.cluster.nominator.TakeEnded()) {
      parts_.handlers.HandleEnded(nomination, now);
    }
    // A pod that is activated at once after each try may wait for what happens between turns.
    if (ActivatePods(now) && std::exchange(activated, true)) break;
    if (stopped_ || !MayDecide()) break;
    now = RunCycle();
    ShowProgress(now);
    looked = CountTurn(looked);
  }
  state_.step_clock.End();
  ShowProgress(state_.clock.Now());
  CountTurn(looked);
  if (!stopped_ && MayDecide()) return now;
  return NextWakeup(now);
}

Time Loop::CountTurn(Time looked) {
  const Time ended = state_.clock.Now();
  state_.metrics.Add(series_.turns);
  state_.metrics.Observe(series_.turn_duration, ended - looked);
  return ended;
}

void Loop::BeginTurn(Time now) {
  const Time wall_now = now + (state_.clock.WallNow() - state_.clock.Now());
  state_.step_clock.Begin(now, wall_now);
  if (state_.tape != nullptr) state_.tape->BeginTurn(now, wall_now);
}

void Loop::DecideNext() {
  std::unique_ptr<queue::QueuedPod> popped = parts_.queue.Pop();
  if (popped == nullptr) return;
  if (popped->group == nullptr) {
    parts_.scheduling_cycle.Schedule(std::move(popped));
  } else {
    parts_.pod_group_cycle.Schedule(std::move(popped));
  }
}

Time Loop::RunCycle() {
  if (state_.tape != nullptr) state_.tape->BeginCycle();
  state_.in_cycle = true;
  DecideNext();
  state_.in_cycle = false;
  for (const auto& work : std::exchange(state_.after_cycle, {})) work();
  Time now = state_.clock.Now();
  if (state_.tape != nullptr) now = state_.tape->EndCycle(now);
  state_.step_clock.Set(now);
  return now;
}

void Loop::ApplyArrived(Time now) {
  for (Message& message : arrived_) {
    Apply(message, now);
    ShowProgress(state_.clock.Now());
  }
  arrived_.clear();
}

void Loop::Apply(Message& message, Time now) {
  Dispatch(message, now);
  // A label that nothing tested before may tell parked pods apart.
  if (const uint32_t epoch = state_.cluster.cache.class_epoch(); epoch != grouped_by_) {
    grouped_by_ = epoch;
    parts_.queue.Regroup();
  }
}

void Loop::Dispatch(Message& message, Time now) {
  if (state_.tape != nullptr) state_.tape->Take(message);
  if (auto* event = std::get_if<informers::InformerEvent>(&message)) {
    if (parts_.shadow_watch != nullptr) parts_.shadow_watch->Before(*event, now);
    parts_.handlers.Handle(*event, now);
    // Which class stands for a resource says on which nodes pods may ask for it.
    if (event->kind == informers::Kind::kDeviceClass) parts_.engine.ForgetKept();
  } else if (auto* outcome = std::get_if<binding::BindOutcome>(&message)) {
    parts_.binding_cycles.HandleOutcome(std::move(*outcome), now);
  } else if (auto* pre_bind = std::get_if<PreBindDone>(&message)) {
    parts_.binding_cycles.HandlePreBindDone(pre_bind->pod_uid);
  } else if (auto* unconfirmed = std::get_if<BindUnconfirmed>(&message)) {
    parts_.binding_cycles.HandleUnconfirmed(unconfirmed->pod_uid);
  } else if (auto* stop = std::get_if<StopRequested>(&message)) {
    Stop(*stop);
  } else if (auto* closed = std::get_if<BinderClosed>(&message)) {
    if (closed->given_up > 0) {
      base::LogWarning("Bindings were given up without an answer", {{"pods", closed->given_up}});
    }
    stopped_ = true;
  } else if (auto* leading = std::get_if<LeadingBegan>(&message)) {
    state_.unfinished.Inherit(leading->unfinished_uids);
    BeginLeading();
  } else if (auto* reload = std::get_if<ReloadRequested>(&message)) {
    reload->done(Reload(*reload->next));
  } else if (auto* activated = std::get_if<PodsActivated>(&message)) {
    state_.Activate(activated->pod_keys);
  } else if (auto* written = std::get_if<ClaimWritten>(&message)) {
    (void)state_.cluster.claims.Assume(std::move(written->claim));
  } else if (auto* settled = std::get_if<ClaimsSettled>(&message)) {
    for (const std::string& uid : settled->uids) {
      state_.cluster.claims.RemovePending(uid, ClaimTracker::Sharers::kAll);
    }
  } else if (auto* stored = std::get_if<VolumeWritten>(&message)) {
    state_.cluster.assumed_volumes.NoteWritten(*stored);
  } else if (auto* answered = std::get_if<EvictionAnswered>(&message)) {
    parts_.profiles.TakeAnswer(*answered);
  } else if (auto* measured = std::get_if<NodesMeasured>(&message)) {
    state_.cluster.node_metrics.Take(*measured);
    parts_.queue.MoveAllToActiveOrBackoffQueue({EventResource::kNodeMetrics, action::kUpdate}, {},
                                               {}, now);
  } else if (auto* query = std::get_if<Query>(&message)) {
    state_.in_query = true;
    query->run();
    state_.in_query = false;
  }
}

Result<void> Loop::Reload(const config::SchedulerConfiguration& next) {
  const auto replaced =
      parts_.profiles.Replace(next, [this](std::string_view name) { return CountPodsOf(name); });
  if (!replaced) return Fail(replaced.error());
  if (!*replaced) return {};
  parts_.engine.ForgetKept();
  state_.cluster.cache.SetSignatureParts(parts_.profiles.signature_parts(),
                                         parts_.profiles.tested_label_keys());
  parts_.queue.ReplaceHints(parts_.profiles.Hints(), state_.step_clock.Now());
  if (state_.watch_node_metrics) state_.watch_node_metrics(parts_.profiles.node_metrics_sources());
  return {};
}

size_t Loop::CountPodsOf(std::string_view scheduler_name) const {
  size_t count = parts_.binding_cycles.CountPodsOf(scheduler_name);
  for (const auto& pending : parts_.queue.PendingPods()) {
    count += pending.pod->pod().spec.scheduler_name == scheduler_name ? 1 : 0;
  }
  return count;
}

void Loop::Stop(const StopRequested& request) {
  if (std::exchange(stopping_, true)) return;
  const size_t bindings = parts_.binding_cycles.size() - state_.waiting_pods.size();
  base::LogInfo("Stopping", {{"bindings", bindings}});
  state_.writers.binder.Close(
      request.patience, [&state = state_](size_t given_up) { state.Post(BinderClosed{given_up}); });
}

bool Loop::ActivatePods(Time now) {
  if (state_.pods_to_activate.empty()) return false;
  parts_.queue.Activate(std::exchange(state_.pods_to_activate, {}), now);
  return true;
}

bool Loop::MayDecide() const {
  return leading_ && !stopping_ && parts_.handlers.synced() && parts_.binding_cycles.HasRoom() &&
         parts_.queue.HasReady();
}

std::optional<Time> Loop::NextWakeup(Time now) const {
  Time next = now + kPublishInterval;
  for (const std::optional<Time>& due :
       {parts_.queue.NextWakeup(), state_.waiting_pods.NextExpiry(),
        state_.object_waits.NextExpiry(), state_.held_places.NextExpiry()}) {
    if (due) next = std::min(next, *due);
  }
  if (parts_.background != nullptr && parts_.handlers.synced()) {
    next = std::min(next, background_due_);
  }
  return next;
}

// A turn may take as long as there is work: who looks from outside sees how it goes all the same.
void Loop::ShowProgress(Time now) {
  last_turn_.store(now, std::memory_order_relaxed);
  has_synced_.store(parts_.handlers.synced(), std::memory_order_relaxed);
  WorkInBackground(now);
  if (now - published_ >= kPublishInterval) PublishMetrics(now);
}

void Loop::WorkInBackground(Time now) {
  if (parts_.background == nullptr || now < background_due_ || !parts_.handlers.synced()) return;
  background_due_ = parts_.background->Work(state_.cluster.cache, state_.cluster.pods, now);
}

void Loop::PublishMetrics(Time now) {
  published_ = now;
  // A standby's queue is not what waits: the leader has tried and parked some of it.
  if (leading_) parts_.queue.UpdateGauges();
  metrics::LocalMetrics& metrics = state_.metrics;
  metrics.Set(series_.nodes, static_cast<double>(state_.cluster.cache.num_node_names()));
  metrics.Set(series_.pods, static_cast<double>(state_.cluster.cache.num_pods()));
  metrics.Set(series_.assumed_pods, static_cast<double>(state_.cluster.cache.num_assumed()));
  metrics.Set(series_.binding, static_cast<double>(parts_.binding_cycles.size()));
  const uint64_t dropped = state_.writers.events.counts().dropped;
  metrics.Add(series_.dropped_events, static_cast<double>(dropped - dropped_events_));
  dropped_events_ = dropped;
  metrics.Publish();
}

}  // namespace berth::scheduler
