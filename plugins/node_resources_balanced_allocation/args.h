// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "berth/config_value.h"
#include "berth/in_tree/plugin_args.h"
#include "berth/result.h"
#include "plugins/shared/args_reader.h"

namespace berth::plugins {

struct NodeResourcesBalancedAllocationArgs {
  std::vector<ResourceSpec> resources = DefaultResourceSpecs();
};

// Reads, defaults and validates the args. Errors: unknown fields, wrong types, a resource named
// twice, a weight other than 1.
Result<NodeResourcesBalancedAllocationArgs> ParseNodeResourcesBalancedAllocationArgs(
    const ConfigValue& value);

// See PluginArgs (berth/plugin_args.h).
ConfigValue NodeResourcesBalancedAllocationArgsWithDefaults(const ConfigValue& args,
                                                            const ArgsFeatures& features);
std::vector<std::string> NodeResourcesBalancedAllocationArgsProblems(const ConfigValue& args,
                                                                     const std::string& path,
                                                                     const ArgsFeatures& features);

}  // namespace berth::plugins
