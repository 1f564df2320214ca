// SPDX-License-Identifier: Apache-2.0
#include "src/app/settings.h"

#include <cctype>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <optional>
#include <system_error>
#include <utility>

#include "src/client/file.h"
#include "src/config/extenders.h"
#include "src/config/load.h"
#include "src/config/validate.h"

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

Result<std::string> ReadFile(const std::string& path) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored))
    return Fail("read " + path + ": is a directory");
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    // Go begins these with a small letter.
    std::string why = std::generic_category().message(errno);
    why[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(why[0])));
    return Fail("open " + path + ": " + why);
  }
  std::string text(client::kMostFileBytes + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (file.bad()) return Fail("read " + path + ": failed");
  text.resize(static_cast<size_t>(file.gcount()));
  if (text.size() > client::kMostFileBytes) return Fail("read " + path + ": too large");
  text.shrink_to_fit();
  return text;
}

Result<config::SchedulerConfiguration> FromFile(const RunFlags& flags,
                                                const config::KnownPlugins& known) {
  const auto text = ReadFile(flags.config);
  if (!text) return Fail(text.error());
  auto configuration = config::Decode(*text, flags.config, known);
  if (!configuration) return configuration;
  ApplyLeaderElection(flags, configuration->leader_election);
  if (auto problem = config::Validate(*configuration, known))
    return Fail(problem->Within(flags.config));
  return configuration;
}

Result<config::SchedulerConfiguration> FromFlags(const RunFlags& flags,
                                                 const config::KnownPlugins& known) {
  config::SchedulerConfiguration configuration = config::DefaultConfiguration(known);
  ApplyDeprecated(flags, configuration);
  ApplyLeaderElection(flags, configuration.leader_election);
  // kube-scheduler does not check here, and fails later or runs with the nonsense.
  if (auto problem = config::Validate(configuration, known)) return Fail(*problem);
  return configuration;
}

}  // namespace

Result<Settings> ResolveSettings(const RunFlags& flags, const InTreePlugins& plugins) {
  auto gates = config::FeatureGates::Parse(flags.feature_gates, flags.min_compatibility_minor);
  if (!gates) return Fail(gates.error().Within("--feature-gates"));
  const config::KnownPlugins known = KnownTo(plugins, *gates);
  auto configuration = flags.config.empty() ? FromFlags(flags, known) : FromFile(flags, known);
  if (!configuration) return Fail(configuration.error());
  if (auto left = config::LeaveManagedResources(*configuration); !left) {
    return Fail(left.error().Within("couldn't build extenders"));
  }
  return Settings{std::move(*configuration), std::move(*gates)};
}

}  // namespace berth::app
