// SPDX-License-Identifier: Apache-2.0
#include "src/app/daemon/signals.h"

#include <gtest/gtest.h>
#include <pthread.h>

#include <csignal>

#include "src/base/thread.h"

namespace berth::app {
namespace {

TEST(SignalsTest, TurnsSignalsIntoEvents) {
  Signals signals;
  const struct {
    int number;
    Signals::Event want;
  } cases[] = {
      {SIGTERM, Signals::Event::kTerminate},
      {SIGINT, Signals::Event::kTerminate},
      {SIGUSR2, Signals::Event::kDump},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.number);
    std::raise(c.number);
    EXPECT_EQ(signals.Wait(), c.want);
  }
}

TEST(SignalsTest, ThoseThatSayNothingAreIgnored) {
  Signals signals;
  for (const int number : {SIGUSR1, SIGALRM, SIGVTALRM, SIGIO, SIGPWR, SIGXCPU, SIGXFSZ}) {
    SCOPED_TRACE(number);
    std::raise(number);  // the test goes on
  }
  std::raise(SIGUSR2);
  EXPECT_EQ(signals.Wait(), Signals::Event::kDump);
}

TEST(SignalsTest, WakeEndsOneWaitEach) {
  Signals signals;
  signals.Wake();
  signals.Wake();
  EXPECT_EQ(signals.Wait(), Signals::Event::kWoken);
  EXPECT_EQ(signals.Wait(), Signals::Event::kWoken);
  base::NamedThread waker("waker", [&signals] { signals.Wake(); });
  EXPECT_EQ(signals.Wait(), Signals::Event::kWoken);
}

TEST(SignalsTest, ThreadsStartedLaterHaveTheSignalsBlocked) {
  Signals signals;
  bool blocked = false;
  base::NamedThread thread("masked", [&blocked] {
    sigset_t mask;
    pthread_sigmask(SIG_BLOCK, nullptr, &mask);
    blocked = sigismember(&mask, SIGTERM) == 1 && sigismember(&mask, SIGINT) == 1;
  });
  thread.Join();
  EXPECT_TRUE(blocked);
}

}  // namespace
}  // namespace berth::app
