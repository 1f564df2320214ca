// SPDX-License-Identifier: Apache-2.0
#include "src/base/clock.h"

#include <time.h>

#include <chrono>
#include <random>

namespace berth::base {
namespace {

Duration Monotonic() { return std::chrono::steady_clock::now().time_since_epoch(); }

}  // namespace

RealClock::RealClock()
    : offset_(std::chrono::duration_cast<Duration>(
                  std::chrono::system_clock::now().time_since_epoch()) -
              Monotonic()) {}

Time RealClock::Now() const { return Time(Monotonic() + offset_); }

Duration ThreadCpuTime() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return std::chrono::seconds(now.tv_sec) + Duration(now.tv_nsec);
}

uint64_t RandomSeed() {
  std::random_device device;
  return (uint64_t{device()} << 32) | device();
}

}  // namespace berth::base
