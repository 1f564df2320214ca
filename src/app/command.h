// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace berth::app {

enum class CommandKind {
  kRun,
  kSimulate,
  kExplain,
  kWhy,
  kReplay,
  kUi,
  kPacking,
  kPlan,
  kDump,
  kConfig,
  kCompletion,
  kVersion,
  kHelp,
  kUnknown
};

// What the program was asked to do.
struct Command {
  CommandKind kind = CommandKind::kUnknown;
  std::string program;                 // for messages: "berth run", "kube-scheduler", ...
  std::vector<std::string> arguments;  // those of the command
  std::string unknown;                 // kUnknown: what was given; "" for nothing
  std::string unexpected;              // after the command that help is asked about; may be ""
};

// Finds the command in the program's arguments, the first of which is its own path. By the name of
// kube-scheduler it is always the scheduler; by that of kubectl-berth, a plugin of kubectl, never
// without a command that says so. Any other name makes a difference only for messages. "help X" is
// X with --help.
Command FindCommand(const std::vector<std::string>& arguments);

// Their names.
std::vector<std::string> CommandNames();
// The commands there are, for `berth help` and `berth --help`.
std::string CommandList();

}  // namespace berth::app
