// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>

#include "berth/time.h"

namespace berth::base {

// Runs tasks one after another on one thread, in the order they fall due.
//
// Thread safety: any thread; a task runs on the executor's own.
class Executor {
 public:
  using Task = std::function<void()>;
  using TimerId = uint64_t;

  virtual ~Executor() = default;
  // Runs `task` as soon as what was posted before has run; never inside Post().
  virtual void Post(Task task) = 0;
  // Runs `task` after `delay`, unless cancelled before.
  virtual TimerId PostAfter(Duration delay, Task task) = 0;
  // Does nothing when the timer has run or been cancelled.
  virtual void Cancel(TimerId timer) = 0;
};

}  // namespace berth::base
