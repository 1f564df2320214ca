// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "berth/config_value.h"
#include "berth/in_tree/plugin_args.h"

namespace berth::plugins {

// DynamicResourcesArgs: time limits of Filter on one node and of binding devices.
// See PluginArgs (berth/plugin_args.h).
ConfigValue DynamicResourcesArgsWithDefaults(const ConfigValue& args, const ArgsFeatures& features);
std::vector<std::string> DynamicResourcesArgsProblems(const ConfigValue& args,
                                                      const std::string& path,
                                                      const ArgsFeatures& features);

}  // namespace berth::plugins
