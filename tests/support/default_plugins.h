// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "plugins/in_tree_registry.h"
#include "src/config/types.h"

namespace berth::test {

// Whether the plugin is a default one with the default gates, of which two are on.
inline bool IsOnByDefault(const plugins::DefaultPlugin& plugin) {
  return plugin.feature_gate.empty() || plugin.feature_gate == "NodeDeclaredFeatures" ||
         plugin.feature_gate == "DynamicResourceAllocation";
}

// The plugins of the default profile with the default gates, in their order.
inline std::vector<config::PluginRef> DefaultPlugins() {
  std::vector<config::PluginRef> refs;
  for (const plugins::DefaultPlugin& plugin : plugins::DefaultMultiPoint()) {
    if (IsOnByDefault(plugin)) refs.push_back({std::string(plugin.name), plugin.weight});
  }
  return refs;
}

}  // namespace berth::test
