// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string_view>

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
// Thread safety: the scheduling thread, but for replays(), which is for any.
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

  // Whether the pod's PreBind could be called off, which another thread knows: ask() tells.
  virtual bool CancelPreBind(std::string_view uid, const std::function<bool()>& ask) = 0;

  // Whether all messages come from a recording: what the scheduler's parts post is dropped then.
  virtual bool replays() const { return false; }
  // True: the tape keeps what was to go out.
  virtual bool KeepBinding(binding::BindingCycle& /*cycle*/) { return false; }
};

}  // namespace berth::scheduler
