// SPDX-License-Identifier: Apache-2.0
#include "src/base/clock.h"

#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <ctime>

namespace berth::base {
namespace {

// What happens to the machine: how long it was suspended, and by how much its clock was set.
std::atomic<int> suspended_seconds{0};
std::atomic<int> corrected_seconds{0};

class MachineTest : public testing::Test {
 protected:
  ~MachineTest() override { suspended_seconds = corrected_seconds = 0; }
  const RealClock clock_;
};

TEST_F(MachineTest, ACorrectionOfTheClockMovesTheWallAndNothingElse) {
  for (const int correction : {7200, -3600}) {
    const Time before = clock_.Now();
    corrected_seconds = correction;
    const Duration moved = clock_.WallNow() - Time(std::chrono::seconds(std::time(nullptr)));
    EXPECT_LE(abs(moved - std::chrono::seconds(correction)), std::chrono::seconds(2));
    EXPECT_GE(clock_.Now(), before);
    EXPECT_LE(clock_.Now() - before, std::chrono::seconds(60));
  }
}

TEST_F(MachineTest, TheTimeThatTheMachineWasSuspendedHasPassed) {
  const Time before = clock_.Now();
  suspended_seconds = 3600;
  EXPECT_GE(clock_.Now() - before, std::chrono::hours(1));
}

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

// In place of the C library's, for all that this program reads. std::time() goes past it.
extern "C" int clock_gettime(clockid_t clock, timespec* now) noexcept {
  const long failed = syscall(SYS_clock_gettime, clock, now);
  if (clock == CLOCK_BOOTTIME) now->tv_sec += berth::base::suspended_seconds;
  if (clock == CLOCK_REALTIME) now->tv_sec += berth::base::corrected_seconds;
  return static_cast<int>(failed);
}
