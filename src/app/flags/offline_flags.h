// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "src/app/commands/daemon_client.h"
#include "src/app/commands/output.h"
#include "src/app/flags/flag_set.h"
#include "src/app/flags/flags.h"
#include "src/client/kubeconfig.h"
#include "src/plan/apply.h"
#include "src/plan/plan.h"
#include "src/questions/replicas.h"

namespace berth::app {

// What `berth simulate` is asked beyond where the pending pods go. Carried out in this order.
struct WhatIfFlags {
  std::string new_config;
  std::vector<std::string> add;  // files
  uint64_t add_nodes = 0;
  std::string like;
  std::vector<std::string> remove_nodes;
  std::vector<questions::Scale> scale;
  std::vector<std::string> cordon;
  std::vector<std::string> drain;
  bool reschedule = false;
  std::string fill;  // a file
  // Of what these name without one.
  std::string default_namespace = "default";

  bool any() const;
};

// Both must outlive the set of flags.
void AddWhatIf(FlagSet& flags, WhatIfFlags& out);

// Errors: one of --add-nodes and --like without the other.
Result<void> CheckWhatIf(const WhatIfFlags& flags);

// The flags of the commands that read a cluster and, but for `berth plan --apply`, change nothing:
// `berth simulate`, `berth explain`, `berth ui`, `berth dump`, ...
struct OfflineFlags {
  std::vector<std::string> clusters;                   // none: a live cluster, or a recording
  std::string kubeconfig;                              // "": as kubectl finds it
  std::string context;                                 // of the kubeconfig; may be ""
  Duration request_timeout = std::chrono::minutes(1);  // zero: no limit

  // Of explain, why, simulate and ui alone; may be "".
  std::string namespace_;  // only its pods are shown
  bool all_namespaces = false;
  std::string pod;  // "namespace/name"
  DaemonFlags daemon;
  bool preemption = false;
  bool claims = false;
  bool fix = false;
  bool commands = false;

  // Of simulate alone.
  WhatIfFlags what_if;

  // Of plan alone.
  std::optional<plan::Goal> goal;
  bool evict = false;  // for good
  plan::Limits plan_limits;
  std::optional<api::Quantity> min_gain;
  std::string apply;     // a plan's file; "": one is searched
  std::string progress;  // "": beside the plan
  bool dry_run = false;
  plan::EvictBy evict_by = plan::EvictBy::kSubresource;
  Duration wait_timeout = std::chrono::minutes(10);
  Duration max_age = std::chrono::hours(1);  // zero: any

  // Of dump alone: with the kinds that the gates leave out.
  bool all_kinds = false;

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

  // Whether a live cluster is read.
  bool live() const { return clusters.empty() && recording.empty(); }
  // Whether pods of this namespace are shown.
  bool Shows(std::string_view pod_namespace) const {
    return namespace_.empty() || namespace_ == pod_namespace;
  }
};

// The live cluster, found as kubectl finds it: --kubeconfig, else the files of KUBECONFIG, else
// ~/.kube/config, else the service account of the pod that we run in. Errors: none of them is
// there; a file is wrong.
Result<client::ServerConfig> FindLiveCluster(const OfflineFlags& flags);

// kWhy: explain as kubectl's users would ask, about one pod of a live cluster.
// kDump: prints the cluster.
enum class OfflineCommand { kSimulate, kExplain, kWhy, kPacking, kPlan, kUi, kDump };

// Reads the arguments that follow the command; see FlagSet for the rules. Errors: also where it is
// not clear which cluster is meant.
Result<OfflineFlags> ParseOfflineFlags(OfflineCommand command,
                                       const std::vector<std::string>& arguments,
                                       const std::string& program);

// Exit codes of these commands.
inline constexpr int kDone = 0;
inline constexpr int kNegative = 1;  // a decision that was asked for is "no"
inline constexpr int kBadInput = 2;

// Prints "Error: <message>" on standard error, or as it is what kubectl would say, and returns
// kBadInput.
int FailWith(std::string_view message);

// How each of these commands begins: reads its flags and sets up the log. An exit code where the
// command ends already: the flags are bad, which is printed, or --help was asked for.
tl::expected<OfflineFlags, int> BeginOffline(OfflineCommand command,
                                             const std::vector<std::string>& arguments,
                                             const std::string& program);

}  // namespace berth::app
