// SPDX-License-Identifier: Apache-2.0
#include "src/app/app.h"

#include <csignal>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "src/app/command.h"
#include "src/app/commands/commands.h"
#include "src/app/commands/output.h"
#include "src/app/commands/terminal.h"
#include "src/app/daemon/in_tree_plugins.h"
#include "src/app/flags/offline_flags.h"
#include "src/app/version.h"
#include "src/base/suggestion.h"

namespace berth::app {
namespace {

constexpr std::pair<CommandKind, CommandFunction*> kFunctions[] = {
    {CommandKind::kRun, Run},         {CommandKind::kSimulate, Simulate},
    {CommandKind::kExplain, Explain}, {CommandKind::kWhy, Why},
    {CommandKind::kReplay, Replay},   {CommandKind::kUi, Ui},
    {CommandKind::kPlan, Plan},       {CommandKind::kPacking, Packing},
    {CommandKind::kDump, Dump},       {CommandKind::kConfig, ShowConfig},
};

int RunCommand(int argc, char** argv) {
  const Command command = FindCommand(std::vector<std::string>(argv, argv + argc));
  if (!command.unexpected.empty()) {
    return FailWith("unexpected argument \"" + command.unexpected +
                    "\"; help is about one command, such as `berth help run`");
  }
  for (const auto& [kind, function] : kFunctions) {
    if (kind == command.kind) {
      return function(command.arguments, command.program, FindInTreePlugins());
    }
  }
  switch (command.kind) {
    case CommandKind::kCompletion:
      return ShowCompletion(command.arguments, command.program);
    case CommandKind::kVersion:
      return ShowVersion(command.arguments, command.program);
    case CommandKind::kHelp:
      WriteOut(FittedHelp(CommandList(), TerminalWidth()));
      if (!command.arguments.front().starts_with('-')) return 0;
      // A flag without a command is one of run's.
      WriteOut("\n");
      return Run(command.arguments, command.program + " run", FindInTreePlugins());
    default:
      break;
  }
  if (command.unknown.empty()) {
    std::fprintf(stderr, "%s\nError: no command\n", CommandList().c_str());
    return 1;
  }
  // As kubectl.
  base::Suggestion suggestion(command.unknown);
  suggestion.TryAll(CommandNames());
  const std::string& meant = suggestion.word();
  const std::string more = meant.empty() ? "Run `" + command.program + " help` for the commands.\n"
                                         : "Did you mean this?\n\t" + meant + "\n";
  PrintNote("Error: unknown command \"" + command.unknown + "\" for \"" + command.program + "\"");
  std::fprintf(stderr, "\n%s", more.c_str());
  return 1;
}

}  // namespace

int Main(int argc, char** argv) {
  // A peer that went away, or a reader of the output, is an error of the write.
  std::signal(SIGPIPE, SIG_IGN);
  return EndOutput(RunCommand(argc, argv));
}

}  // namespace berth::app
