// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>

namespace berth {

using Duration = std::chrono::nanoseconds;
// UTC. Decisions are made on the clock value of the loop turn, never on a fresh reading.
using Time = std::chrono::sys_time<std::chrono::nanoseconds>;

// Where the time comes from. Thread safety: any thread.
class Clock {
 public:
  virtual ~Clock() = default;
  // Never jumps, and goes on while the machine sleeps: for waits, ages and deadlines. How far it is
  // from UTC may change with each correction of the machine's clock.
  virtual Time Now() const = 0;
  // UTC as the machine knows it now; may jump. For what others read or wrote: stamps, expiry,
  // start times. Never subtracted from Now().
  virtual Time WallNow() const { return Now(); }
};

}  // namespace berth
