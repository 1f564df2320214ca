// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "berth/config_value.h"
#include "berth/in_tree/plugin_args.h"
#include "berth/result.h"
#include "berth/time.h"

namespace berth::plugins {

// Time limits of Filter on one node, 0 for none, and of what devices demand before a pod is bound.
struct DynamicResourcesArgs {
  Duration filter_timeout = std::chrono::seconds(10);
  Duration binding_timeout = std::chrono::minutes(10);
};

// Errors: unknown fields and wrong types.
Result<DynamicResourcesArgs> ParseDynamicResourcesArgs(const ConfigValue& value);

// See PluginArgs (berth/plugin_args.h).
ConfigValue DynamicResourcesArgsWithDefaults(const ConfigValue& args, const ArgsFeatures& features);
std::vector<std::string> DynamicResourcesArgsProblems(const ConfigValue& args,
                                                      const std::string& path,
                                                      const ArgsFeatures& features);

}  // namespace berth::plugins
