// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "berth/field_errors.h"
#include "src/config/extension_points.h"
#include "src/config/load.h"

namespace berth::config {
namespace {

using Problems = std::vector<std::string>;

constexpr std::array<std::string_view, 4> kRemovedPlugins = {"AzureDiskLimits", "CinderLimits",
                                                             "EBSLimits", "GCEPDLimits"};

// kube-scheduler takes it for the name of NodeResourcesFit, and finds its args not to be of that
// kind.
constexpr std::string_view kNoPlugin = "NodeResourcesFitArgs";

bool IsRemoved(std::string_view name) {
  return std::find(kRemovedPlugins.begin(), kRemovedPlugins.end(), name) != kRemovedPlugins.end();
}

// kube-scheduler refuses them wherever it looks for them; Berth has them still, as filters.
bool RefusesRemoved(const ExtensionPoint& point) {
  return point.refuses_removed_plugins && point.set != &Plugins::pre_filter &&
         point.set != &Plugins::filter;
}

// kube-scheduler names the wrong group's version here; the text is kept.
std::string RemovedPlugin(const std::string& path, std::string_view name) {
  return InvalidField(path, Quoted(name),
                      "was invalid in version \"v1\" (KubeSchedulerConfiguration is version " +
                          Quoted(kApiVersion) + ")");
}

void CheckLeaderElection(const LeaderElection& config, Problems& problems) {
  if (!config.leader_elect) return;
  const struct {
    std::string_view path;
    Duration value;
  } durations[] = {{"leaderElection.leaseDuration", config.lease_duration},
                   {"leaderElection.renewDeadline", config.renew_deadline},
                   {"leaderElection.retryPeriod", config.retry_period}};
  for (const auto& [path, value] : durations) {
    if (value > Duration::zero()) continue;
    problems.push_back(
        InvalidField(path, Quoted(FormatGoDuration(value)), "must be greater than zero"));
  }
  if (config.lease_duration <= config.renew_deadline) {
    // The value printed is the deadline, as kube-scheduler has it.
    problems.push_back(InvalidField("leaderElection.leaseDuration",
                                    Quoted(FormatGoDuration(config.renew_deadline)),
                                    "must be greater than `RenewDeadline`"));
  }
  const struct {
    std::string_view path;
    const std::string& value;
  } names[] = {{"leaderElection.resourceLock", config.resource_lock},
               {"leaderElection.resourceNamespace", config.resource_namespace},
               {"leaderElection.resourceName", config.resource_name}};
  for (const auto& [path, value] : names) {
    if (value.empty()) problems.push_back(RequiredField(path, ""));
  }
  if (config.resource_lock != "leases") {
    problems.push_back(InvalidField("leaderElection.resourceLock", Quoted(config.resource_lock),
                                    "resourceLock value must be \"leases\""));
  }
}

void CheckPercentage(const std::string& path, int32_t value, Problems& problems) {
  if (value < 0 || value > 100) {
    problems.push_back(InvalidField(path, std::to_string(value), "not in valid range [0-100]"));
  }
}

void CheckProfile(const Profile& profile, const std::string& path, const KnownPlugins& known,
                  Problems& problems) {
  if (profile.scheduler_name.empty()) {
    problems.push_back(RequiredField(path + ".schedulerName", ""));
  }
  if (profile.percentage_of_nodes_to_score) {
    CheckPercentage(path + ".percentageOfNodesToScore", *profile.percentage_of_nodes_to_score,
                    problems);
  }
  for (const ExtensionPoint& point : kExtensionPoints) {
    if (!RefusesRemoved(point)) continue;
    const std::vector<PluginRef>& enabled = (profile.plugins.*point.set).enabled;
    const std::string list = path + ".plugins." + std::string(point.field) + ".enabled";
    for (size_t i = 0; i < enabled.size(); ++i) {
      if (IsRemoved(enabled[i].name)) {
        problems.push_back(RemovedPlugin(IndexedPath(list, i), enabled[i].name));
      }
    }
  }
  std::set<std::string_view> seen;
  for (size_t i = 0; i < profile.plugin_config.size(); ++i) {
    const std::string& name = profile.plugin_config[i].name;
    const std::string entry = IndexedPath(path + ".pluginConfig", i);
    if (!seen.insert(name).second) problems.push_back(DuplicateField(entry, Quoted(name)));
    if (IsRemoved(name)) problems.push_back(RemovedPlugin(entry, name));
    if (name == kNoPlugin) {
      problems.push_back(InvalidField(entry + ".args", profile.plugin_config[i].args.ToJson(),
                                      "has to match plugin args"));
    }
    const auto kind = known.args.find(name);
    if (kind == known.args.end() || kind->second.problems == nullptr) continue;
    for (std::string& problem : kind->second.problems(
             profile.plugin_config[i].args, entry + ".args", {known.features, known.hint})) {
      problems.push_back(std::move(problem));
    }
  }
}

std::string ListAsJson(const std::vector<PluginRef>& list) {
  if (list.empty()) return "null";
  std::string text = "[";
  for (const PluginRef& plugin : list) {
    if (text.size() > 1) text += ',';
    text +=
        "{\"Name\":" + Quoted(plugin.name) + ",\"Weight\":" + std::to_string(plugin.weight) + "}";
  }
  return text + "]";
}

std::string SetAsJson(const PluginSet& set) {
  return "{\"Enabled\":" + ListAsJson(set.enabled) + ",\"Disabled\":" + ListAsJson(set.disabled) +
         "}";
}

std::string ArgsAsJson(const Profile& profile, std::string_view plugin) {
  std::string args = "null";
  for (const PluginConfig& entry : profile.plugin_config) {
    if (entry.name == plugin) args = entry.args.ToJson();
  }
  return args;
}

// One queue serves all profiles, so all must sort alike.
void CheckCommonQueueSort(const std::vector<Profile>& profiles, Problems& problems) {
  const PluginSet& wanted = profiles.front().plugins.queue_sort;
  if (wanted.enabled.size() > 1) {
    problems.push_back(InvalidField("profiles[0].plugins.queueSort.Enabled",
                                    std::to_string(wanted.enabled.size()),
                                    "only one queue sort plugin can be enabled"));
  }
  const std::string plugin = wanted.enabled.empty() ? "" : wanted.enabled.front().name;
  const std::string wanted_args = ArgsAsJson(profiles.front(), plugin);
  for (size_t i = 1; i < profiles.size(); ++i) {
    const std::string path = IndexedPath("profiles", i);
    const PluginSet& set = profiles[i].plugins.queue_sort;
    if (set != wanted) {
      problems.push_back(InvalidField(path + ".plugins.queueSort", SetAsJson(set),
                                      "must be the same for all profiles"));
    }
    if (plugin.empty()) continue;
    for (const PluginConfig& entry : profiles[i].plugin_config) {
      const std::string args = entry.args.ToJson();
      if (entry.name != plugin || args == wanted_args) continue;
      problems.push_back(InvalidField(path + ".pluginConfig.args", args,
                                      "queueSort must be the same for all profiles"));
    }
  }
}

void CheckProfiles(const std::vector<Profile>& profiles, const KnownPlugins& known,
                   Problems& problems) {
  if (profiles.empty()) {
    problems.push_back(RequiredField("profiles", ""));
    return;
  }
  std::set<std::string_view> names;
  for (size_t i = 0; i < profiles.size(); ++i) {
    const std::string path = IndexedPath("profiles", i);
    CheckProfile(profiles[i], path, known, problems);
    if (!names.insert(profiles[i].scheduler_name).second) {
      // kube-scheduler prints an object without visible fields for the value.
      problems.push_back(DuplicateField(path + ".schedulerName", "{}"));
    }
  }
  CheckCommonQueueSort(profiles, problems);
}

// Whether a node may offer it besides what Kubernetes defines itself.
bool IsExtendedResource(std::string_view name) {
  constexpr std::string_view kQuotaPrefix = "requests.";
  if (name.find('/') == std::string_view::npos || name.find("kubernetes.io/") != name.npos ||
      name.starts_with(kQuotaPrefix)) {
    return false;
  }
  return LabelKeyProblems(std::string(kQuotaPrefix) + std::string(name)).empty();
}

void CheckManagedResource(const std::string& path, const std::string& name, Problems& problems) {
  const std::vector<std::string> name_problems = LabelKeyProblems(name);
  for (const std::string& problem : name_problems) {
    problems.push_back(InvalidField(path, Quoted(name), problem));
  }
  if (name_problems.empty() && !IsExtendedResource(name)) {
    problems.push_back(InvalidField(path, Quoted(name), "is an invalid extended resource name"));
  }
}

void CheckExtenders(const std::vector<Extender>& extenders, Problems& problems) {
  std::set<std::string_view> managed;
  int binders = 0;
  for (size_t i = 0; i < extenders.size(); ++i) {
    const Extender& extender = extenders[i];
    const std::string path = IndexedPath("extenders", i);
    if (!extender.prioritize_verb.empty() && extender.weight <= 0) {
      problems.push_back(InvalidField(path + ".weight", std::to_string(extender.weight),
                                      "must have a positive weight applied to it"));
    }
    if (!extender.bind_verb.empty()) ++binders;
    for (size_t j = 0; j < extender.managed_resources.size(); ++j) {
      const std::string& name = extender.managed_resources[j].name;
      const std::string field = IndexedPath(path + ".managedResources", j) + ".name";
      CheckManagedResource(field, name, problems);
      if (!managed.insert(name).second) {
        problems.push_back(
            InvalidField(field, Quoted(name), "duplicate extender managed resource name"));
      }
    }
  }
  if (binders > 1) {
    problems.push_back(InvalidField(
        "extenders", Quoted("found " + std::to_string(binders) + " extenders implementing bind"),
        "only one extender can implement bind"));
  }
}

}  // namespace

std::vector<std::string> FindProblems(const SchedulerConfiguration& config,
                                      const KnownPlugins& known) {
  Problems problems;
  if (config.client_connection.burst < 0) {
    problems.push_back(InvalidField("clientConnection.burst",
                                    std::to_string(config.client_connection.burst),
                                    "must be non-negative"));
  }
  CheckLeaderElection(config.leader_election, problems);
  if (config.parallelism <= 0) {
    problems.push_back(InvalidField("parallelism", std::to_string(config.parallelism),
                                    "should be an integer value greater than zero"));
  }
  CheckProfiles(config.profiles, known, problems);
  CheckPercentage("percentageOfNodesToScore", config.percentage_of_nodes_to_score, problems);
  if (config.pod_initial_backoff_seconds <= 0) {
    problems.push_back(InvalidField("podInitialBackoffSeconds",
                                    std::to_string(config.pod_initial_backoff_seconds),
                                    "must be greater than 0"));
  }
  if (config.pod_max_backoff_seconds < config.pod_initial_backoff_seconds) {
    problems.push_back(InvalidField("podMaxBackoffSeconds",
                                    std::to_string(config.pod_max_backoff_seconds),
                                    "must be greater than or equal to PodInitialBackoffSeconds"));
  }
  CheckExtenders(config.extenders, problems);
  return problems;
}

std::optional<Error> Validate(const SchedulerConfiguration& config, const KnownPlugins& known) {
  return AggregateProblems(FindProblems(config, known));
}

}  // namespace berth::config
