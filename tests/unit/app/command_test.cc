// SPDX-License-Identifier: Apache-2.0
#include "src/app/command.h"

#include <gmock/gmock.h>

namespace berth::app {
namespace {

TEST(FindCommandTest, RunIsTheCommandOfKubeSchedulersCommandLinesAndOthersAreNamed) {
  using Arguments = std::vector<std::string>;
  const struct {
    Arguments arguments;
    CommandKind kind;
    std::string program;
    Arguments rest;
  } cases[] = {
      {{"berth", "run"}, CommandKind::kRun, "berth run", {}},
      {{"/bin/berth", "run", "--v=2"}, CommandKind::kRun, "berth run", {"--v=2"}},
      {{"berth", "run", "foo"}, CommandKind::kRun, "berth run", {"foo"}},
      {{"berth", "--config=c"}, CommandKind::kRun, "berth", {"--config=c"}},
      {{"berth", "-h"}, CommandKind::kHelp, "berth", {"-h"}},
      {{"berth", "--help"}, CommandKind::kHelp, "berth", {"--help"}},
      {{"berth", "--v=2", "--help"}, CommandKind::kRun, "berth", {"--v=2", "--help"}},
      {{"berth", "--version"}, CommandKind::kRun, "berth", {"--version"}},
      {{"berth", "version", "-o", "json"}, CommandKind::kVersion, "berth version", {"-o", "json"}},
      {{"kube-scheduler", "--help"}, CommandKind::kRun, "kube-scheduler", {"--help"}},
      {{"kube-scheduler"}, CommandKind::kRun, "kube-scheduler", {}},
      {{"/usr/local/bin/kube-scheduler", "--v=2"}, CommandKind::kRun, "kube-scheduler", {"--v=2"}},
      {{"kube-scheduler", "run"}, CommandKind::kRun, "kube-scheduler", {"run"}},
      {{"berth", "simulate", "-o", "json"},
       CommandKind::kSimulate,
       "berth simulate",
       {"-o", "json"}},
      {{"berth", "explain"}, CommandKind::kExplain, "berth explain", {}},
      {{"berth", "config", "-o", "json"}, CommandKind::kConfig, "berth config", {"-o", "json"}},
      {{"berth", "dump", "--context", "a"}, CommandKind::kDump, "berth dump", {"--context", "a"}},
      {{"berth", "packing", "-o", "json"}, CommandKind::kPacking, "berth packing", {"-o", "json"}},
      {{"berth", "plan", "-o", "json"}, CommandKind::kPlan, "berth plan", {"-o", "json"}},
      {{"berth", "ui", "--port=1"}, CommandKind::kUi, "berth ui", {"--port=1"}},
      {{"kube-scheduler", "explain"}, CommandKind::kRun, "kube-scheduler", {"explain"}},
      {{"berth", "help"}, CommandKind::kHelp, "berth", {"help"}},
      {{"berth", "help", "explain"}, CommandKind::kExplain, "berth explain", {"--help"}},
      {{"kubectl-berth", "help", "why"}, CommandKind::kWhy, "kubectl berth why", {"--help"}},
      {{"berth", "help", "wy"}, CommandKind::kUnknown, "berth", {"wy", "--help"}},
      {{"kube-scheduler", "help", "run"}, CommandKind::kRun, "kube-scheduler", {"help", "run"}},
      {{"berth", "why", "web"}, CommandKind::kWhy, "berth why", {"web"}},
      {{"/bin/kubectl-berth", "why", "web"}, CommandKind::kWhy, "kubectl berth why", {"web"}},
      {{"kubectl-berth", "--v=2"}, CommandKind::kUnknown, "kubectl berth", {"--v=2"}},
      {{"kubectl-berth", "-h"}, CommandKind::kHelp, "kubectl berth", {"-h"}},
      {{"berth", "completion", "bash"}, CommandKind::kCompletion, "berth completion", {"bash"}},
      {{"berth"}, CommandKind::kUnknown, "berth", {}},
      {{"berth", "walk"}, CommandKind::kUnknown, "berth", {"walk"}},
      {{}, CommandKind::kUnknown, "berth", {}},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(testing::PrintToString(c.arguments));
    const Command command = FindCommand(c.arguments);
    EXPECT_EQ(command.kind, c.kind);
    EXPECT_EQ(command.program, c.program);
    EXPECT_EQ(command.arguments, c.rest);
  }
}

}  // namespace
}  // namespace berth::app
