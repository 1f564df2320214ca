// SPDX-License-Identifier: Apache-2.0
#include "src/app/flags/flags.h"

#include <absl/strings/ascii.h>
#include <absl/strings/str_join.h>
#include <absl/strings/str_split.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "berth/field_errors.h"
#include "src/app/flags/flag_set.h"
#include "src/app/flags/flag_values.h"
#include "src/app/flags/log_flags.h"
#include "src/app/version.h"
#include "src/base/suggestion.h"
#include "src/base/text.h"

namespace berth::app {
namespace {

// What --version asks for: nothing, the version, or with "raw" more of it. --version=v1.37.1-x
// names what to report instead, where its numbers are those of ours.
struct VersionFlag {
  std::string value = "false";  // given last
  std::string reported = std::string(kKubernetesVersion);

  bool asked() const { return value == "true" || value == "raw"; }
  std::string Text() const {
    const std::string berth(kVersion);
    if (value == "raw") {
      return "version.Info{GitVersion:\"" + reported + "\", BerthVersion:\"" + berth + "\"}\n";
    }
    return "Kubernetes " + reported + " (Berth " + berth + ")\n";
  }
};

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

bool IsZeroPrefixed(const std::string& part) {
  return part.size() > 1 && part[0] == '0' && std::ranges::all_of(part, IsDigit);
}

// The numbers at the front, "1.37.1" of "1.37.1-rc.1".
std::string_view NumbersOf(std::string_view text) {
  size_t end = 0;
  for (size_t at = 0; at < text.size() && IsDigit(text[at]); ++at) {
    while (at < text.size() && IsDigit(text[at])) ++at;
    end = at;
    if (at == text.size() || text[at] != '.') break;
  }
  return text.substr(0, end);
}

// Takes identifiers between dots, "rc.1", off the front of `rest`. Errors: one is empty.
Result<std::vector<std::string>> TakeIdentifiers(std::string_view& rest) {
  const auto ends = std::ranges::find_if_not(rest, [](char c) {
    return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '-' || c == '.';
  });
  const std::string taken(rest.begin(), ends);
  rest.remove_prefix(taken.size());
  std::vector<std::string> identifiers = absl::StrSplit(taken, '.');
  if (std::ranges::any_of(identifiers, &std::string::empty)) return Fail("an empty identifier");
  return identifiers;
}

// The parts of the pre-release in what follows the numbers, "-rc.1+build". Errors: it is not of
// that form.
Result<std::vector<std::string>> PreReleaseIn(std::string_view extra) {
  std::vector<std::string> pre_release;
  if (extra.starts_with('-')) {
    extra.remove_prefix(1);
    auto taken = TakeIdentifiers(extra);
    if (!taken) return taken;
    pre_release = *std::move(taken);
  }
  if (extra.starts_with('+')) {
    extra.remove_prefix(1);
    if (auto taken = TakeIdentifiers(extra); !taken) return taken;
  }
  if (!base::Trim(extra).empty()) return Fail("something follows");
  return pre_release;
}

// Errors: `version` cannot be reported in the place of ours, in kube-scheduler's words.
Result<void> CheckReported(const std::string& version) {
  const std::string numbers(NumbersOf(std::string_view(version).substr(1)));
  if (numbers.empty()) return Fail("could not parse " + Quoted(version) + " as version");
  std::vector<std::string> parts = absl::StrSplit(numbers, '.');
  if (parts.size() != 3) return Fail("illegal version string " + Quoted(version));
  if (std::ranges::none_of(parts, IsZeroPrefixed)) {
    const std::string extra = version.substr(1 + numbers.size());
    auto pre_release = PreReleaseIn(extra);
    if (!pre_release) {
      return Fail("could not parse pre-release/metadata (" + extra + ") in version " +
                  Quoted(version));
    }
    parts = *std::move(pre_release);
  }
  const auto wrong = std::ranges::find_if(parts, IsZeroPrefixed);
  if (wrong != parts.end()) {
    return Fail("illegal zero-prefixed version component " + Quoted(*wrong) + " in " +
                Quoted(version));
  }
  const std::string known(kKubernetesVersion);
  if ("v" + numbers == known) return {};
  return Fail("version " + Quoted(version) + " must match major/minor/patch of default version " +
              Quoted(known));
}

Result<void> ReadVersion(const std::string& value, VersionFlag& out) {
  if (value.starts_with('v')) {
    if (auto checked = CheckReported(value); !checked) return checked;
    out.reported = value;
    out.value = value;
    return {};
  }
  if (value == "raw") {
    out.value = value;
    return {};
  }
  const auto wanted = ReadFlagValue<bool>(value);
  if (!wanted) return Fail(wanted.error());
  out.value = WriteFlagValue(*wanted);
  return {};
}

void AddVersion(FlagSet& flags, VersionFlag& out) {
  flags.AddSwitch(
      "version",
      "Print the version and exit; --version=raw prints more; --version=vX.Y.Z... sets the "
      "version that is reported, where its numbers are this one's.",
      [&out](const std::string& value) { return ReadVersion(value, out); },
      [&out] { return out.value; });
}

constexpr auto kFlags = std::to_array<std::string_view>({
    "contention-profiling",
    "disable-http2-serving",
    "http2-max-streams-per-connection",
    "log-flush-frequency",
    "log-json-info-buffer-size",
    "log-text-info-buffer-size",
    "permit-address-sharing",
});

// More than any disk has.
constexpr uint64_t kMostRecordMib = uint64_t{1} << 30;

constexpr std::string_view kIgnoredWithConfig = " Ignored where --config is given.";

void AddMisc(FlagSet& flags, RunFlags& out) {
  flags.Group("Misc flags");
  flags.Value("config", "The configuration file (KubeSchedulerConfiguration v1).", out.config);
  flags.Value("write-config-to", "Write the effective configuration to this file and exit.",
              out.write_config_to);
  flags.Value("master", "Address of the API server; overrides that of the kubeconfig.", out.master);
  flags.Value("reload-config",
              "Watch the configuration file, and swap the profiles' plugins, weights and args when "
              "it changes.",
              out.reload_config);
  AddPluginDir(flags, out);
  flags.Value("seed",
              "Seed of every draw: the same seed and the same inputs give the same decisions. "
              "Without it each start draws its own.",
              out.seed);
  AddRecord(flags, out);
  flags.Value("shadow",
              "Decide for the pods of another scheduler, bind and write nothing, and tell at the "
              "end how the two compare. Holds no lease.",
              out.shadow);
  flags.Value("shadow-report", "Write what --shadow came to to this file at the end, as JSON.",
              out.shadow_report);
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
              out.kube_api_content_type, "application/vnd.kubernetes.protobuf");
  flags.Value("kube-api-qps", "Requests a second to the API server (50)." + ignored,
              out.kube_api_qps, "50");
  flags.Value("kube-api-burst", "Requests to the API server at once (100)." + ignored,
              out.kube_api_burst, "100");
  flags.Value("profiling", "Serve /debug (true)." + ignored, out.profiling, "true");
  flags.Value("contention-profiling", "Profile waiting for locks (true)." + ignored,
              out.contention_profiling, "true");
  flags.Value("pod-max-in-unschedulable-pods-duration",
              "How long a pod stays unschedulable before it is tried again without an event (5m).",
              out.pod_max_in_unschedulable_pods_duration);
}

void AddLeaderElection(FlagSet& flags, RunFlags& out) {
  flags.Group("Leader election flags");
  flags.Value("leader-elect", "Hold a lease before scheduling (true).", out.leader_elect, "true");
  flags.Value("leader-elect-lease-duration", "How long others wait for a silent leader (15s).",
              out.leader_elect_lease_duration, "15s");
  flags.Value("leader-elect-renew-deadline", "When a leader that cannot renew gives up (10s).",
              out.leader_elect_renew_deadline, "10s");
  flags.Value("leader-elect-retry-period", "Time between tries to acquire and to renew (2s).",
              out.leader_elect_retry_period, "2s");
  flags.Value("leader-elect-resource-lock", "Kind of the lock (leases).",
              out.leader_elect_resource_lock, "leases");
  flags.Value("leader-elect-resource-name", "Name of the lease (kube-scheduler).",
              out.leader_elect_resource_name, "kube-scheduler");
  flags.Value("leader-elect-resource-namespace", "Namespace of the lease (kube-system).",
              out.leader_elect_resource_namespace, "kube-system");
}

// The settings by component, "" first, as /flagz shows them: ":A=true,kube:B=false".
std::string ShowFeatureGates(const std::vector<std::string>& given) {
  std::map<std::string, std::string> by_component;
  for (const std::string& setting :
       std::vector<std::string>(absl::StrSplit(absl::StrJoin(given, ","), ','))) {
    if (setting.empty()) continue;
    const size_t colon = setting.find(':');
    const bool named = colon != std::string::npos;
    const std::string component(base::Trim(named ? setting.substr(0, colon) : ""));
    std::string& list = by_component[component];
    list += (list.empty() ? "" : ",") + component + ":";
    list += base::Trim(std::string_view(setting).substr(named ? colon + 1 : 0));
  }
  std::string shown;
  for (const auto& [component, list] : by_component) shown += (shown.empty() ? "" : ",") + list;
  return shown;
}

void AddFeatureGates(FlagSet& flags, RunFlags& out) {
  flags.Group("Feature gate flags");
  flags.Value("emulated-version",
              "Version of Kubernetes whose feature gates there are, with their defaults then: 1.34 "
              "to 1.37 (1.37).",
              out.emulated_version);
  flags.Add(
      "feature-gates", "[kube:]name=bool,...", "Feature gates; may be repeated.",
      [&out](const std::string& value) -> Result<void> {
        out.feature_gates.push_back(value);
        return {};
      },
      [&out] { return ShowFeatureGates(out.feature_gates); });
  flags.Value("min-compatibility-version",
              "Oldest version that must be able to read what is written (the one before "
              "--emulated-version).",
              out.min_compatibility_version);
}

// The minor version of "[kube=]1.36"; nullopt for an empty list.
Result<std::optional<int>> ReadMinorVersion(const std::vector<std::string>& values) {
  std::optional<int> minor;
  for (const std::string& value : values) {
    std::string version = value;
    if (const size_t equals = value.find('='); equals != std::string::npos) {
      const std::string component = value.substr(0, equals);
      if (component != "kube") return Fail("component not registered: " + component);
      version = value.substr(equals + 1);
    }
    if (minor)
      return Fail("duplicate version flag, kube=1." + std::to_string(*minor) +
                  " and kube=" + version);
    if (version.starts_with('v')) version.erase(0, 1);
    if (version.find_first_not_of("0123456789.") != std::string::npos || version.empty()) {
      return Fail("could not parse " + Quoted(version) + " as version");
    }
    // A patch version may be 0.
    const size_t patch = version.find('.', 2);
    const auto number = version.starts_with("1.")
                            ? ReadFlagValue<uint64_t>(version.substr(2, patch - 2))
                            : Result<uint64_t>(Fail("not 1.x"));
    const auto patch_number = patch == std::string::npos
                                  ? Result<uint64_t>(0)
                                  : ReadFlagValue<uint64_t>(version.substr(patch + 1));
    if (!number || *number > std::numeric_limits<int>::max() || !patch_number) {
      return Fail("illegal version string " + Quoted(version));
    }
    if (*patch_number != 0) return Fail("patch version not allowed, got: kube=" + version);
    minor = static_cast<int>(*number);
  }
  return minor;
}

// Reads --emulated-version and --min-compatibility-version; what is out of range is added to
// `problems`.
Result<void> ReadVersions(RunFlags& flags, std::vector<std::string>& problems) {
  using config::GateVersions;
  const auto text = [](int minor) { return "1." + std::to_string(minor); };
  const auto emulated = ReadMinorVersion(flags.emulated_version);
  if (!emulated) return Fail(emulated.error());
  GateVersions& versions = flags.gate_versions;
  if (*emulated) {
    versions.emulated = **emulated;
    versions.min_compatibility = std::max(**emulated - 1, GateVersions::kOldest);
  }
  if (versions.emulated < GateVersions::kOldest || versions.emulated > GateVersions::kNewest) {
    problems.push_back("emulation version " + text(versions.emulated) + " is not between [" +
                       text(GateVersions::kOldest) + ", " + text(GateVersions::kNewest) + ".0]");
  }
  const auto oldest = ReadMinorVersion(flags.min_compatibility_version);
  if (!oldest) return Fail(oldest.error());
  if (*oldest) versions.min_compatibility = **oldest;
  if (versions.min_compatibility < GateVersions::kOldest ||
      versions.min_compatibility > versions.emulated) {
    problems.push_back("minCompatibilityVersion version " + text(versions.min_compatibility) +
                       " is not between [" + text(GateVersions::kOldest) + ", " +
                       text(versions.emulated) + "]");
  }
  return {};
}

std::string AsGoList(const std::vector<std::string>& texts) {
  std::string list;
  for (const std::string& text : texts) list += (list.empty() ? "\"" : " \"") + text + "\"";
  return "[" + list + "]";
}

FlagError Logged(std::string message, const base::LogOptions& log,
                 std::vector<std::string> causes = {}) {
  return {std::move(message), "", FlagError::Form::kLogged, log, std::move(causes)};
}

// Checks the log's flags and then the others, as kube-scheduler does once all are read. `problems`
// are those known before.
tl::expected<void, FlagError> CheckFlags(RunFlags& flags, LogFlags& logs,
                                         const config::FeatureGates& gates,
                                         std::vector<std::string> problems) {
  const LogGates log_gates{gates.Enabled("LoggingAlphaOptions"),
                           gates.Enabled("LoggingBetaOptions")};
  if (auto finished = FinishLogFlags(logs, log_gates); !finished) {
    return tl::unexpected(FlagError{finished.error().message, "", FlagError::Form::kPlain});
  }
  flags.log = logs.options;
  if (!flags.shadow_report.empty() && !flags.shadow) {
    problems.emplace_back("--shadow-report is of no use without --shadow");
  }
  if (flags.shadow && !flags.record.empty()) {
    problems.emplace_back("--shadow and --record exclude each other: a replay binds");
  }
  for (std::string& problem : ServingFlagProblems(flags, gates.Enabled("RemoteRequestHeaderUID"))) {
    problems.push_back(std::move(problem));
  }
  if (auto error = AggregateProblems(problems)) {
    return tl::unexpected(Logged(std::move(error->message), flags.log, std::move(problems)));
  }
  return {};
}

// Errors: what people wrote in place of gates; the rest is for FeatureGates::Parse() to say.
Result<void> CheckGates(const std::string& value) {
  for (const std::string& entry : std::vector<std::string>(absl::StrSplit(value, ','))) {
    const size_t equals = std::min(entry.find('='), entry.size());
    std::string_view name = std::string_view(entry).substr(0, equals);
    name = base::Trim(name.substr(name.find(':') + 1));
    const std::string_view setting = base::Trim(std::string_view(entry).substr(equals));
    if (name.empty() && setting.empty()) continue;
    if (setting.empty() || !base::ParseBool(base::Trim(setting.substr(1)))) {
      return Fail("must be NAME=true or NAME=false");
    }
    const auto gates = config::KnownFeatureGates();
    if (std::ranges::find(gates, name, &config::FeatureGate::name) != gates.end()) continue;
    base::Suggestion meant(name);
    for (const config::FeatureGate& gate : gates) meant.Try(gate.name);
    return Fail("unrecognized feature gate: " + std::string(name) + meant.ToString());
  }
  return {};
}

}  // namespace

std::span<const std::string_view> FlagsWithoutEffect() { return kFlags; }

tl::expected<RunFlags, FlagError> ParseRunFlags(const std::vector<std::string>& arguments,
                                                const std::string& program) {
  FlagSet flags(program,
                "Assigns pods to nodes: watches an API server and binds the pods that name one of "
                "its profiles.");
  RunFlags out;
  LogFlags logs;
  bool help = false;
  VersionFlag version;
  AddMisc(flags, out);
  AddSecureServing(flags, out.secure_serving);
  AddAuthentication(flags, out.authentication);
  AddAuthorization(flags, out.authorization);
  AddDeprecated(flags, out);
  AddLeaderElection(flags, out);
  AddFeatureGates(flags, out);
  AddMetrics(flags, out.metrics);
  AddLogs(flags, logs);
  flags.Group("Global flags");
  flags.Value("help", "Print this text.", help);
  AddVersion(flags, version);

  const auto others = flags.Parse(arguments);
  if (!others) return tl::unexpected(FlagError{others.error().message, flags.Usage()});
  if (help) {
    out.print_and_exit = flags.Usage();
    return out;
  }
  if (std::ranges::any_of(*others, [](const std::string& other) { return !other.empty(); })) {
    return tl::unexpected(
        FlagError{"\"" + program + "\" does not take any arguments, got " + AsGoList(*others)});
  }
  std::vector<std::string> problems;
  if (auto versions = ReadVersions(out, problems); !versions) {
    return tl::unexpected(Logged(versions.error().message, {}));
  }
  const auto gates = config::FeatureGates::Parse(out.feature_gates, out.gate_versions);
  if (!gates) return tl::unexpected(Logged(gates.error().Within("--feature-gates").message, {}));
  if (version.asked()) {
    out.print_and_exit = version.Text();
    return out;
  }
  if (auto checked = CheckFlags(out, logs, *gates, std::move(problems)); !checked) {
    return tl::unexpected(checked.error());
  }
  out.values = flags.Values();
  for (std::string_view flag : FlagsWithoutEffect()) {
    if (flags.Given(flag)) out.without_effect.emplace_back(flag);
  }
  return out;
}

void AddRecord(FlagSet& flags, RunFlags& out) {
  flags.Add("record", "FOLDER",
            "Records what arrives at the scheduler and what it decides, as files of this folder; "
            "`berth replay` repeats it.",
            [&out](const std::string& value) -> Result<void> {
              if (value.empty()) return Fail("must name a folder");
              out.record = value;
              return {};
            });
  flags.Add(
      "record-max-size", "MIB",
      "What all recordings in the folder may take together, in MiB (1024): the oldest go first.",
      [&out](const std::string& value) -> Result<void> {
        const auto size = ReadFlagValue<uint64_t>(value);
        if (!size || *size == 0 || *size > kMostRecordMib) {
          return Fail("must be between 1 and " + std::to_string(kMostRecordMib));
        }
        out.record_max_mib = *size;
        return {};
      });
}

std::map<std::string, std::string> ServedValues(const RunFlags& flags) {
  std::map<std::string, std::string> values = flags.values;
  const SecureServingFlags& secure = flags.secure_serving;
  const bool given = !secure.tls_cert_file.empty() || !secure.tls_private_key_file.empty();
  if (secure.secure_port == 0 || secure.cert_dir.empty() || given) return values;
  const std::filesystem::path folder = secure.cert_dir;
  values["tls-cert-file"] = (folder / "kube-scheduler.crt").lexically_normal();
  values["tls-private-key-file"] = (folder / "kube-scheduler.key").lexically_normal();
  return values;
}

void AddQuietVerbosity(FlagSet& flags, RunFlags& out) {
  out.log.verbosity = -1;
  flags.Add("v", "level", "Verbosity of the log on standard error; warnings only without it.",
            [&out](const std::string& value) -> Result<void> {
              const auto level = ReadFlagValue<uint64_t>(value);
              if (!level) return Fail(std::string(ValueRule<uint64_t>()));
              out.log.verbosity = static_cast<int>(std::min<uint64_t>(*level, 100));
              return {};
            });
}

void AddPluginDir(FlagSet& flags, RunFlags& out, std::string_view what_for) {
  flags.Add("plugin-dir", "FOLDER",
            "Loads the plugin libraries (*.so) of this folder, by name; may be repeated. " +
                std::string(what_for),
            [&out](const std::string& value) -> Result<void> {
              if (value.empty()) return Fail("must name a folder");
              // A folder that stands twice counts once.
              if (std::ranges::find(out.plugin_dirs, value) == out.plugin_dirs.end()) {
                out.plugin_dirs.push_back(value);
              }
              return {};
            });
}

void AddFeatureGates(FlagSet& flags, std::vector<std::string>& out, const std::string& help) {
  flags.Add("feature-gates", "[kube:]name=bool,...", help,
            [&out](const std::string& value) -> Result<void> {
              if (auto checked = CheckGates(value); !checked) return checked;
              out.push_back(value);
              return {};
            });
}

}  // namespace berth::app
