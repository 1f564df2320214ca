// SPDX-License-Identifier: Apache-2.0
#include "src/app/daemon/signals.h"

#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <csignal>
#include <cstdint>

#include "berth/check.h"

namespace berth::app {
namespace {

// Those that a program of Go's outlives, and that would end one of C++: a write beyond a limit of
// the file's size fails without SIGXFSZ.
constexpr int kIgnoredSignals[] = {SIGUSR1, SIGALRM, SIGVTALRM, SIGIO, SIGPWR, SIGXCPU, SIGXFSZ};

sigset_t HandledSignals() {
  sigset_t set;
  sigemptyset(&set);
  for (int number : {SIGINT, SIGTERM, SIGUSR2}) sigaddset(&set, number);
  return set;
}

}  // namespace

Signals::Signals() {
  for (const int number : kIgnoredSignals) std::signal(number, SIG_IGN);
  const sigset_t set = HandledSignals();
  BERTH_CHECK(pthread_sigmask(SIG_BLOCK, &set, nullptr) == 0, "signals cannot be blocked");
  signal_fd_ = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
  wake_fd_ = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK | EFD_SEMAPHORE);
  BERTH_CHECK(signal_fd_ >= 0 && wake_fd_ >= 0, "no file descriptors for signals");
}

Signals::~Signals() {
  close(signal_fd_);
  close(wake_fd_);
}

Signals::Event Signals::Wait(std::optional<Duration> timeout) {
  while (true) {
    signalfd_siginfo info;
    if (read(signal_fd_, &info, sizeof info) == static_cast<ssize_t>(sizeof info)) {
      return info.ssi_signo == SIGUSR2 ? Event::kDump : Event::kTerminate;
    }
    uint64_t count = 0;
    if (read(wake_fd_, &count, sizeof count) == static_cast<ssize_t>(sizeof count)) {
      return Event::kWoken;
    }
    pollfd fds[] = {{signal_fd_, POLLIN, 0}, {wake_fd_, POLLIN, 0}};
    const int wait_ms =
        timeout ? static_cast<int>(
                      std::chrono::duration_cast<std::chrono::milliseconds>(*timeout).count())
                : -1;
    if (poll(fds, 2, wait_ms) == 0) return Event::kTimeout;
  }
}

void Signals::Wake() {
  const uint64_t one = 1;
  // Fails only where 2^64 wake-ups are waiting.
  [[maybe_unused]] const ssize_t written = write(wake_fd_, &one, sizeof one);
}

}  // namespace berth::app
