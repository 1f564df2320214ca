// SPDX-License-Identifier: Apache-2.0
#include "src/base/clock.h"

#include <gtest/gtest.h>

#include <ctime>

namespace berth::base {
namespace {

TEST(RealClockTest, ShowsTheWallClocksTimeAndNeverGoesBack) {
  const Time before = Time(std::chrono::seconds(std::time(nullptr)));
  const RealClock clock;
  Time last = clock.Now();
  EXPECT_GE(last, before - std::chrono::seconds(1));
  EXPECT_LE(last, before + std::chrono::seconds(60));
  for (int i = 0; i < 10000; ++i) {
    const Time now = clock.Now();
    ASSERT_GE(now, last);
    last = now;
  }
}

TEST(RealClockTest, ItMovesOn) {
  const RealClock clock;
  const Time start = clock.Now();
  const Time end = start + std::chrono::milliseconds(1);
  while (clock.Now() < end) {
  }
  SUCCEED();
}

TEST(ThreadCpuTimeTest, GrowsWithWork) {
  const Duration start = ThreadCpuTime();
  EXPECT_GT(start, Duration::zero());
  volatile uint64_t sum = 0;
  while (ThreadCpuTime() == start) sum = sum + 1;
  EXPECT_GT(ThreadCpuTime(), start);
}

TEST(RandomSeedTest, TwoSeedsDiffer) { EXPECT_NE(RandomSeed(), RandomSeed()); }

}  // namespace
}  // namespace berth::base
