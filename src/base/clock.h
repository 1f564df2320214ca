// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

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

}  // namespace berth::base
