// SPDX-License-Identifier: Apache-2.0
#include "src/config/load.h"

#include <optional>
#include <set>
#include <string>
#include <utility>

#include "berth/config_value.h"
#include "berth/field_errors.h"
#include "src/config/decode.h"
#include "src/config/extension_points.h"
#include "src/config/merge.h"
#include "src/config/validate.h"
#include "src/documents/parse.h"

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
  constexpr std::string_view kGroupSlash = "kubescheduler.config.k8s.io/";
  const bool older = api_version.starts_with(std::string(kGroupSlash) + "v1beta") ||
                     api_version.starts_with(std::string(kGroupSlash) + "v1alpha");
  if (kind == kKind && older) {
    problem += ": set apiVersion: " + std::string(kApiVersion) + "; " +
               MigrationHint(std::string_view(api_version).substr(kGroupSlash.size()));
  } else {
    problem +=
        ": must be apiVersion: " + std::string(kApiVersion) + ", kind: " + std::string(kKind);
  }
  return problem;
}

std::set<std::string> EnabledPlugins(const Plugins& plugins) {
  std::set<std::string> names;
  for (const ExtensionPoint& point : kExtensionPoints) {
    for (const PluginRef& plugin : (plugins.*point.set).enabled) names.insert(plugin.name);
  }
  return names;
}

// Merges the default plugins and sets the defaults of args; enabled plugins that have a kind of
// args and got none get the defaults.
void SetProfileDefaults(Profile& profile, const KnownPlugins& known) {
  Plugins defaults;
  defaults.multi_point.enabled = known.defaults;
  profile.plugins = MergePlugins(defaults, profile.plugins);
  std::set<std::string> missing = EnabledPlugins(profile.plugins);
  for (const PluginConfig& entry : profile.plugin_config) missing.erase(entry.name);
  for (const std::string& name : missing) {
    if (known.args.contains(name)) profile.plugin_config.push_back({name, ConfigValue()});
  }
  for (PluginConfig& entry : profile.plugin_config) {
    const auto kind = known.args.find(entry.name);
    if (kind == known.args.end()) continue;
    if (entry.args.is_null()) entry.args = ConfigValue(ConfigValue::Map{});
    if (kind->second.with_defaults == nullptr) continue;
    entry.args = kind->second.with_defaults(entry.args, known.features);
  }
}

void SetDefaults(SchedulerConfiguration& config, const KnownPlugins& known) {
  for (Profile& profile : config.profiles) SetProfileDefaults(profile, known);
}

// A key that stands twice is found by the YAML reader, but is a matter of strictness.
std::string AsStrict(std::string message) {
  constexpr std::string_view kDuplicates = "yaml: unmarshal errors:";
  const size_t at = message.find(kDuplicates);
  if (at != std::string::npos) message.insert(at, "strict decoding error: ");
  return message;
}

bool IsJson(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t\r\n");
  return first != std::string_view::npos && text[first] == '{';
}

}  // namespace

SchedulerConfiguration DefaultConfiguration(const KnownPlugins& known) {
  SchedulerConfiguration config;
  config.profiles.emplace_back().scheduler_name = "default-scheduler";
  SetDefaults(config, known);
  return config;
}

Result<SchedulerConfiguration> Decode(std::string_view text, std::string_view file_name,
                                      const KnownPlugins& known) {
  const auto documents = documents::ParseYaml(text, file_name);
  if (!documents) return Fail(AsStrict(documents.error().message));
  const ConfigValue nothing;
  const ConfigValue& document = documents->empty() ? nothing : documents->front();
  if (const auto problem = TypeProblem(document)) {
    return Fail(Error{*problem}.Within(file_name));
  }
  auto config =
      DecodeFields(document, IsJson(text) ? MemberOrder::kAsWritten : MemberOrder::kByName);
  if (!config) return Fail(config.error().Within(file_name));
  SetDefaults(*config, known);
  return config;
}

Result<SchedulerConfiguration> Load(std::string_view text, std::string_view file_name,
                                    const KnownPlugins& known) {
  auto config = Decode(text, file_name, known);
  if (!config) return config;
  if (auto problem = Validate(*config, known)) return Fail(problem->Within(file_name));
  return config;
}

}  // namespace berth::config
