// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>

namespace berth {

using Duration = std::chrono::nanoseconds;
// UTC. Decisions are made on the clock value of the loop turn, never on a fresh reading.
using Time = std::chrono::sys_time<std::chrono::nanoseconds>;

// Where the time comes from. Thread safety: Now() may be called from any thread.
class Clock {
 public:
  virtual ~Clock() = default;
  virtual Time Now() const = 0;
};

}  // namespace berth
