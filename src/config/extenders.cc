// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string_view>
#include <utility>

#include "src/config/extension_points.h"
#include "src/config/load.h"

namespace berth::config {
namespace {

constexpr std::string_view kFit = "NodeResourcesFit";
constexpr std::string_view kIgnoredResources = "ignoredResources";

bool Enables(const PluginSet& set, std::string_view plugin) {
  return std::any_of(set.enabled.begin(), set.enabled.end(),
                     [plugin](const PluginRef& ref) { return ref.name == plugin; });
}

bool Enables(const Plugins& plugins, std::string_view plugin) {
  return std::any_of(
      std::begin(kExtensionPoints), std::end(kExtensionPoints),
      [&](const ExtensionPoint& point) { return Enables(plugins.*point.set, plugin); });
}

ConfigValue With(const ConfigValue& args, ConfigValue ignored) {
  ConfigValue::Map fields;
  if (args.map() != nullptr) fields = *args.map();
  std::erase_if(fields, [](const auto& field) { return field.first == kIgnoredResources; });
  fields.emplace_back(kIgnoredResources, std::move(ignored));
  return ConfigValue(std::move(fields), args.line());
}

}  // namespace

Result<void> LeaveManagedResources(SchedulerConfiguration& configuration) {
  ConfigValue::List names;
  for (const Extender& extender : configuration.extenders) {
    for (const ExtenderManagedResource& resource : extender.managed_resources) {
      if (resource.ignored_by_scheduler) names.emplace_back(resource.name);
    }
  }
  if (names.empty()) return {};
  for (Profile& profile : configuration.profiles) {
    auto& configs = profile.plugin_config;
    auto fit = std::find_if(configs.begin(), configs.end(),
                            [](const PluginConfig& config) { return config.name == kFit; });
    if (fit == configs.end()) {
      if (!Enables(profile.plugins, kFit)) {
        return Fail("can't find NodeResourcesFitArgs in plugin config");
      }
      fit = configs.insert(configs.end(), {std::string(kFit), ConfigValue()});
    }
    fit->args = With(fit->args, ConfigValue(names));
  }
  return {};
}

}  // namespace berth::config
