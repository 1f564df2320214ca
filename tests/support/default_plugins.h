// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "plugins/in_tree_registry.h"
#include "src/config/types.h"

namespace berth::test {

// The plugins of the default profile with the default gates, in their order.
inline std::vector<config::PluginRef> DefaultPlugins() {
  std::vector<config::PluginRef> refs;
  for (const plugins::DefaultPlugin& plugin : plugins::DefaultMultiPoint()) {
    if (plugin.feature_gate.empty()) refs.push_back({std::string(plugin.name), plugin.weight});
  }
  return refs;
}

}  // namespace berth::test
