// SPDX-License-Identifier: Apache-2.0
#include "src/app/app.h"

#include <gtest/gtest.h>

#include <csignal>
#include <string>

namespace berth::app {
namespace {

TEST(AppTest, EveryCommandSurvivesAReaderThatGoesAway) {
  for (const char* command : {"help", "run", "config", "simulate", "explain"}) {
    SCOPED_TRACE(command);
    std::signal(SIGPIPE, SIG_DFL);
    std::string program = "berth";
    std::string name = command;
    std::string help = "--help";
    char* arguments[] = {program.data(), name.data(), help.data(), nullptr};
    testing::internal::CaptureStdout();
    EXPECT_EQ(Main(3, arguments), 0);
    EXPECT_NE(testing::internal::GetCapturedStdout(), "");
    EXPECT_EQ(std::signal(SIGPIPE, SIG_IGN), SIG_IGN);
  }
}

// What could not be written is no success.
TEST(AppTest, OutputThatCannotBeWrittenIsAFailure) {
  const auto write_to_full_device = [] {
    ASSERT_NE(std::freopen("/dev/full", "w", stdout), nullptr);
    std::string program = "berth";
    std::string help = "help";
    char* arguments[] = {program.data(), help.data(), nullptr};
    std::_Exit(Main(2, arguments));
  };
  EXPECT_EXIT(write_to_full_device(), testing::ExitedWithCode(1), "");
}

}  // namespace
}  // namespace berth::app
