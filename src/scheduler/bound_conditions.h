// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "berth/api/pod.h"
#include "src/scheduler/profiles.h"
#include "src/scheduler/state.h"

namespace berth::scheduler {

// Puts right what bound pods say of themselves. The API server makes the condition PodScheduled
// True when it binds a pod; a condition of an earlier attempt that it writes after that makes the
// pod say Unschedulable or SchedulerError on its node: one that was on its way when the bind began,
// or one of a leader whose watch was behind the binds of the leader before.
//
// Goes by what the watch tells, so it does not matter who wrote the condition, or when. Pods of
// other schedulers and conditions for other reasons are left alone.
//
// Thread safety: the scheduling thread.
class BoundConditions {
 public:
  // Both must outlive it.
  BoundConditions(SchedulerState& state, const Profiles& profiles)
      : state_(state), profiles_(profiles) {}

  // The watch told of a pod that has a node. Writes nothing before this process leads.
  void Check(const std::shared_ptr<const api::Pod>& pod);
  // From now on this process leads: checks all pods that it knows.
  void BeginLeading();

 private:
  SchedulerState& state_;
  const Profiles& profiles_;
  bool leading_ = false;
};

}  // namespace berth::scheduler
