// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

#include "berth/time.h"

namespace berth::app {

// Keeps some work to a fiftieth of a thread's time: after work that took a while, more is allowed
// once 49 times that while has passed.
//
// Thread safety: one thread's.
class Pace {
 public:
  // The clock outlives the pace.
  explicit Pace(const Clock& clock) : clock_(clock) {}

  bool Allows() const { return clock_.Now() >= next_; }
  void Run(const std::function<void()>& work) {
    const Time began = clock_.Now();
    work();
    const Time ended = clock_.Now();
    next_ = ended + 49 * (ended - began);
  }

 private:
  const Clock& clock_;
  Time next_ = Time::min();
};

}  // namespace berth::app
