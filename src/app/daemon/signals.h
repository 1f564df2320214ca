// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "berth/time.h"

namespace berth::app {

// Turns the process's signals into values that one thread waits for.
//
// SIGINT, SIGTERM and SIGUSR2 are blocked for the thread that constructs this and for every thread
// that it starts later, so construct it first. Others that would end the process and say nothing to
// it, such as SIGUSR1, are ignored from then on.
//
// Thread safety: Wait() from one thread; Wake() from any.
class Signals {
 public:
  enum class Event {
    kTerminate,  // SIGINT or SIGTERM
    kDump,       // SIGUSR2
    kWoken,      // Wake()
    kTimeout,
  };

  Signals();
  ~Signals();
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;

  // Returns once something has happened, or after `timeout` (nullopt: never).
  Event Wait(std::optional<Duration> timeout = std::nullopt);
  // Makes one Wait() return, now or when it is called next.
  void Wake();

 private:
  int signal_fd_ = -1;
  int wake_fd_ = -1;
};

}  // namespace berth::app
