// SPDX-License-Identifier: Apache-2.0
#include "src/app/app.h"

#include <gmock/gmock.h>

#include <csignal>
#include <string>
#include <vector>

#include "src/app/flags/offline_flags.h"
#include "src/app/version.h"

namespace berth::app {
namespace {

TEST(AppTest, EveryCommandSurvivesAReaderThatGoesAway) {
  for (const char* command : {"help", "run", "config", "simulate", "explain", "replay", "ui",
                              "packing", "dump", "version"}) {
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

struct Output {
  int code = 0;
  std::string text;
};

Output RunMain(std::vector<std::string> words) {
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  testing::internal::CaptureStdout();
  const int code = Main(static_cast<int>(words.size()), arguments.data());
  return {code, testing::internal::GetCapturedStdout()};
}

TEST(AppTest, HelpListsTheCommandsAndWithDashesTheFlagsOfRunToo) {
  using testing::HasSubstr;
  for (const char* command : {"run", "simulate", "explain", "replay", "ui", "packing", "dump",
                              "config", "version", "help"}) {
    const std::string line = std::string("\n  ") + command + " ";
    EXPECT_THAT(RunMain({"berth", "help"}).text, HasSubstr(line));
    EXPECT_THAT(RunMain({"berth", "--help"}).text, HasSubstr(line));
  }
  EXPECT_THAT(RunMain({"berth", "--help"}).text, HasSubstr("--leader-elect"));
  EXPECT_THAT(RunMain({"berth", "help"}).text, testing::Not(HasSubstr("--leader-elect")));
  EXPECT_THAT(RunMain({"kube-scheduler", "--help"}).text, testing::Not(HasSubstr("simulate")));
}

TEST(AppTest, VersionTellsBothVersionsInTheFormAskedFor) {
  const std::string berth(kVersion);
  EXPECT_THAT(berth, testing::MatchesRegex("v[0-9]+[.][0-9]+[.][0-9]+"));
  EXPECT_EQ(RunMain({"berth", "version"}).text,
            "Berth Version: " + berth + "\nKubernetes Version: v1.37.1\n");
  EXPECT_EQ(
      RunMain({"berth", "version", "-o", "json"}).text,
      R"({"major":"1","minor":"37","gitVersion":"v1.37.1","berthVersion":")" + berth + "\"}\n");
  EXPECT_EQ(RunMain({"berth", "version", "--output=yaml"}).text,
            "berthVersion: " + berth + "\ngitVersion: v1.37.1\nmajor: \"1\"\nminor: \"37\"\n");
  EXPECT_EQ(RunMain({"berth", "--version"}).text, "Kubernetes v1.37.1 (Berth " + berth + ")\n");
  for (const char* wrong : {"-o=xml", "--flag", "more"}) {
    SCOPED_TRACE(wrong);
    EXPECT_EQ(RunMain({"berth", "version", wrong}).code, kBadInput);
  }
}

}  // namespace
}  // namespace berth::app
