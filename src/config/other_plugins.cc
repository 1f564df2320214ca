// SPDX-License-Identifier: Apache-2.0
#include "src/config/other_plugins.h"

#include <algorithm>
#include <utility>

#include "src/base/suggestion.h"
#include "src/base/text.h"
#include "src/config/extension_points.h"

namespace berth::config {
namespace {

constexpr std::string_view kFittingPlugin = "NodeResourcesFit";

struct OldPlugin {
  std::string_view name;
  std::string_view write;  // in its place
  // The scoring strategy of NodeResourcesFit that is the same; "": none is.
  std::string_view strategy = {};
};

constexpr OldPlugin kOldPlugins[] = {
    {"NodeLabel", "addedAffinity in NodeAffinityArgs, or the pods' node affinity"},
    {"ServiceAffinity", "pod affinity with the label as topologyKey, or topologySpreadConstraints"},
    {"SelectorSpread", "nothing: PodTopologySpread's default constraints do it"},
    {"NodePreferAvoidPods", "a taint with effect PreferNoSchedule on the nodes"},
    {"NodeResourcesLeastAllocated",
     "scoringStrategy: {type: LeastAllocated} in NodeResourcesFitArgs, the default",
     "LeastAllocated"},
    {"NodeResourcesMostAllocated", "scoringStrategy: {type: MostAllocated} in NodeResourcesFitArgs",
     "MostAllocated"},
    {"RequestedToCapacityRatio",
     "scoringStrategy: {type: RequestedToCapacityRatio} in NodeResourcesFitArgs",
     "RequestedToCapacityRatio"},
    {"EBSLimits", "nothing: NodeVolumeLimits counts the same disks"},
    {"GCEPDLimits", "nothing: NodeVolumeLimits counts the same disks"},
    {"AzureDiskLimits", "nothing: NodeVolumeLimits counts the same disks"},
    {"CinderLimits", "nothing: NodeVolumeLimits counts the same disks"},
};

// Those of kubernetes-sigs/scheduler-plugins that are not built in.
constexpr std::string_view kSchedulerPlugins[] = {
    "CrossNodePreemption",  "DiskIO",  "NetworkOverhead", "Peaks",           "PodState",
    "PreemptionToleration", "QOSSort", "SySched",         "TopologicalSort",
};

bool Has(const std::vector<PluginRef>& list, std::string_view name) {
  return std::ranges::any_of(list, [name](const PluginRef& one) { return one.name == name; });
}

bool Scores(const Plugins& plugins, std::string_view name) {
  if (Has(plugins.score.enabled, name)) return true;
  const auto& disabled = plugins.score.disabled;
  return Has(plugins.multi_point.enabled, name) && !Has(disabled, name) && !Has(disabled, "*");
}

std::string StrategyOfFit(const Profile& profile) {
  for (const PluginConfig& config : profile.plugin_config) {
    if (config.name != kFittingPlugin || config.args.map() == nullptr) continue;
    const ConfigValue* strategy = config.args.Find("scoringStrategy");
    if (strategy == nullptr || strategy->map() == nullptr) continue;
    const ConfigValue* type = strategy->Find("type");
    if (type != nullptr && type->string() != nullptr) return *type->string();
  }
  return "LeastAllocated";
}

std::string Warning(const Profile& profile, const OldPlugin& old) {
  std::string text = "profile \"" + profile.scheduler_name + "\": plugin \"" +
                     std::string(old.name) + "\" is of older releases; write in its place " +
                     std::string(old.write);
  if (old.strategy.empty() || !Scores(profile.plugins, kFittingPlugin)) return text;
  const std::string strategy = StrategyOfFit(profile);
  text += ". NodeResourcesFit scores, too, by " + strategy;
  return text + (strategy == old.strategy ? ", so that it counts twice" : ", and undoes it");
}

}  // namespace

std::vector<std::string> OldPluginWarnings(const SchedulerConfiguration& configuration) {
  std::vector<std::string> warnings;
  for (const Profile& profile : configuration.profiles) {
    for (const OldPlugin& old : kOldPlugins) {
      if (IsEnabled(profile.plugins, old.name)) warnings.push_back(Warning(profile, old));
    }
  }
  return warnings;
}

std::vector<std::string> MisspeltPluginWarnings(const SchedulerConfiguration& configuration,
                                                const std::vector<PluginRegistration>& known) {
  std::vector<std::string> warnings;
  for (const Profile& profile : configuration.profiles) {
    const auto check = [&](std::string_view what, const std::string& name) {
      if (std::ranges::find(known, name, &PluginRegistration::name) != known.end()) return;
      base::Suggestion meant(name);
      for (const PluginRegistration& plugin : known) meant.Try(plugin.name);
      if (meant.word().empty()) return;
      std::string text = base::Concat("profile \"", profile.scheduler_name, "\": ", what, " \"",
                                      name, "\": there is no such plugin", meant.ToString());
      if (std::ranges::find(warnings, text) == warnings.end()) warnings.push_back(std::move(text));
    };
    for (const ExtensionPoint& point : kExtensionPoints) {
      for (const PluginRef& plugin : (profile.plugins.*point.set).disabled)
        check("disabled", plugin.name);
    }
    for (const PluginConfig& config : profile.plugin_config) check("pluginConfig", config.name);
  }
  return warnings;
}

std::string WhatItIs(std::string_view plugin) {
  if (std::ranges::find(kSchedulerPlugins, plugin) == std::end(kSchedulerPlugins)) return "";
  return "it is a plugin of kubernetes-sigs/scheduler-plugins, in Go, which Berth cannot load";
}

}  // namespace berth::config
