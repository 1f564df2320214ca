// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <thread>

#include "berth/time.h"

namespace berth::base {

// The machine's clocks. Now() is CLOCK_BOOTTIME, set to UTC at construction: it counts the time
// that the machine was suspended, so that what has expired meanwhile is known to have.
//
// Thread safety: any thread.
class RealClock final : public Clock {
 public:
  RealClock();
  Time Now() const override;
  Time WallNow() const override;

 private:
  Duration offset_;
};

// CPU time of the calling thread, for metrics.
Duration ThreadCpuTime();
// A seed from the operating system, for when none was given.
uint64_t RandomSeed();

// A clock that stands still for one thread while that takes a step: whatever the thread does within
// the step, it sees one time, which can be written down and given again. For all other threads, and
// between steps, it is the clock underneath.
//
// Thread safety: Now() and WallNow() from any thread; the rest from the thread that takes steps.
class StepClock final : public Clock {
 public:
  // `clock` must outlive it.
  explicit StepClock(const Clock& clock) : clock_(clock) {}

  // The calling thread is the one that takes steps, until End().
  void Begin(Time now, Time wall_now) {
    now_ = now;
    ahead_ = wall_now - now;
    stepping_.store(std::this_thread::get_id(), std::memory_order_relaxed);
  }
  // The next step, at `now`.
  void Set(Time now) { now_ = now; }
  void End() { stepping_.store(std::thread::id(), std::memory_order_relaxed); }

  Time Now() const override { return OnStep() ? now_ : clock_.Now(); }
  Time WallNow() const override { return OnStep() ? now_ + ahead_ : clock_.WallNow(); }

  // Whether the calling thread is within a step. No other thread can find its own id there, so it
  // does not matter when it sees what the stepping one wrote.
  bool OnStep() const {
    return stepping_.load(std::memory_order_relaxed) == std::this_thread::get_id();
  }

 private:
  const Clock& clock_;
  std::atomic<std::thread::id> stepping_;
  Time now_;
  Duration ahead_{};  // of the wall clock
};

}  // namespace berth::base
