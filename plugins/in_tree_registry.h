// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "berth/in_tree/plugin.h"
#include "berth/in_tree/plugin_args.h"
#include "berth/result.h"

namespace berth::plugins {

// A plugin of the default profile.
struct DefaultPlugin {
  std::string_view name;
  int32_t weight = 0;  // of its score; 0: not set
  // The feature gate without which it is none of the defaults; "" for always.
  std::string_view feature_gate = "";
};

// Every plugin that is built in, and those of kube-scheduler that are not there yet (without a
// factory: profiles may name them, and run without), in no particular order.
std::vector<PluginRegistration> InTreeRegistry();

// A plugin of a library that comes with Berth (plugins/legacy), which is loaded where a profile
// names the plugin.
struct ShippedPlugin {
  std::string_view name;
  std::string_view library;
  // Checks args and sets their defaults; nullptr: the plugin has none. The args' kinds are the
  // configuration's, which is read and checked without the library.
  Result<ConfigValue> (*prepare_args)(const ConfigValue& args) = nullptr;
};

// None is on by default.
std::vector<ShippedPlugin> ShippedPlugins();

// The args that are kinds of their own, of built-in plugins and shipped ones.
std::vector<PluginArgs> InTreeArgs();

// What MultiPoint enables by default, in kube-scheduler's order.
std::vector<DefaultPlugin> DefaultMultiPoint();

}  // namespace berth::plugins
