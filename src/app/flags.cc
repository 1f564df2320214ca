// SPDX-License-Identifier: Apache-2.0
#include "src/app/flags.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

#include "src/app/flag_set.h"
#include "src/app/flags_without_effect.h"
#include "src/app/version.h"
#include "src/config/feature_gates.h"

namespace berth::app {
namespace {

constexpr int kMinorVersion = 37;
constexpr int kOldestMinCompatibility = 34;

constexpr std::string_view kIgnoredWithConfig = " Ignored where --config is given.";

void AddMisc(FlagSet& flags, RunFlags& out) {
  flags.Group("Misc flags");
  flags.Value("config", "The configuration file (KubeSchedulerConfiguration v1).", out.config);
  flags.Value("write-config-to", "Write the effective configuration to this file and exit.",
              out.write_config_to);
  flags.Value("master", "Address of the API server; overrides that of the kubeconfig.", out.master);
  flags.Value("seed",
              "Seed of every draw: the same seed and the same inputs give the same decisions. "
              "Without it each start draws its own.",
              out.seed);
}

void AddDeprecated(FlagSet& flags, RunFlags& out) {
  const std::string ignored(kIgnoredWithConfig);
  flags.Group("Deprecated flags");
  flags.Value("kubeconfig",
              "File that names the API server and the credentials; without it and --master, the "
              "pod's service account." +
                  ignored,
              out.kubeconfig);
  flags.Value("kube-api-content-type",
              "Content type of requests (application/vnd.kubernetes.protobuf)." + ignored,
              out.kube_api_content_type);
  flags.Value("kube-api-qps", "Requests a second to the API server (50)." + ignored,
              out.kube_api_qps);
  flags.Value("kube-api-burst", "Requests to the API server at once (100)." + ignored,
              out.kube_api_burst);
  flags.Value("profiling", "Has no effect yet." + ignored, out.profiling);
  flags.Value("contention-profiling", "Has no effect yet." + ignored, out.contention_profiling);
  flags.Value("pod-max-in-unschedulable-pods-duration",
              "How long a pod stays unschedulable before it is tried again without an event (5m).",
              out.pod_max_in_unschedulable_pods_duration);
}

void AddLeaderElection(FlagSet& flags, RunFlags& out) {
  flags.Group("Leader election flags");
  flags.Value("leader-elect", "Hold a lease before scheduling (true). Is not done yet.",
              out.leader_elect);
  flags.Value("leader-elect-lease-duration", "How long others wait for a silent leader (15s).",
              out.leader_elect_lease_duration);
  flags.Value("leader-elect-renew-deadline", "When a leader that cannot renew gives up (10s).",
              out.leader_elect_renew_deadline);
  flags.Value("leader-elect-retry-period", "Time between tries to acquire and to renew (2s).",
              out.leader_elect_retry_period);
  flags.Value("leader-elect-resource-lock", "Kind of the lock (leases).",
              out.leader_elect_resource_lock);
  flags.Value("leader-elect-resource-name", "Name of the lease (kube-scheduler).",
              out.leader_elect_resource_name);
  flags.Value("leader-elect-resource-namespace", "Namespace of the lease (kube-system).",
              out.leader_elect_resource_namespace);
}

// The minor version of "[kube=]1.36".
Result<int> ReadMinorVersion(const std::string& text) {
  std::string_view version = text;
  if (version.starts_with("kube=")) version.remove_prefix(5);
  if (version.starts_with("v")) version.remove_prefix(1);
  if (version.starts_with("1.")) {
    auto minor = ReadFlagValue<int32_t>(std::string(version.substr(2)));
    if (minor && *minor >= 0) return *minor;
  }
  return Fail("must be [kube=]1.<minor>");
}

void AddFeatureGates(FlagSet& flags, RunFlags& out) {
  flags.Group("Feature gate flags");
  flags.Add("feature-gates", "[kube:]name=bool,...", "Feature gates; may be repeated.",
            [&out](const std::string& value) -> Result<void> {
              out.feature_gates.push_back(value);
              return {};
            });
  flags.Add("emulated-version", "version", "Only 1.37 can be emulated.",
            [](const std::string& value) -> Result<void> {
              const auto minor = ReadMinorVersion(value);
              if (!minor) return Fail(minor.error());
              if (*minor != kMinorVersion) return Fail("only 1.37 can be emulated");
              return {};
            });
  flags.Add("min-compatibility-version", "version",
            "Oldest version that must be able to read what is written (1.36).",
            [&out](const std::string& value) -> Result<void> {
              const auto minor = ReadMinorVersion(value);
              if (!minor) return Fail(minor.error());
              if (*minor < kOldestMinCompatibility || *minor > kMinorVersion) {
                return Fail("must be 1.34 to 1.37");
              }
              out.min_compatibility_minor = *minor;
              return {};
            });
}

void AddLogs(FlagSet& flags, RunFlags& out) {
  flags.Group("Logs flags");
  flags.Add("v", "level", "Verbosity of the log (0).",
            [&out](const std::string& value) -> Result<void> {
              const auto level = ReadFlagValue<uint64_t>(value);
              if (!level) return Fail(level.error());
              out.log.verbosity = static_cast<int>(std::min<uint64_t>(*level, 100));
              return {};
            });
  flags.Add("logging-format", "text|json", "Format of the log (text).",
            [&out](const std::string& value) -> Result<void> {
              if (value != "text" && value != "json") return Fail("Unsupported log format");
              out.log.format = value == "json" ? base::LogFormat::kJson : base::LogFormat::kText;
              return {};
            });
}

void AddWithoutEffect(FlagSet& flags, std::map<std::string, bool, std::less<>>& given) {
  for (const FlagWithoutEffect& flag : FlagsWithoutEffect()) {
    flags.Group(std::string(flag.group));
    const auto set = [&given, &flag](const std::string& value) -> Result<void> {
      if (flag.check != nullptr) {
        if (auto checked = flag.check(value); !checked) return checked;
      }
      given[std::string(flag.name)] = true;
      return {};
    };
    if (flag.kind.empty()) {
      flags.AddSwitch(std::string(flag.name), "Has no effect yet.", set);
    } else {
      flags.Add(std::string(flag.name), flag.kind, "Has no effect yet.", set);
    }
  }
}

// "true" or "raw", from --version[=raw].
std::string VersionText(const std::string& wanted) {
  const std::string berth(kVersion);
  const std::string kubernetes(kKubernetesVersion);
  if (wanted == "raw") {
    return "version.Info{GitVersion:\"" + kubernetes + "\", BerthVersion:\"" + berth + "\"}\n";
  }
  return "Kubernetes " + kubernetes + " (Berth " + berth + ")\n";
}

std::string AsGoList(const std::vector<std::string>& texts) {
  std::string list;
  for (const std::string& text : texts) list += (list.empty() ? "\"" : " \"") + text + "\"";
  return "[" + list + "]";
}

}  // namespace

tl::expected<RunFlags, FlagError> ParseRunFlags(const std::vector<std::string>& arguments,
                                                const std::string& program) {
  FlagSet flags(program,
                "Assigns pods to nodes: watches an API server and binds the pods that name one of "
                "its profiles.");
  RunFlags out;
  std::map<std::string, bool, std::less<>> given;
  bool help = false;
  std::string version;
  AddMisc(flags, out);
  AddDeprecated(flags, out);
  AddLeaderElection(flags, out);
  AddFeatureGates(flags, out);
  AddLogs(flags, out);
  AddWithoutEffect(flags, given);
  flags.Group("Global flags");
  flags.Value("help", "Print this text.", help);
  flags.AddSwitch("version", "Print the version and exit; --version=raw prints more.",
                  [&version](const std::string& value) -> Result<void> {
                    if (value != "raw") {
                      const auto wanted = ReadFlagValue<bool>(value);
                      if (!wanted) return Fail(wanted.error());
                      version = *wanted ? "true" : "";
                      return {};
                    }
                    version = value;
                    return {};
                  });

  const auto others = flags.Parse(arguments);
  if (!others) return tl::unexpected(FlagError{others.error().message, flags.Usage()});
  if (help) {
    out.print_and_exit = flags.Usage();
    return out;
  }
  if (!version.empty()) {
    out.print_and_exit = VersionText(version);
    return out;
  }
  if (!others->empty()) {
    return tl::unexpected(
        FlagError{"\"" + program + "\" does not take any arguments, got " + AsGoList(*others), ""});
  }
  if (out.profiling) out.without_effect.push_back("profiling");
  if (out.contention_profiling) out.without_effect.push_back("contention-profiling");
  for (const FlagWithoutEffect& flag : FlagsWithoutEffect()) {
    if (given.contains(flag.name)) out.without_effect.emplace_back(flag.name);
  }
  return out;
}

}  // namespace berth::app
