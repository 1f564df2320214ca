// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "berth/in_tree/async.h"
#include "berth/in_tree/claim_tracker.h"
#include "src/binding/binder.h"
#include "src/scheduler/messages.h"
#include "src/scheduler/options.h"

namespace berth::scheduler {

// Where all passes that a scheduler gets from outside, and all that it decides: what is written
// down so that the same can be replayed. One that records lets everything through; one that
// replays keeps what would go out, and answers from what was recorded.
//
//   BeginTurn  Take Take ...  [Decided ...] EndCycle  Take ...  [Decided ...] EndCycle  ...
//
// What arrives between two EndCycle() is applied in that order, at the time of the step, before the
// next cycle begins. The calls of a turn that has no cycle left are followed by the next BeginTurn.
//
// Thread safety: the scheduling thread, but for KeepPost(), which is called from any.
class Tape {
 public:
  virtual ~Tape() = default;

  // A turn begins: until the first cycle has ended, its time is `now`.
  virtual void BeginTurn(Time now, Time wall_now) = 0;
  // The message is applied next.
  virtual void Take(const Message& message) = 0;
  // A scheduling cycle begins.
  virtual void BeginCycle() {}
  // Within a cycle: one pod's attempt ended so.
  virtual void Decided(const CycleOutcome& outcome) = 0;
  // A scheduling cycle has ended. Returns the time of what follows: `now` where it records.
  virtual Time EndCycle(Time now) = 0;

  // Within a message: the profiles are replaced.
  virtual void Reloaded(const config::SchedulerConfiguration& next) = 0;
  // Within a message that cannot be repeated, since it is a function: what that changes.
  virtual void Activated(const std::vector<std::string>& pod_keys) = 0;
  virtual void ClaimAssumed(const ClaimPtr& claim) = 0;
  virtual void PendingClaimRemoved(std::string_view uid, ClaimTracker::Sharers sharers) = 0;

  // Whether the pod's PreBind could be called off, which another thread knows: ask() tells.
  virtual bool CancelPreBind(std::string_view uid, const std::function<bool()>& ask) = 0;

  // True: the tape keeps what was to go out.
  virtual bool KeepBinding(binding::BindingCycle& /*cycle*/) { return false; }
  virtual bool KeepEviction(const api::Pod& /*victim*/, AsyncDone& /*done*/) { return false; }
  virtual bool KeepPost(Query& /*query*/) { return false; }
};

}  // namespace berth::scheduler
