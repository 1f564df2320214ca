// SPDX-License-Identifier: Apache-2.0
#include "src/config/load.h"

#include <optional>
#include <string>
#include <utility>

#include "berth/config_value.h"
#include "berth/field_errors.h"
#include "src/api/parse.h"
#include "src/config/decode.h"
#include "src/config/merge.h"
#include "src/config/validate.h"

namespace berth::config {
namespace {

// What to change in a file of an older version, beyond its apiVersion.
std::string MigrationHint(std::string_view version) {
  constexpr std::string_view kSelectorSpread =
      "replace the plugin SelectorSpread by PodTopologySpread";
  constexpr std::string_view kWeights =
      "; the default weights of InterPodAffinity and NodeAffinity rose to 2, that of "
      "TaintToleration to 3";
  constexpr std::string_view kBeforeBeta2 =
      "; replace the plugins NodeLabel by NodeAffinity, ServiceAffinity by InterPodAffinity, "
      "NodePreferAvoidPods by taints, and NodeResourcesLeastAllocated, NodeResourcesMostAllocated "
      "and RequestedToCapacityRatio by scoringStrategy of NodeResourcesFit; drop "
      "healthzBindAddress and metricsBindAddress";
  std::string hint(kSelectorSpread);
  if (version == "v1beta3") return hint;
  hint += kWeights;
  if (version != "v1beta2") hint += kBeforeBeta2;
  return hint;
}

std::optional<std::string> TypeProblem(const ConfigValue& document) {
  if (document.map() == nullptr) {
    return "must be a map with apiVersion and kind, not " + std::string(document.TypeName());
  }
  const auto text = [&](std::string_view key) {
    const ConfigValue* value = document.Find(key);
    return value != nullptr && value->string() != nullptr ? *value->string() : std::string();
  };
  const std::string kind = text("kind");
  const std::string api_version = text("apiVersion");
  if (kind.empty()) {
    return "Object 'Kind' is missing: must be kind: " + std::string(kKind);
  }
  if (api_version.empty()) {
    return "Object 'apiVersion' is missing: must be apiVersion: " + std::string(kApiVersion);
  }
  if (api_version == kApiVersion) {
    if (kind == kKind) return std::nullopt;
    return "couldn't decode as KubeSchedulerConfiguration, got " + api_version + ", Kind=" + kind;
  }
  std::string problem =
      "no kind " + Quoted(kind) + " is registered for version " + Quoted(api_version);
  constexpr std::string_view kGroup = "kubescheduler.config.k8s.io/";
  const bool older = api_version.starts_with(std::string(kGroup) + "v1beta") ||
                     api_version.starts_with(std::string(kGroup) + "v1alpha");
  if (kind == kKind && older) {
    problem += ": set apiVersion: " + std::string(kApiVersion) + "; " +
               MigrationHint(std::string_view(api_version).substr(kGroup.size()));
  } else {
    problem +=
        ": must be apiVersion: " + std::string(kApiVersion) + ", kind: " + std::string(kKind);
  }
  return problem;
}

void MergeDefaultPlugins(SchedulerConfiguration& config,
                         const std::vector<PluginRef>& default_plugins) {
  Plugins defaults;
  defaults.multi_point.enabled = default_plugins;
  for (Profile& profile : config.profiles) {
    profile.plugins = MergePlugins(defaults, profile.plugins);
  }
}

}  // namespace

SchedulerConfiguration DefaultConfiguration(const std::vector<PluginRef>& default_plugins) {
  SchedulerConfiguration config;
  config.profiles.emplace_back().scheduler_name = "default-scheduler";
  MergeDefaultPlugins(config, default_plugins);
  return config;
}

Result<SchedulerConfiguration> Decode(std::string_view text, std::string_view file_name,
                                      const std::vector<PluginRef>& default_plugins) {
  const auto documents = api::ParseYaml(text, file_name);
  if (!documents) return Fail(documents.error());
  const ConfigValue nothing;
  const ConfigValue& document = documents->empty() ? nothing : documents->front();
  if (const auto problem = TypeProblem(document)) {
    return Fail(Error{*problem}.Within(file_name));
  }
  auto config = DecodeFields(document);
  if (!config) return Fail(config.error().Within(file_name));
  MergeDefaultPlugins(*config, default_plugins);
  return config;
}

Result<SchedulerConfiguration> Load(std::string_view text, std::string_view file_name,
                                    const std::vector<PluginRef>& default_plugins) {
  auto config = Decode(text, file_name, default_plugins);
  if (!config) return config;
  if (auto problem = Validate(*config)) return Fail(problem->Within(file_name));
  return config;
}

}  // namespace berth::config
