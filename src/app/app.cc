// SPDX-License-Identifier: Apache-2.0
#include "src/app/app.h"

#include <csignal>
#include <cstdio>
#include <string>
#include <vector>

#include "src/app/command.h"
#include "src/app/completion.h"
#include "src/app/explain.h"
#include "src/app/in_tree_plugins.h"
#include "src/app/packing.h"
#include "src/app/replay.h"
#include "src/app/run.h"
#include "src/app/show_config.h"
#include "src/app/simulate.h"
#include "src/app/ui.h"
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
    case CommandKind::kPacking:
      return Packing(command.arguments, command.program, FindInTreePlugins());
    case CommandKind::kConfig:
      return ShowConfig(command.arguments, command.program, FindInTreePlugins());
    case CommandKind::kCompletion:
      return ShowCompletion(command.arguments, command.program);
    case CommandKind::kVersion:
      return ShowVersion(command.arguments, command.program);
    case CommandKind::kHelp:
      std::fputs(CommandList().c_str(), stdout);
      if (!command.arguments.front().starts_with('-')) return 0;
      // A flag without a command is one of run's.
      std::fputs("\n", stdout);
      return Run(command.arguments, command.program + " run", FindInTreePlugins());
    case CommandKind::kUnknown:
      break;
  }
  std::fputs(CommandList().c_str(), stderr);
  const std::string problem = command.unknown.empty() ? "no command"
                                                      : "unknown command \"" + command.unknown +
                                                            "\" for \"" + command.program + "\"";
  std::fprintf(stderr, "\nError: %s\n", problem.c_str());
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
