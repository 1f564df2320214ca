// SPDX-License-Identifier: Apache-2.0
#include "src/app/in_tree_plugins.h"

#include <string>

#include "plugins/in_tree_registry.h"

namespace berth::app {

InTreePlugins FindInTreePlugins() {
  InTreePlugins found;
  found.registry = plugins::InTreeRegistry();
  for (const plugins::DefaultPlugin& plugin : plugins::DefaultMultiPoint()) {
    found.defaults.push_back({std::string(plugin.name), plugin.weight});
  }
  return found;
}

}  // namespace berth::app
