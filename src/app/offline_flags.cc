// SPDX-License-Identifier: Apache-2.0
#include "src/app/offline_flags.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <utility>

#include "src/app/flag_set.h"
#include "src/base/logging.h"

namespace berth::app {
namespace {

constexpr std::string_view kSimulate =
    "Schedules the pending pods of a cluster dump, as the daemon would, in memory. Prints each "
    "decision (-o json) or who went where and who was left (-o table).";
constexpr std::string_view kExplain =
    "Judges each pending pod alone against the cluster as it is: why each node was rejected, and "
    "how the others score. Changes nothing.";

constexpr std::string_view kPacking =
    "Tells how full the node pools of a cluster are, what of their free resources no pod can use, "
    "and what still fits. Changes nothing.";

constexpr std::string_view kUi =
    "Shows a cluster in a browser: prints the address of a page that this machine alone is served, "
    "to those alone who know the address, until it is interrupted. Changes nothing.";
constexpr std::string_view kWhy =
    "Why a pending pod is not scheduled, or where it could go: judges it against the live cluster, "
    "or asks the scheduler that runs there (--daemon). Changes nothing.";

std::string_view DescriptionOf(OfflineCommand command) {
  switch (command) {
    case OfflineCommand::kSimulate:
      return kSimulate;
    case OfflineCommand::kExplain:
      return kExplain;
    case OfflineCommand::kPacking:
      return kPacking;
    case OfflineCommand::kWhy:
      return kWhy;
    case OfflineCommand::kUi:
      break;
  }
  return kUi;
}

// As kubectl finds its own, but that of several files the first is read alone.
std::string DefaultKubeconfig() {
  const char* listed = std::getenv("KUBECONFIG");
  if (listed != nullptr && *listed != '\0') {
    const std::string_view files = listed;
    return std::string(files.substr(0, files.find(':')));
  }
  const char* home = std::getenv("HOME");
  return home == nullptr ? "" : std::string(home) + "/.kube/config";
}

// The namespace of a pod that is named without one.
Result<std::string> NamespaceOf(const OfflineFlags& flags) {
  if (!flags.namespace_.empty()) return flags.namespace_;
  if (flags.kubeconfig.empty()) return "default";
  const auto server =
      client::LoadKubeconfig({.path = flags.kubeconfig, .context = flags.context, .master = ""});
  if (!server) return Fail(server.error());
  return server->default_namespace.empty() ? "default" : server->default_namespace;
}

Result<void> SetPod(const std::string& value, OfflineFlags& out) {
  if (value.empty() || std::count(value.begin(), value.end(), '/') > 1) {
    return Fail("must be namespace/name");
  }
  out.pod = value;
  return {};
}

void AddCluster(OfflineCommand command, FlagSet& flags, OfflineFlags& out) {
  flags.Group("Cluster flags");
  if (command != OfflineCommand::kWhy) {
    flags.Add("cluster", "FILE",
              "A dump: what `kubectl get nodes,pods,... -A -o json` (or yaml) printed; may be "
              "repeated.",
              [&out](const std::string& value) -> Result<void> {
                out.clusters.push_back(value);
                return {};
              });
  }
  flags.Add("kubeconfig", "FILE",
            command == OfflineCommand::kWhy
                ? "The live cluster; as kubectl's."
                : "Reads the live cluster that this file names instead.",
            [&out](const std::string& value) -> Result<void> {
              out.kubeconfig = value;
              return {};
            });
  if (command == OfflineCommand::kUi) {
    flags.Add(
        "recording", "PATH",
        "Shows a recording, a folder or a file, of `berth run --record` instead: the last one "
        "there, with a slider over its decisions.",
        [&out](const std::string& value) -> Result<void> {
          out.recording = value;
          return {};
        });
  }
  if (command != OfflineCommand::kExplain && command != OfflineCommand::kWhy) return;
  flags.Value("context", "The context of the kubeconfig (its current one).", out.context);
  flags.Value("namespace", "The pod's namespace (that of the context, else default).",
              out.namespace_);
  if (command == OfflineCommand::kExplain) {
    flags.Add("pod", "NAMESPACE/NAME",
              "Only this pending pod; the exit code is 1 when it fits nowhere.",
              [&out](const std::string& value) -> Result<void> { return SetPod(value, out); });
  }
  flags.Value("preemption",
              "Also tells of each unschedulable pod which evictions would make room for it.",
              out.preemption);
  flags.Value("fix",
              "Also tells of each unschedulable pod the smallest changes, of the pod or of the "
              "cluster, that would let it schedule; each was tried.",
              out.fix);
  flags.Value("claims",
              "Also in documents (-o json): what each claim of a pod comes to on each node.",
              out.claims);
}

void AddScheduling(OfflineCommand command, FlagSet& flags, OfflineFlags& out) {
  flags.Group("Scheduling flags");
  flags.Add("config", "FILE", "The configuration file (KubeSchedulerConfiguration v1).",
            [&out](const std::string& value) -> Result<void> {
              out.run.config = value;
              return {};
            });
  AddPluginDir(flags, out.run);
  flags.Add("feature-gates", "[kube:]name=bool,...", "Feature gates; may be repeated.",
            [&out](const std::string& value) -> Result<void> {
              out.run.feature_gates.push_back(value);
              return {};
            });
  flags.Value("seed", "Seed of the draws between equal nodes (1).", out.seed);
  if (command == OfflineCommand::kSimulate) AddRecord(flags, out.run);
}

void AddOutput(OfflineCommand command, FlagSet& flags, OfflineFlags& out, bool& help) {
  flags.Group("Output flags");
  if (command == OfflineCommand::kUi) {
    flags.Add("port", "int32", "The port of 127.0.0.1 to serve the page on (0: any free one).",
              [&out](const std::string& value) -> Result<void> {
                const auto port = ReadFlagValue<int32_t>(value);
                if (!port) return Fail(port.error());
                if (*port < 0 || *port > 65535) return Fail("must be between 0 and 65535");
                out.port = *port;
                return {};
              });
  } else {
    flags.Add("output", "table|json", "Form of the output (table).",
              [&out](const std::string& value) -> Result<void> {
                if (value != "table" && value != "json") return Fail("must be table or json");
                out.output = value == "json" ? OutputFormat::kJson : OutputFormat::kTable;
                return {};
              });
  }
  AddQuietVerbosity(flags, out.run);
  flags.Value("help", "Print this text.", help);
}

// That one cluster is meant, or the daemon of one.
Result<void> CheckCluster(OfflineCommand command, const OfflineFlags& flags) {
  if (auto checked = CheckDaemon(flags.daemon); !checked) return checked;
  if (!flags.daemon.url.empty()) {
    if (!flags.clusters.empty()) return Fail("--cluster and --daemon exclude each other");
    if (flags.pod.empty() && (flags.fix || flags.preemption || flags.claims)) {
      return Fail("--daemon: --fix, --preemption and --claims of which pod? Name it with --pod");
    }
    return {};
  }
  const int named = (flags.clusters.empty() ? 0 : 1) + (flags.kubeconfig.empty() ? 0 : 1) +
                    (flags.recording.empty() ? 0 : 1);
  if (named == 1) return {};
  const bool ui = command == OfflineCommand::kUi;
  if (named > 1) {
    return Fail(ui ? "--cluster, --kubeconfig and --recording exclude each other"
                   : "--cluster and --kubeconfig exclude each other");
  }
  return Fail(
      std::string("which cluster? Name a dump with --cluster, or a live one with --kubeconfig") +
      (ui ? ", or a recording with --recording" : ""));
}

}  // namespace

Result<OfflineFlags> ParseOfflineFlags(OfflineCommand command,
                                       const std::vector<std::string>& arguments,
                                       const std::string& program) {
  FlagSet flags(program, std::string(DescriptionOf(command)));
  OfflineFlags out;
  bool help = false;
  AddCluster(command, flags, out);
  AddScheduling(command, flags, out);
  if (command == OfflineCommand::kSimulate) AddWhatIf(flags, out.what_if);
  if (command == OfflineCommand::kExplain || command == OfflineCommand::kWhy) {
    AddDaemon(flags, out.daemon);
  }
  AddOutput(command, flags, out, help);
  const std::string see_help = "; `" + program + " --help` lists the flags";
  const auto others = flags.Parse(arguments);
  if (!others) return Fail(others.error().message + see_help);
  if (help) {
    out.print_and_exit = flags.Usage();
    return out;
  }
  std::vector<std::string> words = *others;
  if (command == OfflineCommand::kWhy) {
    if (words.empty()) return Fail("which pod?" + see_help);
    if (auto set = SetPod(words.front(), out); !set) return Fail("POD: " + set.error().message);
    words.erase(words.begin());
    if (out.kubeconfig.empty() && out.daemon.url.empty()) out.kubeconfig = DefaultKubeconfig();
  }
  if (!words.empty()) return Fail("unexpected argument \"" + words.front() + "\"" + see_help);
  if (auto checked = CheckCluster(command, out); !checked)
    return Fail(checked.error().message + see_help);
  if (auto checked = CheckWhatIf(out.what_if); !checked) return Fail(checked.error());
  if (!out.pod.empty() && out.pod.find('/') == std::string::npos) {
    const auto pod_namespace = NamespaceOf(out);
    if (!pod_namespace) return Fail(pod_namespace.error());
    out.pod = *pod_namespace + "/" + out.pod;
  }
  return out;
}

int FailWith(std::string_view message) {
  std::fprintf(stderr, "Error: %.*s\n", static_cast<int>(message.size()), message.data());
  return kBadInput;
}

tl::expected<OfflineFlags, int> BeginOffline(OfflineCommand command,
                                             const std::vector<std::string>& arguments,
                                             const std::string& program) {
  auto flags = ParseOfflineFlags(command, arguments, program);
  if (!flags) return tl::unexpected(FailWith(flags.error().message));
  if (!flags->print_and_exit.empty()) {
    std::fputs(flags->print_and_exit.c_str(), stdout);
    return tl::unexpected(kDone);
  }
  base::SetUpLogging(flags->run.log);
  return std::move(*flags);
}

}  // namespace berth::app
