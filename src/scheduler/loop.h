// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "src/engine/engine.h"
#include "src/queue/scheduling_queue.h"
#include "src/scheduler/background_work.h"
#include "src/scheduler/binding_cycles.h"
#include "src/scheduler/event_handlers.h"
#include "src/scheduler/messages.h"
#include "src/scheduler/pod_groups/pod_group_cycle.h"
#include "src/scheduler/profiles.h"
#include "src/scheduler/scheduling_cycle.h"
#include "src/scheduler/shadow.h"
#include "src/scheduler/state.h"

namespace berth::scheduler {

// What the scheduling thread does: applies the messages that have arrived, lets the queue and the
// waiting pods have their timers, and decides one pod after the other, taking in what arrives
// meanwhile. When no pod is ready, or none may be decided, it sleeps until the next message or
// timer.
//
// Thread safety: last_turn() and has_synced() from any thread; all else on the scheduling thread.
class Loop {
 public:
  struct Parts {
    SchedulerState& state;
    queue::SchedulingQueue& queue;
    engine::Engine& engine;
    Profiles& profiles;
    EventHandlers& handlers;
    SchedulingCycle& scheduling_cycle;
    PodGroupCycle& pod_group_cycle;
    BindingCycles& binding_cycles;
    ShadowWatch* shadow_watch;   // nullptr: it decides in no other scheduler's shadow
    BackgroundWork* background;  // nullptr: there is none
  };
  // All parts must outlive the loop. `leading` off: no cycle begins before LeadingBegan arrives.
  Loop(const Parts& parts, bool leading);

  // Turns until stopped.
  void Run();
  // Turns, at `now` first, until no pod may be decided. Each turn takes in the messages that have
  // come, and decides one pod. Returns when the next is due without a message.
  std::optional<Time> Turn(Time now);
  bool stopped() const { return stopped_; }

  // When the loop last showed a sign of life.
  Time last_turn() const { return last_turn_.load(std::memory_order_relaxed); }
  // Whether all that was there at the start has been taken in.
  bool has_synced() const { return has_synced_.load(std::memory_order_relaxed); }

 private:
  void BeginTurn(Time now);
  // A turn ends that began when messages were `looked` for. Returns when.
  Time CountTurn(Time looked);
  // Returns the time when it has ended.
  Time RunCycle();
  // Takes the next pod, or pod group, from the queue and has its cycle decide it, if there is one.
  void DecideNext();
  void ApplyArrived(Time now);
  void Apply(Message& message, Time now);
  void Dispatch(Message& message, Time now);
  void BeginLeading();
  Result<void> Reload(const config::SchedulerConfiguration& next);
  // Pods in the queue or in binding cycles.
  size_t CountPodsOf(std::string_view scheduler_name) const;
  void Stop(const StopRequested& request);
  // Whether there were any.
  bool ActivatePods(Time now);
  bool MayDecide() const;
  std::optional<Time> NextWakeup(Time now) const;
  void ShowProgress(Time now);
  void PublishMetrics(Time now);
  void WorkInBackground(Time now);

  const Parts parts_;
  SchedulerState& state_;
  bool leading_ = false;
  bool stopping_ = false;
  bool stopped_ = false;
  std::vector<Message> arrived_;
  uint32_t grouped_by_ = 0;  // the cache's class epoch by which pods are parked
  Time published_;
  Time aged_;  // when what the engine keeps was aged last
  Time background_due_;
  uint64_t dropped_events_ = 0;
  std::atomic<Time> last_turn_;
  std::atomic<bool> has_synced_{false};

  struct Series {
    explicit Series(metrics::LocalMetrics& metrics);
    metrics::SeriesId inbox_depth;
    metrics::SeriesId turns;
    metrics::SeriesId turn_duration;
    metrics::SeriesId binding;
    metrics::SeriesId nodes;
    metrics::SeriesId pods;
    metrics::SeriesId assumed_pods;
    metrics::SeriesId dropped_events;
  };
  const Series series_;
};

}  // namespace berth::scheduler
