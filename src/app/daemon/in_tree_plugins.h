// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "berth/in_tree/plugin.h"
#include "berth/in_tree/plugin_args.h"
#include "src/config/feature_gates.h"
#include "src/config/load.h"
#include "src/config/types.h"

namespace berth::app {

// A plugin of the default profile, where its feature gate ("": none) is on.
struct DefaultPlugin {
  config::PluginRef plugin;
  std::string feature_gate;
};

// The plugins, the args that are kinds of their own, and the plugins of a default profile with
// their weights, in order.
struct InTreePlugins {
  std::vector<PluginRegistration> registry;
  std::vector<PluginArgs> args;
  std::vector<DefaultPlugin> defaults;
};

// What is built in, and what comes with Berth in libraries, which are loaded when one of their
// plugins is first made.
InTreePlugins FindInTreePlugins();

// What a configuration must know of the plugins. Errors say what was probably meant by unknown
// fields.
config::KnownPlugins KnownTo(const InTreePlugins& plugins, const config::FeatureGates& gates);

// `plugins` and those of the libraries in the folders (--plugin-dir). Errors: see
// framework::LoadPlugins.
Result<InTreePlugins> WithLoadedPlugins(InTreePlugins plugins,
                                        const std::vector<std::string>& folders);

}  // namespace berth::app
