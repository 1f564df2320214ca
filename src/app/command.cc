// SPDX-License-Identifier: Apache-2.0
#include "src/app/command.h"

#include <string_view>
#include <utility>

namespace berth::app {
namespace {

constexpr std::pair<std::string_view, CommandKind> kCommands[] = {
    {"run", CommandKind::kRun},         {"simulate", CommandKind::kSimulate},
    {"explain", CommandKind::kExplain}, {"why", CommandKind::kWhy},
    {"replay", CommandKind::kReplay},   {"ui", CommandKind::kUi},
    {"packing", CommandKind::kPacking}, {"plan", CommandKind::kPlan},
    {"config", CommandKind::kConfig},   {"dump", CommandKind::kDump},
    {"version", CommandKind::kVersion}, {"completion", CommandKind::kCompletion},
};

}  // namespace

Command FindCommand(const std::vector<std::string>& arguments) {
  Command command;
  const std::string path = arguments.empty() ? "berth" : arguments.front();
  std::string name = path.substr(path.rfind('/') + 1);
  const bool is_plugin = name == "kubectl-berth";
  if (is_plugin) name = "kubectl berth";
  if (!arguments.empty()) command.arguments.assign(arguments.begin() + 1, arguments.end());
  if (name != "kube-scheduler" && command.arguments.size() > 1 &&
      command.arguments.front() == "help") {
    if (command.arguments.size() > 2) command.unexpected = command.arguments[2];
    command.arguments = {command.arguments[1], "--help"};
  }
  const std::string first = command.arguments.empty() ? "" : command.arguments.front();

  if (name == "kube-scheduler") {
    command.kind = CommandKind::kRun;
    command.program = name;
  } else if (first == "-h" || first == "--help") {
    command.kind = CommandKind::kHelp;
    command.program = name;
  } else if (first.starts_with('-') && !is_plugin) {
    command.kind = CommandKind::kRun;
    command.program = name;
  } else {
    for (const auto& [word, kind] : kCommands) {
      if (first != word) continue;
      command.kind = kind;
      command.program = name + " " + first;
      command.arguments.erase(command.arguments.begin());
      return command;
    }
    command.kind = first == "help" ? CommandKind::kHelp : CommandKind::kUnknown;
    command.program = name;
    command.unknown = first;
  }
  return command;
}

std::vector<std::string> CommandNames() {
  std::vector<std::string> names;
  for (const auto& [word, kind] : kCommands) names.emplace_back(word);
  return names;
}

std::string CommandList() {
  return "Usage: berth <command> [flags]\n"
         "\n"
         "Commands:\n"
         "  run       The scheduler: watches an API server and binds pods. Takes kube-scheduler's "
         "flags,\n"
         "            and is what a first argument that begins with '-' means.\n"
         "  simulate  Schedules the pending pods of a cluster dump, in memory.\n"
         "  explain   Why pending pods fit where they do and nowhere else, for a dump or a live "
         "cluster.\n"
         "  why       Why a pod of the live cluster is pending; `kubectl berth why POD`.\n"
         "  replay    Repeats what `berth run --record` wrote down, and says where it decides "
         "otherwise.\n"
         "  ui        Shows a cluster, a dump or a recording in a browser: a map, why pods are "
         "pending, what if.\n"
         "  packing   How full the node pools of a dump or a live cluster are, and what still "
         "fits.\n"
         "  plan      Few moves of pods that make room for a pending one, or empty a node; carries "
         "it "
         "out.\n"
         "  dump      Prints what scheduling reads of the live cluster, as a file for --cluster.\n"
         "  config    Checks a configuration file and prints it with all defaults.\n"
         "  version   Prints Berth's version, and that of the kube-scheduler whose contract it "
         "keeps.\n"
         "  completion  A script that completes commands and flags: bash, zsh, fish or kubectl.\n"
         "  help      This text. `berth help run` lists the flags of run, and so on.\n";
}

}  // namespace berth::app
