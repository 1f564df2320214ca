// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>

#include "src/engine/engine.h"
#include "src/queue/scheduling_queue.h"
#include "src/scheduler/attempt.h"
#include "src/scheduler/binding_cycles.h"
#include "src/scheduler/failure_handler.h"
#include "src/scheduler/options.h"
#include "src/scheduler/pod_group_cycle.h"
#include "src/scheduler/profiles.h"
#include "src/scheduler/state.h"

namespace berth::scheduler {

// Decides one pod at a time:
//
//   Pop -> engine -> assume -> Reserve -> Permit -> BindingCycles
//            |          |         |         |
//            |          +---------+---------+--> taken back --+
//            +--> PostFilter ---------------------------------+--> FailureHandler
//
// All that one attempt is about travels in an Attempt. What Pop returns may be a pod group, which
// is the PodGroupCycle's.
//
// Thread safety: the scheduling thread.
class SchedulingCycle {
 public:
  struct Parts {
    SchedulerState& state;
    const Profiles& profiles;
    queue::SchedulingQueue& queue;
    engine::Engine& engine;
    BindingCycles& binding_cycles;
    FailureHandler& failures;
    PodGroupCycle& pod_group_cycle;
  };
  // All parts must outlive the cycle. Of the options it takes what reports and times cycles.
  SchedulingCycle(const Parts& parts, const SchedulerOptions& options);

  // Takes the next pod, or pod group, from the queue and decides it, if there is one.
  void ScheduleOne();

  // Attempts that failed as another pod of the class had.
  uint64_t num_reused_refusals() const { return num_reused_refusals_; }

 private:
  // nullopt: the pod needs no node any more.
  std::optional<Attempt> Begin(std::unique_ptr<queue::QueuedPod> queued);
  // Assume, Reserve and Permit; then the pod enters its binding cycle.
  void Commit(Attempt attempt, NodeRow node);
  // No node was found.
  void FailUndecided(Attempt attempt, const engine::Decision& decision);
  // Asks PostFilter for a way out, and lets the engine keep that there is none.
  engine::Refusal Refuse(Attempt& attempt);
  void Fail(Attempt attempt, Failure failure);
  void EndDecision(Attempt& attempt);
  void Report(const Attempt& attempt, Code code, std::string_view node_name,
              std::string_view message) const;
  Duration Stopwatch() const { return stopwatch_ ? stopwatch_() : Duration(); }

  const Parts parts_;
  SchedulerState& state_;
  const std::function<void(const CycleOutcome&)> on_cycle_;
  const std::function<Duration()> stopwatch_;
  uint64_t num_reused_refusals_ = 0;
  const metrics::SeriesId algorithm_series_;
  const metrics::SeriesId reused_rejections_series_;
  const metrics::SeriesId reused_decisions_series_;
};

}  // namespace berth::scheduler
