// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <map>
#include <optional>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "berth/time.h"
#include "src/base/clock.h"
#include "src/base/executor.h"

namespace berth::base {

// A clock that stands still until it is set, unless it runs with the machine's.
//
// Thread safety: one owner.
class VirtualClock final : public Clock {
 public:
  // At 2026-01-01T00:00:00Z.
  VirtualClock() : VirtualClock(std::chrono::sys_days(std::chrono::year(2026) / 1 / 1)) {}
  explicit VirtualClock(Time start) : now_(start) {}

  Time Now() const override {
    return running_since_ ? now_ + (machine_.Now() - *running_since_) : now_;
  }
  Time WallNow() const override { return Now() + correction_; }

  void Set(Time now) { now_ = now; }
  void Advance(Duration by) { now_ += by; }
  // The wall clock is set, by that much from Now().
  void Correct(Duration by) { correction_ = by; }

  // From now on time passes as it does for the machine; Halt() lets it stand still again.
  void Run() { running_since_ = machine_.Now(); }
  void Halt() {
    now_ = Now();
    running_since_.reset();
  }

 private:
  RealClock machine_;
  Time now_;
  Duration correction_{};
  std::optional<Time> running_since_;  // by the machine's clock
};

// Runs tasks when its caller says so, on that thread, by a virtual clock.
//
// Thread safety: one owner.
class VirtualExecutor final : public Executor {
 public:
  // `clock` must outlive the executor.
  explicit VirtualExecutor(VirtualClock& clock) : clock_(clock) {}

  void Post(Task task) override;
  TimerId PostAfter(Duration delay, Task task) override;
  void Cancel(TimerId timer) override;

  // Runs what is due now, and what that makes due. False: nothing was.
  bool RunDue();
  // Moves the clock forward, from one due time to the next, running what falls due on the way.
  void Advance(Duration by);
  // When the next task falls due.
  std::optional<Time> NextDue() const;

 private:
  // Tasks run in this order.
  using Due = std::pair<Time, TimerId>;

  // Takes out the first task that is due; empty where none is.
  Task TakeDue();

  VirtualClock& clock_;
  // What was posted, in order: time does not go back. What falls due at another time is a timer.
  std::deque<std::pair<Due, Task>> posted_;
  std::map<Due, Task> timers_;
  absl::flat_hash_map<TimerId, Time> cancellable_;
  TimerId last_id_ = 0;
};

}  // namespace berth::base
