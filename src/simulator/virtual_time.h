// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "berth/time.h"
#include "src/base/clock.h"
#include "src/base/executor.h"

namespace berth::simulator {

// A clock that stands still until it is set, but for when it is told to run with the machine's.
//
// Thread safety: one owner.
class VirtualClock final : public Clock {
 public:
  explicit VirtualClock(Time start) : now_(start) {}

  Time Now() const override {
    return running_since_ ? now_ + (machine_.Now() - *running_since_) : now_;
  }
  void Set(Time now) { now_ = now; }

  // From now on time passes as it does for the machine; Halt() lets it stand still again.
  void Run() { running_since_ = machine_.Now(); }
  void Halt() {
    now_ = Now();
    running_since_.reset();
  }

 private:
  base::RealClock machine_;
  Time now_;
  std::optional<Time> running_since_;  // by the machine's clock
};

// Runs tasks when told to, on the caller's thread, by a virtual clock.
//
// Thread safety: one owner.
class VirtualExecutor final : public base::Executor {
 public:
  // `clock` must outlive the executor.
  explicit VirtualExecutor(const Clock& clock) : clock_(clock) {}

  void Post(Task task) override;
  TimerId PostAfter(Duration delay, Task task) override;
  void Cancel(TimerId timer) override;

  // Runs what is due now, and what that makes due. False: nothing was.
  bool RunDue();
  // When the next task falls due.
  std::optional<Time> NextDue() const;

 private:
  const Clock& clock_;
  std::map<std::pair<Time, TimerId>, Task> due_;
  absl::flat_hash_map<TimerId, Time> timers_;  // those that may be cancelled
  TimerId last_id_ = 0;
};

}  // namespace berth::simulator
