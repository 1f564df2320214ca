// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "src/engine/pod_group_preview.h"
#include "src/queue/queued_pod.h"
#include "src/scheduler/cycle_steps.h"
#include "src/scheduler/options.h"
#include "src/scheduler/pod_groups/composite_trial.h"
#include "src/scheduler/pod_groups/pod_group_tree.h"
#include "src/scheduler/profiles.h"
#include "src/scheduler/state.h"

namespace berth::scheduler {

// Why the group cannot be tried without effects; "": it can.
std::string WhyNotTried(const SchedulerState& state, PodGroupTree& tree);

// The group of that pod, and an attempt at all pods of its tree that wait and may be tried; nullopt
// where the pod belongs to no group. A tree without a root's object cannot be tried.
struct PreviewAttempt {
  engine::PodGroupPreview preview;
  PodGroupTree tree;
};
std::optional<PreviewAttempt> BeginPreview(SchedulerState& state, const Profiles& profiles,
                                           const api::Pod& pod);
// What the attempt came to, once it has been tried.
engine::PodGroupPreview EndPreview(PreviewAttempt tried, const GroupVerdict& verdict);

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
  // Whether a member was being tried when an earlier process ended, and others are to go first.
  bool Defers(PodGroupTree& tree);
  void Decide(PodGroupTree& tree);
  // Asks the PodGroupPostFilter plugins to make room, and adds what they say.
  void MakeRoom(PodGroupTree& tree);
  // Takes out the pods that need no node any more.
  void DropSettled(PodGroupTree& tree);
  void FailAll(PodGroupTree tree, const std::string& error);

  // Asks Permit, and hands each pod on to where its result, and that of its group, leads.
  void Submit(PodGroupTree tree);
  // Asks Permit about the placed pods of groups that start. Those that are refused are placed no
  // more.
  void AskPermits(PodGroupTree& tree);
  // Begins the binding cycle of a pod that Permit has let pass. False: it has come back already.
  bool Commit(MemberAttempt& member);
  void FailMember(MemberAttempt& member, const PodGroupTree& tree,
                  const PodGroupTree::Group& group);
  // Writes to the pod group what came of it.
  void WriteCondition(const PodGroupTree& tree, const PodGroupTree::Group& group);
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
