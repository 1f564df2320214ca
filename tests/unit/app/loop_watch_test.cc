// SPDX-License-Identifier: Apache-2.0
#include "src/app/daemon/loop_watch.h"

#include <gtest/gtest.h>

#include "src/base/logging.h"
#include "src/base/virtual_time.h"

namespace berth::app {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

TEST(LoopWatchTest, ALoopThatTurnedLatelyIsNoProblem) {
  base::VirtualClock clock;
  base::VirtualExecutor executor(clock);
  Time last = clock.Now();
  std::string plugin = "Slow at Filter";
  const auto watch = std::make_shared<LoopWatch>(
      executor, clock,
      LoopWatch::Loop{[&] { return last; }, [&] { return plugin; }, [] { return ""; }});
  watch->Start();
  executor.Advance(seconds(30) - milliseconds(1));
  EXPECT_EQ(watch->Problem(), std::nullopt);
  executor.Advance(milliseconds(1));
  EXPECT_EQ(watch->Problem(),
            "the scheduling loop has not turned for 30 s, in plugin Slow at Filter");
  plugin = "";
  EXPECT_EQ(watch->Problem(), "the scheduling loop has not turned for 30 s");
  last = clock.Now();
  EXPECT_EQ(watch->Problem(), std::nullopt);
}

TEST(LoopWatchTest, APodThatIsKnownHasMoreTimeAndIsNoted) {
  base::VirtualClock clock;
  base::VirtualExecutor executor(clock);
  const Time last = clock.Now();
  std::string pod = "uid-1";
  const auto watch = std::make_shared<LoopWatch>(
      executor, clock,
      LoopWatch::Loop{[&] { return last; }, [] { return ""; }, [&] { return pod; }});
  EXPECT_EQ(watch->Note({}), "");
  executor.Advance(seconds(2));
  EXPECT_EQ(watch->Note({}), "uid-1");
  EXPECT_EQ(watch->Note({"uid-1", "uid-0"}), "uid-0,uid-1");
  executor.Advance(std::chrono::minutes(5) - seconds(2) - milliseconds(1));
  EXPECT_EQ(watch->Problem(), std::nullopt);
  executor.Advance(milliseconds(1));
  EXPECT_EQ(watch->Problem(),
            "the scheduling loop has not turned for 300 s, at the pod with UID uid-1");
  pod = "";
  EXPECT_EQ(watch->Note({"uid-0"}), "uid-0");
  EXPECT_NE(watch->Problem(), std::nullopt);
}

TEST(LoopWatchTest, ANoteIsReadAsItWasWrittenAndNoStrangersTextGoesOn) {
  EXPECT_EQ(ReadNote(""), std::vector<std::string>());
  EXPECT_EQ(ReadNote("uid-1,uid-2"), (std::vector<std::string>{"uid-1", "uid-2"}));
  EXPECT_EQ(ReadNote(",a b,\"x\",uid-1," + std::string(64, 'x')),
            std::vector<std::string>{"uid-1"});
  std::string many;
  for (int i = 0; i < 100; ++i) many += "uid-" + std::to_string(i) + ",";
  EXPECT_EQ(ReadNote(many).size(), kMostNoted);
  EXPECT_EQ(ReadNote(many).back(), "uid-99");
}

TEST(LoopWatchTest, TellsOnceOfEachTimeTheLoopIsStuck) {
  base::VirtualClock clock;
  base::VirtualExecutor executor(clock);
  Time last = clock.Now();
  const auto watch = std::make_shared<LoopWatch>(
      executor, clock,
      LoopWatch::Loop{[&] { return last; }, [] { return std::string("Slow at Filter"); },
                      [] { return ""; }});
  watch->Start();
  testing::internal::CaptureStderr();
  executor.Advance(seconds(120));
  last = clock.Now();
  executor.Advance(seconds(20));
  executor.Advance(seconds(60));
  base::FlushLogs();
  const std::string log = testing::internal::GetCapturedStderr();
  const auto count = [&log](const std::string& text) {
    size_t found = 0;
    for (size_t at = log.find(text); at != std::string::npos; at = log.find(text, at + 1)) ++found;
    return found;
  };
  EXPECT_EQ(count("The scheduling loop is stuck"), 2u) << log;
  EXPECT_EQ(count("Slow at Filter"), 4u) << log;  // in the sentence and as a field
  EXPECT_EQ(count("The scheduling loop turns again"), 1u) << log;
}

}  // namespace
}  // namespace berth::app
