// SPDX-License-Identifier: Apache-2.0
#include "src/app/endpoints/live_reads.h"

#include <gmock/gmock.h>

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "src/base/virtual_time.h"

namespace berth::app {
namespace {

using questions::Size;
using serving::Departure;
using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::ElementsAre;

constexpr int kTook = 50;  // ms

// A scheduling thread whose messages run when the test says so.
class LiveReadsTest : public testing::Test {
 protected:
  bool Ask(Size size, const std::string& name) {
    return reads_->Ask(size, departures_[name], [this, name] {
      ran_.push_back(name);
      clock_.Advance(milliseconds(kTook));
    });
  }
  // What the scheduling thread finds in its inbox; how many messages that were.
  size_t RunScheduler() {
    const auto messages = std::exchange(messages_, {});
    for (const auto& message : messages) message();
    return messages.size();
  }

  base::VirtualClock clock_;
  base::VirtualExecutor executor_{clock_};
  std::vector<std::function<void()>> messages_;
  std::map<std::string, Departure> departures_;
  std::vector<std::string> ran_;
  std::unique_ptr<LiveReads> reads_ = std::make_unique<LiveReads>(
      [this](std::function<void()> task) { messages_.push_back(std::move(task)); }, executor_,
      clock_, LiveReadLimits{.small_waiting = 4, .large_waiting = 3});
};

TEST_F(LiveReadsTest, OneReadAtATimeHasAFiftiethOfTheTime) {
  EXPECT_TRUE(Ask(Size::kLarge, "a"));
  EXPECT_TRUE(Ask(Size::kLarge, "b"));
  EXPECT_TRUE(Ask(Size::kSmall, "c"));
  EXPECT_EQ(RunScheduler(), 1u);
  EXPECT_THAT(ran_, ElementsAre("c"));  // small ones go first
  executor_.Advance(milliseconds(49 * kTook - 1));
  EXPECT_EQ(RunScheduler(), 0u);
  executor_.Advance(milliseconds(1));
  EXPECT_EQ(RunScheduler(), 1u);
  EXPECT_THAT(ran_, ElementsAre("c", "a"));
  executor_.Advance(milliseconds(49 * kTook));
  EXPECT_EQ(RunScheduler(), 1u);
  EXPECT_THAT(ran_, ElementsAre("c", "a", "b"));
  // A small one waits a little after a large one, not out the rest.
  EXPECT_TRUE(Ask(Size::kSmall, "d"));
  EXPECT_EQ(RunScheduler(), 0u);
  executor_.Advance(milliseconds(100));
  EXPECT_EQ(RunScheduler(), 1u);
  executor_.Advance(seconds(10));
  EXPECT_TRUE(Ask(Size::kSmall, "e"));
  EXPECT_EQ(RunScheduler(), 1u);
  EXPECT_THAT(ran_, ElementsAre("c", "a", "b", "d", "e"));
}

// 400 requests that hang up at once held the scheduling thread for 21.8 s.
TEST_F(LiveReadsTest, WhatItsClientNoLongerWaitsForNeverRunsAndTakesNoPlace) {
  for (int i = 0; i < 400; ++i) {
    const std::string name = std::to_string(i);
    EXPECT_TRUE(Ask(Size::kLarge, name));
    departures_[name].Announce();
    EXPECT_EQ(reads_->num_waiting(), 0u);
  }
  EXPECT_EQ(RunScheduler(), 1u);  // the first had asked for its turn
  EXPECT_THAT(ran_, ElementsAre());
  EXPECT_TRUE(Ask(Size::kLarge, "stays"));
  EXPECT_EQ(RunScheduler(), 1u);
  EXPECT_THAT(ran_, ElementsAre("stays"));
}

TEST_F(LiveReadsTest, TheLineIsBounded) {
  for (const char* name : {"a", "b", "c"}) EXPECT_TRUE(Ask(Size::kLarge, name));
  EXPECT_FALSE(Ask(Size::kLarge, "d"));
  for (const char* name : {"e", "f", "g", "h"}) EXPECT_TRUE(Ask(Size::kSmall, name));
  EXPECT_FALSE(Ask(Size::kSmall, "i"));
  departures_["b"].Announce();
  EXPECT_TRUE(Ask(Size::kLarge, "j"));
  for (int i = 0; i < 10; ++i) {
    RunScheduler();
    executor_.Advance(milliseconds(49 * kTook));
  }
  EXPECT_THAT(ran_, ElementsAre("e", "f", "g", "h", "a", "c", "j"));
}

TEST_F(LiveReadsTest, NothingRunsOnceItIsDestroyed) {
  EXPECT_TRUE(Ask(Size::kSmall, "a"));
  RunScheduler();
  EXPECT_TRUE(Ask(Size::kSmall, "b"));
  reads_.reset();
  executor_.Advance(seconds(10));
  EXPECT_EQ(RunScheduler(), 0u);
  departures_["b"].Announce();
  EXPECT_THAT(ran_, ElementsAre("a"));
}

}  // namespace
}  // namespace berth::app
