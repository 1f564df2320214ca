// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "src/engine/engine.h"
#include "src/queue/scheduling_queue.h"
#include "src/scheduler/binding_cycles.h"
#include "src/scheduler/failure_handler.h"
#include "src/scheduler/options.h"
#include "src/scheduler/pod_group_attempt.h"
#include "src/scheduler/pod_group_trial.h"
#include "src/scheduler/profiles.h"
#include "src/scheduler/state.h"

namespace berth::scheduler {

// Decides the queued pods of one pod group together:
//
//   validate -> PodGroupTrial -> Permit of each placed pod -> BindingCycles
//      |             |                   |
//      +-------------+-------------------+--> FailureHandler: the pods that got no node
//                                        +--> the group's condition; what is left back to the queue
//
// Thread safety: the scheduling thread.
class PodGroupCycle {
 public:
  struct Parts {
    SchedulerState& state;
    const Profiles& profiles;
    queue::SchedulingQueue& queue;
    engine::Engine& engine;
    BindingCycles& binding_cycles;
    FailureHandler& failures;
  };
  // All parts must outlive the cycle. Of the options it takes what reports and times cycles.
  PodGroupCycle(const Parts& parts, const SchedulerOptions& options);

  // `popped` is a group, as the queue's Pop() returns it.
  void Schedule(std::unique_ptr<queue::QueuedPod> popped);

 private:
  PodGroupAttempt Begin(std::unique_ptr<queue::QueuedPod> popped);
  // Why the group cannot be tried at all.
  std::optional<std::string> Problem(const PodGroupAttempt& group) const;
  // Adds why no pods are preempted for the group.
  void AddPreemption(const PodGroupAttempt& group, GroupVerdict& verdict) const;
  // Takes out the pods that need no node any more.
  void DropSettled(PodGroupAttempt& group);
  void FailAll(PodGroupAttempt group, const std::string& error);

  // Hands each pod on to where its result, and that of the group, leads.
  void Submit(PodGroupAttempt group, const GroupVerdict& verdict);
  // A pod of a group that starts.
  void Commit(MemberAttempt member);
  // `untried_message`: what pods hear that were not tried.
  void FailMember(MemberAttempt member, const GroupVerdict& verdict,
                  const std::string& untried_message);
  void Fail(Attempt attempt, Failure failure);
  void Report(const Attempt& attempt, Code code, std::string_view node_name,
              std::string_view message) const;
  // The attempt is over: the group is told, and what came back of it waits for the next one.
  void End(PodGroupAttempt group, const GroupVerdict& verdict);

  const Parts parts_;
  SchedulerState& state_;
  PodGroupTrial trial_;
  const std::function<void(const CycleOutcome&)> on_cycle_;
};

}  // namespace berth::scheduler
