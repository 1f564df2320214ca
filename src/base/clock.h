// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "berth/time.h"

namespace berth::base {

// Wall-clock time that never jumps: the monotonic clock, set to the wall clock at construction.
// Thread safety: any thread.
class RealClock final : public Clock {
 public:
  RealClock();
  Time Now() const override;

 private:
  Duration offset_;
};

// CPU time of the calling thread, for metrics.
Duration ThreadCpuTime();
// A seed from the operating system, for when none was given.
uint64_t RandomSeed();

}  // namespace berth::base
