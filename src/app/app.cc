// SPDX-License-Identifier: Apache-2.0
#include "src/app/app.h"

#include <csignal>
#include <cstdio>
#include <string>
#include <vector>

#include "src/app/command.h"
#include "src/app/commands/completion.h"
#include "src/app/commands/dump.h"
#include "src/app/commands/explain.h"
#include "src/app/commands/packing.h"
#include "src/app/commands/plan.h"
#include "src/app/commands/replay.h"
#include "src/app/commands/show_config.h"
#include "src/app/commands/simulate.h"
#include "src/app/commands/suggestion.h"
#include "src/app/commands/terminal.h"
#include "src/app/commands/ui.h"
#include "src/app/daemon/in_tree_plugins.h"
#include "src/app/daemon/run.h"
#include "src/app/version.h"

namespace berth::app {

namespace {

int RunCommand(int argc, char** argv) {
  const Command command = FindCommand(std::vector<std::string>(argv, argv + argc));
  switch (command.kind) {
    case CommandKind::kRun:
      return Run(command.arguments, command.program, FindInTreePlugins());
    case CommandKind::kSimulate:
      return Simulate(command.arguments, command.program, FindInTreePlugins());
    case CommandKind::kExplain:
      return Explain(command.arguments, command.program, FindInTreePlugins());
    case CommandKind::kWhy:
      return Why(command.arguments, command.program, FindInTreePlugins());
    case CommandKind::kReplay:
      return Replay(command.arguments, command.program, FindInTreePlugins());
    case CommandKind::kUi:
      return Ui(command.arguments, command.program, FindInTreePlugins());
    case CommandKind::kPlan:
      return Plan(command.arguments, command.program, FindInTreePlugins());
    case CommandKind::kPacking:
      return Packing(command.arguments, command.program, FindInTreePlugins());
    case CommandKind::kDump:
      return Dump(command.arguments, command.program, FindInTreePlugins());
    case CommandKind::kConfig:
      return ShowConfig(command.arguments, command.program, FindInTreePlugins());
    case CommandKind::kCompletion:
      return ShowCompletion(command.arguments, command.program);
    case CommandKind::kVersion:
      return ShowVersion(command.arguments, command.program);
    case CommandKind::kHelp:
      std::fputs(FittedHelp(CommandList(), TerminalWidth()).c_str(), stdout);
      if (!command.arguments.front().starts_with('-')) return 0;
      // A flag without a command is one of run's.
      std::fputs("\n", stdout);
      return Run(command.arguments, command.program + " run", FindInTreePlugins());
    case CommandKind::kUnknown:
      break;
  }
  if (command.unknown.empty()) {
    std::fprintf(stderr, "%s\nError: no command\n", CommandList().c_str());
    return 1;
  }
  // As kubectl.
  const std::string meant = Suggestion(command.unknown, CommandNames());
  const std::string more = meant.empty() ? "Run `" + command.program + " help` for the commands.\n"
                                         : "Did you mean this?\n\t" + meant + "\n";
  std::fprintf(stderr, "Error: unknown command \"%s\" for \"%s\"\n\n%s", command.unknown.c_str(),
               command.program.c_str(), more.c_str());
  return 1;
}

}  // namespace

int Main(int argc, char** argv) {
  // A peer that went away, or a reader of the output, is an error of the write.
  std::signal(SIGPIPE, SIG_IGN);
  const int code = RunCommand(argc, argv);
  const bool written = std::fflush(stdout) == 0 && std::ferror(stdout) == 0;
  return code == 0 && !written ? 1 : code;
}

}  // namespace berth::app
