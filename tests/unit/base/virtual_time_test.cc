// SPDX-License-Identifier: Apache-2.0
#include "src/base/virtual_time.h"

#include <gmock/gmock.h>

#include <string>
#include <vector>

namespace berth::base {
namespace {

using testing::ElementsAre;
using namespace std::chrono_literals;

class VirtualTimeTest : public testing::Test {
 protected:
  Executor::Task Note(std::string name) {
    return [this, name = std::move(name)] { ran_.push_back(name); };
  }

  VirtualClock clock_{Time(1h)};
  VirtualExecutor executor_{clock_};
  std::vector<std::string> ran_;
};

TEST_F(VirtualTimeTest, TasksRunInTheOrderTheyFallDue) {
  executor_.PostAfter(2s, Note("late"));
  executor_.PostAfter(1s, Note("soon"));
  executor_.Post(Note("now"));
  EXPECT_TRUE(executor_.RunDue());
  EXPECT_THAT(ran_, ElementsAre("now"));
  EXPECT_EQ(executor_.NextDue(), Time(1h + 1s));
  EXPECT_FALSE(executor_.RunDue());
  clock_.Set(Time(1h + 5s));
  EXPECT_TRUE(executor_.RunDue());
  EXPECT_THAT(ran_, ElementsAre("now", "soon", "late"));
  EXPECT_EQ(executor_.NextDue(), std::nullopt);
}

TEST_F(VirtualTimeTest, WhatATaskPostsRunsToo) {
  executor_.Post([this] {
    ran_.push_back("first");
    executor_.Post(Note("posted by it"));
  });
  executor_.Post(Note("second"));
  executor_.RunDue();
  EXPECT_THAT(ran_, ElementsAre("first", "second", "posted by it"));
}

TEST_F(VirtualTimeTest, ACancelledTimerDoesNotRun) {
  const auto timer = executor_.PostAfter(1s, Note("cancelled"));
  const auto other = executor_.PostAfter(1s, Note("other"));
  executor_.Cancel(timer);
  executor_.Cancel(timer);
  clock_.Set(Time(2h));
  executor_.RunDue();
  executor_.Cancel(other);
  EXPECT_THAT(ran_, ElementsAre("other"));
}

TEST_F(VirtualTimeTest, AdvancingRunsEachTaskAtTheTimeItFallsDue) {
  executor_.PostAfter(1s, [this] {
    EXPECT_EQ(clock_.Now(), Time(1h + 1s));
    executor_.PostAfter(1s, Note("in time"));
    executor_.PostAfter(2s, Note("too late"));
  });
  executor_.Advance(2s);
  EXPECT_THAT(ran_, ElementsAre("in time"));
  EXPECT_EQ(clock_.Now(), Time(1h + 2s));
}

TEST_F(VirtualTimeTest, TheWallClockMayBeCorrected) {
  clock_.Correct(-5s);
  clock_.Advance(1s);
  EXPECT_EQ(clock_.Now(), Time(1h + 1s));
  EXPECT_EQ(clock_.WallNow(), Time(1h - 4s));
}

}  // namespace
}  // namespace berth::base
