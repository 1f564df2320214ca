// SPDX-License-Identifier: Apache-2.0
// The bash script is run by bash itself, with a berth that has a --help; the others are looked at.
#include <gmock/gmock.h>

#include <array>
#include <cstdio>
#include <memory>

#include "src/app/command.h"
#include "src/app/commands/commands.h"
#include "src/app/flags/offline_flags.h"
#include "tests/unit/client/temp_folder.h"

namespace berth::app {
namespace {

using testing::HasSubstr;
using testing::UnorderedElementsAreArray;

std::string Script(const std::string& shell) {
  testing::internal::CaptureStdout();
  EXPECT_EQ(ShowCompletion({shell}, "berth completion"), kDone);
  return testing::internal::GetCapturedStdout();
}

std::string Shell(const std::string& command) {
  std::string out;
  const auto close = [](FILE* pipe) { pclose(pipe); };
  const std::unique_ptr<FILE, decltype(close)> pipe(popen(command.c_str(), "r"), close);
  std::array<char, 256> buffer{};
  while (fgets(buffer.data(), buffer.size(), pipe.get()) != nullptr) out += buffer.data();
  return out;
}

class CompletionTest : public testing::Test {
 protected:
  // What bash offers for the last of the words.
  std::string Complete(const std::string& words, int last) {
    return Shell("bash -c 'source " + file_ + "; COMP_WORDS=(" + words +
                 "); COMP_CWORD=" + std::to_string(last) + "; _berth; echo \"${COMPREPLY[*]}\"'");
  }

  test::TempFolder folder_;
  std::string file_ = folder_.Write("berth.bash", Script("bash"));
  std::string berth_ = folder_.Write(
      "berth", "echo '  -o,--output FORM  Form.'; echo '  --pod POD  A pod, see --fix.'");
};

TEST_F(CompletionTest, BashOffersCommandsAndTheFlagsOfOne) {
  EXPECT_EQ(Complete("berth ex", 1), "explain\n");
  EXPECT_EQ(Complete("berth completion z", 2), "zsh\n");
  EXPECT_EQ(Shell("chmod +x " + berth_ + " && echo done"), "done\n");
  EXPECT_EQ(Complete(berth_ + " explain --", 2), "--output --pod\n") << "--fix is only spoken of";
  EXPECT_EQ(Complete(berth_ + " explain --po", 2), "--pod\n");
  EXPECT_EQ(Complete(berth_ + " explain fi", 2), "\n") << "files are bash's own";
}

TEST_F(CompletionTest, KubectlGetsCandidatesAndADirective) {
  const std::string file = folder_.Write("kubectl_complete-berth", Script("kubectl"));
  const std::string commands = Shell("sh " + file + " ''");
  EXPECT_THAT(commands, HasSubstr("why\n"));
  EXPECT_THAT(commands, testing::EndsWith(":4\n"));
  EXPECT_EQ(Shell("sh " + file + " why we"), ":0\n");
}

TEST_F(CompletionTest, EveryScriptNamesEveryCommand) {
  for (const char* shell : {"bash", "zsh", "fish", "kubectl"}) {
    const std::string script = Script(shell);
    for (const std::string& command : CommandNames()) {
      EXPECT_THAT(script, HasSubstr(command)) << shell;
    }
    EXPECT_THAT(script, HasSubstr("--help")) << shell;
    EXPECT_THAT(script, testing::Not(HasSubstr("COMMANDS"))) << shell;
  }
}

TEST_F(CompletionTest, AnotherShellIsRefused) {
  testing::internal::CaptureStderr();
  EXPECT_EQ(ShowCompletion({"csh"}, "berth completion"), kBadInput);
  EXPECT_EQ(ShowCompletion({}, "berth completion"), kBadInput);
  EXPECT_THAT(testing::internal::GetCapturedStderr(), HasSubstr("which shell?"));
}

}  // namespace
}  // namespace berth::app
