// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "src/base/logging.h"
#include "src/base/virtual_time.h"
#include "src/extender/extenders.h"

namespace berth::extender {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

class ExtenderWatchTest : public testing::Test {
 protected:
  // What is logged of a wait.
  std::string Wait(std::string_view extender, Duration wait) {
    testing::internal::CaptureStderr();
    watch_.Begin(extender, seconds(60));
    clock_.Advance(wait);
    watch_.End();
    base::FlushLogs();
    return testing::internal::GetCapturedStderr();
  }

  base::VirtualClock clock_;
  ExtenderWatch watch_{clock_};
};

TEST_F(ExtenderWatchTest, AWaitExcusesTheLoopUntilItsTimeoutAndNoLonger) {
  const Time began = clock_.Now();
  watch_.Begin("http://gpu", seconds(60));
  EXPECT_EQ(watch_.excused_until(), began + seconds(60));
  clock_.Advance(seconds(70));
  EXPECT_EQ(watch_.excused_until(), began + seconds(60)) << "what never ends is no excuse";
  watch_.End();
  EXPECT_EQ(watch_.excused_until(), clock_.Now()) << "the loop was alive then";
}

TEST_F(ExtenderWatchTest, SlowExtendersAreNamedNowAndThen) {
  using testing::HasSubstr;
  EXPECT_EQ(Wait("http://quick", milliseconds(999)), "");
  const std::string told = Wait("http://slow", milliseconds(1500));
  EXPECT_THAT(told, HasSubstr("An extender keeps scheduling waiting"));
  EXPECT_THAT(told, HasSubstr("http://slow"));
  EXPECT_THAT(told, HasSubstr("1.5s"));
  EXPECT_EQ(Wait("http://slow", seconds(2)), "") << "told a moment ago";
  EXPECT_THAT(Wait("http://other", seconds(2)), HasSubstr("http://other"));
  EXPECT_THAT(Wait("http://slow", seconds(30)), HasSubstr("http://slow"));
}

}  // namespace
}  // namespace berth::extender
