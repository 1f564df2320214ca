// SPDX-License-Identifier: Apache-2.0
#include "src/base/clock.h"

#include <time.h>

#include <random>

namespace berth::base {
namespace {

Duration Read(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return std::chrono::seconds(now.tv_sec) + Duration(now.tv_nsec);
}

}  // namespace

RealClock::RealClock() : offset_(Read(CLOCK_REALTIME) - Read(CLOCK_BOOTTIME)) {}

Time RealClock::Now() const { return Time(Read(CLOCK_BOOTTIME) + offset_); }

Time RealClock::WallNow() const { return Time(Read(CLOCK_REALTIME)); }

Duration ThreadCpuTime() { return Read(CLOCK_THREAD_CPUTIME_ID); }

uint64_t RandomSeed() {
  std::random_device device;
  return (uint64_t{device()} << 32) | device();
}

}  // namespace berth::base
