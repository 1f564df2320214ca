// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "src/app/daemon_client.h"
#include "src/app/flags.h"
#include "src/app/what_if_flags.h"

namespace berth::app {

enum class OutputFormat { kTable, kJson };

// The flags of the commands that decide without acting: `berth simulate`, `berth explain` and
// `berth ui`.
struct OfflineFlags {
  std::vector<std::string> clusters;
  std::string kubeconfig;  // may be ""
  // Of explain and why alone; may be "".
  std::string context;     // of the kubeconfig
  std::string namespace_;  // --namespace
  std::string pod;         // "namespace/name"
  DaemonFlags daemon;
  bool preemption = false;
  bool claims = false;
  bool fix = false;

  // Of simulate alone.
  WhatIfFlags what_if;

  // Of ui alone.
  std::string recording;  // may be ""
  int32_t port = 0;       // 0: any free one

  uint64_t seed = 1;
  OutputFormat output = OutputFormat::kTable;
  // What the daemon's flags have in common with these: --config, --plugin-dir, --feature-gates and
  // --v; without
  // the latter only warnings are logged.
  RunFlags run;
  // The help text, where that was asked for.
  std::string print_and_exit;
};

// kWhy: explain as kubectl's users would ask, about one pod of a live cluster.
enum class OfflineCommand { kSimulate, kExplain, kWhy, kPacking, kUi };

// Reads the arguments that follow the command; see FlagSet for the rules. Errors: also where it is
// not clear which cluster is meant.
Result<OfflineFlags> ParseOfflineFlags(OfflineCommand command,
                                       const std::vector<std::string>& arguments,
                                       const std::string& program);

// Exit codes of these commands.
inline constexpr int kDone = 0;
inline constexpr int kNegative = 1;  // a decision that was asked for is "no"
inline constexpr int kBadInput = 2;

// Prints "Error: <message>" on standard error, and returns kBadInput.
int FailWith(std::string_view message);

// How each of these commands begins: reads its flags and sets up the log. An exit code where the
// command ends already: the flags are bad, which is printed, or --help was asked for.
tl::expected<OfflineFlags, int> BeginOffline(OfflineCommand command,
                                             const std::vector<std::string>& arguments,
                                             const std::string& program);

}  // namespace berth::app
