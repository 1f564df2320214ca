// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "berth/plugin.h"
#include "src/config/types.h"

namespace berth::app {

// The plugins that exist, and those of a default profile with their weights, in order.
struct InTreePlugins {
  std::vector<PluginRegistration> registry;
  std::vector<config::PluginRef> defaults;
};

// What is built in.
InTreePlugins FindInTreePlugins();

}  // namespace berth::app
