// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "berth/time.h"
#include "src/base/executor.h"

namespace berth::test {

// A clock that stands still until told otherwise. It starts at 2026-01-01T00:00:00Z.
class FakeClock final : public Clock {
 public:
  Time Now() const override { return now_; }
  Time WallNow() const override { return now_ + correction_; }
  // The machine's clock is set, by that much from Now().
  void Correct(Duration by) { correction_ = by; }
  void Advance(Duration by) { now_ += by; }
  void Set(Time now) { now_ = now; }

 private:
  Duration correction_{};
  Time now_ = std::chrono::sys_days(std::chrono::year(2026) / 1 / 1);
};

// Runs tasks when told to, on the caller's thread, by a FakeClock.
class FakeExecutor final : public base::Executor {
 public:
  explicit FakeExecutor(FakeClock& clock) : clock_(clock) {}

  void Post(Task task) override { PostAfter({}, std::move(task)); }
  TimerId PostAfter(Duration delay, Task task) override {
    const TimerId id = ++last_id_;
    due_.emplace(std::pair(clock_.Now() + delay, id), std::move(task));
    return id;
  }
  void Cancel(TimerId timer) override {
    std::erase_if(due_, [timer](const auto& entry) { return entry.first.second == timer; });
  }

  // Runs what is due now, and what that makes due.
  void RunDue() {
    while (!due_.empty() && due_.begin()->first.first <= clock_.Now()) {
      auto task = std::move(due_.begin()->second);
      due_.erase(due_.begin());
      task();
    }
  }
  // Moves the clock forward step by step, running what falls due on the way.
  void Advance(Duration by) {
    const Time end = clock_.Now() + by;
    RunDue();
    while (!due_.empty() && due_.begin()->first.first <= end) {
      clock_.Set(due_.begin()->first.first);
      RunDue();
    }
    clock_.Set(end);
  }

 private:
  FakeClock& clock_;
  std::map<std::pair<Time, TimerId>, Task> due_;
  TimerId last_id_ = 0;
};

}  // namespace berth::test
