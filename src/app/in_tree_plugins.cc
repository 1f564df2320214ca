// SPDX-License-Identifier: Apache-2.0
#include "src/app/in_tree_plugins.h"

#include <string>

#include "plugins/in_tree_registry.h"

namespace berth::app {

InTreePlugins FindInTreePlugins() {
  InTreePlugins found;
  found.registry = plugins::InTreeRegistry();
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
  return known;
}

}  // namespace berth::app
