// SPDX-License-Identifier: Apache-2.0
#include "src/app/app.h"

#include <gmock/gmock.h>
#include <unistd.h>

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

// Ends the process with Main's code.
void EndWith(std::vector<std::string> words) {
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  std::_Exit(Main(static_cast<int>(words.size()), arguments.data()));
}

// Short texts, and one that is longer than what is kept before it is written.
const std::vector<std::string> kPrinting[] = {
    {"berth", "help"},
    {"berth", "version"},
    {"berth", "completion", "bash"},
    {"berth", "completion", "--help"},
    {"berth", "config"},
    {"berth", "config", "--help"},
    {"berth", "explain", "--help"},
    {"berth", "replay", "--help"},
    {"berth", "run", "--help"},
};

TEST(AppTest, OutputThatCannotBeWrittenIsAFailure) {
  const auto write_to_full_device = [](const std::vector<std::string>& words) {
    ASSERT_NE(std::freopen("/dev/full", "w", stdout), nullptr);
    EndWith(words);
  };
  for (const std::vector<std::string>& words : kPrinting) {
    EXPECT_EXIT(write_to_full_device(words), testing::ExitedWithCode(kBadInput),
                "Error: write error: No space left on device\n");
  }
}

TEST(AppTest, AReaderThatHasGoneChangesNoExitCode) {
  const auto write_to_closed_pipe = [](const std::vector<std::string>& words) {
    int ends[2];
    ASSERT_EQ(pipe(ends), 0);
    ASSERT_EQ(close(ends[0]), 0);
    ASSERT_EQ(dup2(ends[1], STDOUT_FILENO), STDOUT_FILENO);
    EndWith(words);
  };
  for (const std::vector<std::string>& words : kPrinting) {
    EXPECT_EXIT(write_to_closed_pipe(words), testing::ExitedWithCode(kDone), "^$");
  }
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

TEST(AppTest, HelpIsAboutOneCommand) {
  testing::internal::CaptureStderr();
  const Output help = RunMain({"berth", "help", "explain", "extra"});
  EXPECT_THAT(testing::internal::GetCapturedStderr(),
              testing::StartsWith("Error: unexpected argument \"extra\"; "));
  EXPECT_EQ(help.code, kBadInput);
  EXPECT_EQ(help.text, "");
  EXPECT_EQ(RunMain({"berth", "help", "explain"}).code, kDone);
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
