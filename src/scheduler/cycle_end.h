// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "src/engine/engine.h"
#include "src/queue/scheduling_queue.h"
#include "src/scheduler/attempt.h"
#include "src/scheduler/binding_cycles.h"
#include "src/scheduler/failure_handler.h"
#include "src/scheduler/options.h"
#include "src/scheduler/profiles.h"
#include "src/scheduler/state.h"

namespace berth::scheduler {

// What the cycle of a pod and that of a pod group work with. All of it outlives them.
struct CycleParts {
  SchedulerState& state;
  const Profiles& profiles;
  queue::SchedulingQueue& queue;
  engine::Engine& engine;
  BindingCycles& binding_cycles;
  FailureHandler& failures;
};

// How every attempt at a pod leaves its scheduling cycle: to its binding cycle, or with a failure.
//
// Thread safety: the scheduling thread.
class CycleEnd {
 public:
  // Of the options it takes what hears of cycles.
  CycleEnd(const CycleParts& parts, const SchedulerOptions& options)
      : parts_(parts), on_cycle_(options.on_cycle) {}

  // Permit of a pod that is assumed and reserved on the node; then its binding cycle. A pod that is
  // not permitted is taken back and fails.
  void Bind(Attempt&& attempt, std::string&& node_name);
  // `tried_node` is where the pod would have gone, but for its pod group.
  void Fail(Attempt attempt, Failure failure, std::string_view tried_node = {});

 private:
  void Report(const CycleOutcome& outcome) const;

  const CycleParts parts_;
  const std::function<void(const CycleOutcome&)> on_cycle_;
};

}  // namespace berth::scheduler
