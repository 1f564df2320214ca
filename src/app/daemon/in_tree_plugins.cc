// SPDX-License-Identifier: Apache-2.0
#include "src/app/daemon/in_tree_plugins.h"

#include <string_view>
#include <utility>

#include "plugins/in_tree_registry.h"
#include "src/base/logging.h"
#include "src/base/suggestion.h"
#include "src/framework/loader.h"
#include "src/framework/runtime.h"

namespace berth::app {

InTreePlugins FindInTreePlugins() {
  InTreePlugins found;
  found.registry = plugins::InTreeRegistry();
  for (const plugins::ShippedPlugin& plugin : plugins::ShippedPlugins()) {
    found.registry.push_back(
        framework::ShippedPlugin(plugin.name, plugin.library, plugin.prepare_args));
  }
  found.args = plugins::InTreeArgs();
  for (const plugins::DefaultPlugin& plugin : plugins::DefaultMultiPoint()) {
    found.defaults.push_back(
        {{std::string(plugin.name), plugin.weight}, std::string(plugin.feature_gate)});
  }
  return found;
}

config::KnownPlugins KnownTo(const InTreePlugins& plugins, const config::FeatureGates& gates) {
  config::KnownPlugins known;
  for (const DefaultPlugin& entry : plugins.defaults) {
    if (!entry.feature_gate.empty() && !gates.Enabled(entry.feature_gate)) continue;
    known.defaults.push_back(entry.plugin);
  }
  for (const PluginArgs& args : plugins.args) known.args.emplace(args.plugin, args);
  known.features = gates.ResolveForArgs();
  known.hint = base::SuggestedField;
  return known;
}

Result<InTreePlugins> WithLoadedPlugins(InTreePlugins plugins,
                                        const std::vector<std::string>& folders) {
  std::vector<std::string_view> taken;
  for (const PluginRegistration& plugin : plugins.registry) taken.push_back(plugin.name);
  auto loaded = framework::LoadPlugins(folders, taken);
  if (!loaded) return Fail(loaded.error().Within("--plugin-dir"));
  for (const framework::PluginLibrary& library : loaded->libraries) {
    base::LogInfo("Loaded a plugin library", {{"file", library.file},
                                              {"version", library.version},
                                              {"interface", library.interface},
                                              {"plugins", framework::PluginList(library.plugins)}});
  }
  for (PluginRegistration& plugin : loaded->registrations) {
    plugins.registry.push_back(std::move(plugin));
  }
  return plugins;
}

}  // namespace berth::app
