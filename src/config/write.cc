// SPDX-License-Identifier: Apache-2.0
#include "src/config/write.h"

#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "src/config/extension_points.h"
#include "src/config/load.h"
#include "src/config/schema.h"
#include "src/config/tables.h"
#include "src/documents/write.h"

namespace berth::config {
namespace {

using Map = ConfigValue::Map;

// Args as a kind: with apiVersion and kind, all fields in one form.
ConfigValue PrintedArgs(const PluginConfig& config) {
  const Schema* schema = ArgsSchema(config.name);
  if (schema == nullptr) return config.args;
  Map fields;
  if (config.args.map() != nullptr) fields = *config.args.map();
  fields.emplace_back("apiVersion", ConfigValue(std::string(kApiVersion)));
  fields.emplace_back("kind", ConfigValue(config.name + "Args"));
  return AsPrinted(*schema, ConfigValue(std::move(fields)));
}

std::vector<PluginConfig> Shown(const Profile& profile, ShownArgs args) {
  std::vector<PluginConfig> printed;
  if (args == ShownArgs::kAll) {
    for (const PluginConfig& config : profile.plugin_config) {
      printed.push_back({config.name, config.args.is_null() ? config.args : PrintedArgs(config)});
    }
    return printed;
  }
  std::map<std::string_view, const PluginConfig*> shown;
  for (const PluginConfig& config : profile.plugin_config) {
    if (!IsEnabled(profile.plugins, config.name) || config.args.is_null()) continue;
    shown[config.name] = &config;
  }
  for (const auto& [name, config] : shown) printed.push_back({config->name, PrintedArgs(*config)});
  return printed;
}

constexpr std::string_view kHidden = "REDACTED";

// The member `name` of a map; nullptr: there is none.
ConfigValue* MemberOf(Map& map, std::string_view name) {
  for (auto& [key, value] : map) {
    if (key == name) return &value;
  }
  return nullptr;
}

// That of metricProvider, by which a plugin reads what nodes are measured to use.
void HideToken(ConfigValue& args) {
  constexpr std::string_view kProviderField = "metricProvider";
  constexpr std::string_view kTokenField = "token";
  const ConfigValue* given = args.Find(kProviderField);
  const ConfigValue* token = given == nullptr ? nullptr : given->Find(kTokenField);
  if (token == nullptr || (token->string() != nullptr && token->string()->empty())) return;
  Map provider = *given->map();
  *MemberOf(provider, kTokenField) = ConfigValue(std::string(kHidden));
  Map fields = *args.map();
  *MemberOf(fields, kProviderField) = ConfigValue(std::move(provider));
  args = ConfigValue(std::move(fields), args.line());
}

}  // namespace

ConfigValue ToDocument(const SchedulerConfiguration& config, ShownArgs args) {
  SchedulerConfiguration shown = config;
  for (Profile& profile : shown.profiles) profile.plugin_config = Shown(profile, args);
  const ConfigValue held = ToValue(shown);
  Map fields = *held.map();
  fields.emplace_back("apiVersion", ConfigValue(std::string(kApiVersion)));
  fields.emplace_back("kind", ConfigValue(std::string(kKind)));
  return AsPrinted(ConfigurationSchema(), ConfigValue(std::move(fields)));
}

SchedulerConfiguration WithoutSecrets(SchedulerConfiguration config) {
  for (Profile& profile : config.profiles) {
    for (PluginConfig& plugin : profile.plugin_config) HideToken(plugin.args);
  }
  for (Extender& extender : config.extenders) {
    if (!extender.tls_config || extender.tls_config->key_data.empty()) continue;
    extender.tls_config->key_data = kHidden;
  }
  return config;
}

std::string ToYaml(const SchedulerConfiguration& config) {
  return documents::ToYaml(ToDocument(config));
}

}  // namespace berth::config
