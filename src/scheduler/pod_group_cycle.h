// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "src/engine/pod_group_preview.h"
#include "src/queue/queued_pod.h"
#include "src/scheduler/composite_trial.h"
#include "src/scheduler/cycle_end.h"
#include "src/scheduler/options.h"
#include "src/scheduler/pod_group_preview.h"
#include "src/scheduler/pod_group_tree.h"

namespace berth::scheduler {

// Decides the queued pods of one pod group together, or those of all groups below a composite one:
//
//   validate -> CompositeTrial -> Permit of each placed pod -> BindingCycles
//      |              |                   |
//      +--------------+-------------------+--> FailureHandler: the pods that got no node
//                                         +--> the pod groups' conditions; what is left back to
//                                              the queue
//
// Composite groups have no condition, as in kube-scheduler.
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
  PodGroupTree Begin(std::unique_ptr<queue::QueuedPod> popped);
  // Why the group cannot be tried at all.
  std::optional<std::string> Problem(PodGroupTree& tree) const;
  // What is known before room is made for a tree that did not fit, or started.
  void Decide(PodGroupTree& tree);
  // Asks the PodGroupPostFilter plugins to make room, and adds what they say.
  void MakeRoom(PodGroupTree& tree);
  // Takes out the pods that need no node any more.
  void DropSettled(PodGroupTree& tree);
  void FailAll(PodGroupTree tree, const std::string& error);

  // Hands each pod on to where its result, and that of its group, leads.
  void Submit(PodGroupTree tree);
  void FailMember(MemberAttempt& member, const PodGroupTree& tree,
                  const PodGroupTree::Group& group);
  // The pod group is told what came of it.
  void Tell(const PodGroupTree& tree, const PodGroupTree::Group& group);
  // The attempt is over: what came back of it waits for the next one.
  void End(PodGroupTree tree);

  const CycleParts parts_;
  SchedulerState& state_;
  CompositeTrial trial_;
  CycleEnd end_;
  const metrics::SeriesId algorithm_series_;
  const std::function<void(const PodGroupOutcome&)> on_pod_group_;
};

}  // namespace berth::scheduler
