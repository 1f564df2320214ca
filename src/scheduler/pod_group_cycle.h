// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "src/engine/pod_group_preview.h"
#include "src/queue/queued_pod.h"
#include "src/scheduler/cycle_end.h"
#include "src/scheduler/options.h"
#include "src/scheduler/pod_group_attempt.h"
#include "src/scheduler/pod_group_preview.h"
#include "src/scheduler/pod_group_trial.h"

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
  // Of the options it takes what reports and times cycles.
  PodGroupCycle(const CycleParts& parts, const SchedulerOptions& options);

  // `popped` is a group, as the queue's Pop() returns it.
  void Schedule(std::unique_ptr<queue::QueuedPod> popped);
  // What would become of the group of that pod, which waits, without evictions; nullopt where it
  // has none. Later decisions are the same.
  std::optional<engine::PodGroupPreview> Preview(const api::Pod& pod, Effects effects);

 private:
  PodGroupAttempt Begin(std::unique_ptr<queue::QueuedPod> popped);
  // Why the group cannot be tried at all.
  std::optional<std::string> Problem(const PodGroupAttempt& group) const;
  // Asks the PodGroupPostFilter plugins to make room, and adds what they say.
  void MakeRoom(PodGroupAttempt& group, GroupVerdict& verdict);
  // Takes out the pods that need no node any more.
  void DropSettled(PodGroupAttempt& group);
  void FailAll(PodGroupAttempt group, const std::string& error);

  // Hands each pod on to where its result, and that of the group, leads.
  void Submit(PodGroupAttempt group, const GroupVerdict& verdict);
  void FailMember(MemberAttempt& member, const PodGroupAttempt& group, const GroupVerdict& verdict);
  // The attempt is over: the group is told, and what came back of it waits for the next one.
  void End(PodGroupAttempt group, const GroupVerdict& verdict);

  const CycleParts parts_;
  SchedulerState& state_;
  PodGroupTrial trial_;
  CycleEnd end_;
  const metrics::SeriesId algorithm_series_;
  const std::function<void(const PodGroupOutcome&)> on_pod_group_;
};

}  // namespace berth::scheduler
