// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include "src/scheduler/attempt.h"
#include "src/scheduler/cycle_steps.h"
#include "src/scheduler/options.h"

namespace berth::scheduler {

// Decides one pod at a time:
//
//   Pop -> engine -> assume -> Reserve -> Permit -> BindingCycles
//            |          |         |         |
//            |          +---------+---------+--> taken back --+
//            +--> PostFilter ---------------------------------+--> FailureHandler
//
// All that one attempt is about travels in an Attempt. Pod groups have a cycle of their own,
// PodGroupCycle; the loop, which pops, chooses between them.
//
// Thread safety: the scheduling thread.
class SchedulingCycle {
 public:
  // Of the options it takes what reports and times cycles.
  SchedulingCycle(const CycleParts& parts, const SchedulerOptions& options);

  // Decides a pod that the queue has just returned, which is no group.
  void Schedule(std::unique_ptr<queue::QueuedPod> popped);

  // Attempts that failed as another pod of the class had.
  uint64_t num_reused_refusals() const { return num_reused_refusals_; }

 private:
  // nullopt: the pod needs no node any more.
  std::optional<Attempt> Begin(std::unique_ptr<queue::QueuedPod> queued);
  // Assume, Reserve and Permit; then the pod enters its binding cycle.
  void Commit(Attempt&& attempt, NodeRow node);
  // No node was found.
  void FailUndecided(Attempt attempt, const engine::Decision& decision);
  // Asks PostFilter for a way out, and lets the engine keep that there is none.
  engine::Refusal Refuse(Attempt& attempt);
  void CountPreemptionAttempts(const framework::Profile& profile);
  void EndDecision(Attempt& attempt);
  Duration Stopwatch() const { return stopwatch_ ? stopwatch_() : Duration(); }

  const CycleParts parts_;
  SchedulerState& state_;
  CycleEnd end_;
  const std::function<Duration()> stopwatch_;
  uint64_t num_reused_refusals_ = 0;
  const metrics::SeriesId algorithm_series_;
  const metrics::SeriesId reused_rejections_series_;
  const metrics::SeriesId reused_decisions_series_;
  const metrics::SeriesId preemption_attempts_series_;
};

}  // namespace berth::scheduler
