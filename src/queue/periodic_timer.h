// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "berth/time.h"

namespace berth::queue {

// Ticks at `start` and every `period` after it; the tick of the present is over.
class PeriodicTimer {
 public:
  PeriodicTimer(Time start, Duration period, Time now)
      : start_(start), period_(period), next_(FirstAfter(now)) {}

  Time next() const { return next_; }
  // Whether a tick is due; if so, the next one is the first after `now`.
  bool Take(Time now) {
    if (now < next_) return false;
    next_ = FirstAfter(now);
    return true;
  }
  // The first tick after `time`.
  Time FirstAfter(Time time) const {
    if (time < start_) return start_;
    return start_ + ((time - start_) / period_ + 1) * period_;
  }

 private:
  Time start_;
  Duration period_;
  Time next_;
};

}  // namespace berth::queue
