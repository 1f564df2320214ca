// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "berth/in_tree/plugin_args.h"
#include "src/config/types.h"

namespace berth::config {

// What a configuration is read against. Immutable once made.
struct KnownPlugins {
  // The plugins of a default profile, in order, with their weights.
  std::vector<PluginRef> defaults;
  // Of the plugins whose args are a kind of their own, by name: how to default and check them.
  std::map<std::string, PluginArgs, std::less<>> args = {};
  ArgsFeatures features = {};
};

}  // namespace berth::config
