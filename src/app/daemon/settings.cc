// SPDX-License-Identifier: Apache-2.0
#include "src/app/daemon/settings.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <functional>
#include <iterator>
#include <optional>
#include <string_view>
#include <utility>

#include "berth/field_errors.h"
#include "src/base/file.h"
#include "src/base/logging.h"
#include "src/config/load.h"
#include "src/config/other_plugins.h"
#include "src/config/plugin_features.h"

namespace berth::app {
namespace {

template <typename T>
void Override(T& field, const std::optional<T>& flag) {
  if (flag) field = *flag;
}

void ApplyDeprecated(const RunFlags& flags, config::SchedulerConfiguration& configuration) {
  config::ClientConnection& connection = configuration.client_connection;
  Override(connection.kubeconfig, flags.kubeconfig);
  Override(connection.content_type, flags.kube_api_content_type);
  Override(connection.qps, flags.kube_api_qps);
  Override(connection.burst, flags.kube_api_burst);
  Override(configuration.enable_profiling, flags.profiling);
  Override(configuration.enable_contention_profiling, flags.contention_profiling);
}

void ApplyLeaderElection(const RunFlags& flags, config::LeaderElection& election) {
  Override(election.leader_elect, flags.leader_elect);
  Override(election.lease_duration, flags.leader_elect_lease_duration);
  Override(election.renew_deadline, flags.leader_elect_renew_deadline);
  Override(election.retry_period, flags.leader_elect_retry_period);
  Override(election.resource_lock, flags.leader_elect_resource_lock);
  Override(election.resource_name, flags.leader_elect_resource_name);
  Override(election.resource_namespace, flags.leader_elect_resource_namespace);
}

// The problems, one by one, are also added to `causes`, which may be nullptr.
std::optional<Error> CheckConfiguration(const config::SchedulerConfiguration& configuration,
                                        const config::KnownPlugins& known, Causes* causes) {
  const Causes problems = config::FindProblems(configuration, known);
  if (causes != nullptr) causes->insert(causes->end(), problems.begin(), problems.end());
  return AggregateProblems(problems);
}

Result<config::SchedulerConfiguration> FromText(const RunFlags& flags,
                                                const config::KnownPlugins& known,
                                                const std::string& text, const std::string& name,
                                                Causes* causes = nullptr) {
  auto configuration = config::Decode(text, name, known);
  if (!configuration) return configuration;
  ApplyLeaderElection(flags, configuration->leader_election);
  if (auto problem = CheckConfiguration(*configuration, known, causes)) {
    return Fail(problem->Within(name));
  }
  return configuration;
}

Result<config::SchedulerConfiguration> FromFile(const RunFlags& flags,
                                                const config::KnownPlugins& known, Causes* causes) {
  const auto text = base::ReadFile(flags.config);
  if (!text) return Fail(text.error());
  return FromText(flags, known, *text, flags.config, causes);
}

Result<config::SchedulerConfiguration> FromFlags(const RunFlags& flags,
                                                 const config::KnownPlugins& known,
                                                 Causes* causes) {
  config::SchedulerConfiguration configuration = config::DefaultConfiguration(known);
  ApplyDeprecated(flags, configuration);
  ApplyLeaderElection(flags, configuration.leader_election);
  // kube-scheduler does not check here, and fails later or runs with the nonsense.
  if (auto problem = CheckConfiguration(configuration, known, causes)) return Fail(*problem);
  const config::ClientConnection& connection = configuration.client_connection;
  if (connection.qps > 0 && connection.burst <= 0) {
    return Fail("--kube-api-burst: must be greater than 0 where --kube-api-qps is");
  }
  return configuration;
}

int32_t MaxPdVolumes() {
  const auto volumes = ParseMaxPdVolumes(std::getenv("KUBE_MAX_PD_VOLS"));
  if (volumes) return *volumes;
  base::LogError("KUBE_MAX_PD_VOLS counts for nothing", {{"err", volumes.error().message}});
  return 0;
}

}  // namespace

Features Settings::features() const {
  Features features = config::WithPlugins(feature_gates.Resolve(), configuration);
  features.max_pd_volumes = max_pd_volumes;
  return features;
}

std::vector<std::string> Settings::warnings() const {
  std::vector<std::string> warnings = feature_gates.warnings();
  warnings.insert(warnings.end(), plugin_warnings.begin(), plugin_warnings.end());
  return warnings;
}

Result<int32_t> ParseMaxPdVolumes(const char* text) {
  std::string_view digits = text == nullptr ? "" : text;
  if (digits.empty()) return 0;
  if (digits.size() > 1 && digits.starts_with('+')) digits.remove_prefix(1);
  int32_t volumes = 0;
  const char* const end = digits.data() + digits.size();
  const auto read = std::from_chars(digits.data(), end, volumes);
  if (read.ec == std::errc() && read.ptr == end && volumes > 0) return volumes;
  return Fail(Quoted(text) + " is no number above 0");
}

namespace {

using Configured =
    std::function<Result<config::SchedulerConfiguration>(const config::KnownPlugins&)>;

Result<Settings> Resolve(const RunFlags& flags, const InTreePlugins& plugins, Words words,
                         const Configured& configured) {
  auto gates = config::FeatureGates::Parse(flags.feature_gates, flags.gate_versions);
  if (!gates) return Fail(gates.error().Within("--feature-gates"));
  config::KnownPlugins known = KnownTo(plugins, *gates);
  if (words == Words::kUpstreams) known.hint = nullptr;
  auto configuration = configured(known);
  if (!configuration) return Fail(configuration.error());
  if (auto left = config::LeaveManagedResources(*configuration); !left) {
    return Fail(left.error().Within("couldn't build extenders"));
  }
  std::vector<std::string> warnings = config::OldPluginWarnings(*configuration);
  std::ranges::move(config::MisspeltPluginWarnings(*configuration, plugins.registry),
                    std::back_inserter(warnings));
  return Settings{std::move(*configuration), std::move(*gates), MaxPdVolumes(),
                  std::move(warnings)};
}

}  // namespace

Result<Settings> ResolveSettings(const RunFlags& flags, const InTreePlugins& plugins, Words words,
                                 Causes* causes) {
  return Resolve(flags, plugins, words, [&flags, causes](const config::KnownPlugins& known) {
    return flags.config.empty() ? FromFlags(flags, known, causes) : FromFile(flags, known, causes);
  });
}

Result<Settings> ResolveSettings(const RunFlags& flags, const InTreePlugins& plugins,
                                 const std::string& text, const std::string& name) {
  return Resolve(flags, plugins, Words::kWithSuggestions, [&](const config::KnownPlugins& known) {
    return FromText(flags, known, text, name);
  });
}

}  // namespace berth::app
