// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "src/app/daemon/in_tree_plugins.h"

namespace berth::app {

// A command of the program (docs/commands.md). `arguments` follow the command; `program` is its
// name for messages. Returns the exit code: kDone, kNegative or kBadInput.
using CommandFunction = int(const std::vector<std::string>& arguments, const std::string& program,
                            const InTreePlugins& plugins);

CommandFunction Dump, Explain, Packing, Plan, Replay, Simulate, Ui, Why;
// `berth run`: the daemon. 0 after SIGINT or SIGTERM and a clean end, and where only a text or a
// file was asked for; 1 when it cannot start, or got a second signal to end.
CommandFunction Run;
// `berth config`: checks a configuration file without a cluster, down to the making of its
// profiles, and prints the effective configuration.
CommandFunction ShowConfig;

// `berth completion bash|zsh|fish|kubectl`: prints a script for that shell, or the program that
// kubectl asks about its plugin. Scripts know the commands; the flags of one they ask of its
// --help, so that they are those of the binary that is installed. Returns the exit code.
int ShowCompletion(const std::vector<std::string>& arguments, const std::string& program);

}  // namespace berth::app
