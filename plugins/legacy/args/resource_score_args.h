// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "berth/config_value.h"
#include "berth/in_tree/plugin_args.h"
#include "berth/result.h"
#include "plugins/shared/args_reader.h"
#include "plugins/shared/function_shape.h"

namespace berth::plugins {

// The emptier, the better.
std::vector<UtilizationShapePoint> DefaultRatioShape();

// Args of NodeResourcesLeastAllocated, NodeResourcesMostAllocated and RequestedToCapacityRatio.
struct ResourceScoreArgs {
  std::vector<ResourceSpec> resources = DefaultResourceSpecs();
  std::vector<UtilizationShapePoint> shape = DefaultRatioShape();  // RequestedToCapacityRatio only
};

// Each reads, defaults and validates the args. Errors: unknown fields, wrong types, weights below 1
// or (without a shape) above 100, a shape that is none.
Result<ResourceScoreArgs> ParseNodeResourcesLeastAllocatedArgs(const ConfigValue& value);
Result<ResourceScoreArgs> ParseNodeResourcesMostAllocatedArgs(const ConfigValue& value);
Result<ResourceScoreArgs> ParseRequestedToCapacityRatioArgs(const ConfigValue& value);

// See PluginArgs (berth/plugin_args.h).
ConfigValue AllocatedArgsWithDefaults(const ConfigValue& args, const ArgsFeatures& features);
ConfigValue RequestedToCapacityRatioArgsWithDefaults(const ConfigValue& args,
                                                     const ArgsFeatures& features);
std::vector<std::string> NodeResourcesLeastAllocatedArgsProblems(const ConfigValue& args,
                                                                 const std::string& path,
                                                                 const ArgsFeatures& features);
std::vector<std::string> NodeResourcesMostAllocatedArgsProblems(const ConfigValue& args,
                                                                const std::string& path,
                                                                const ArgsFeatures& features);
std::vector<std::string> RequestedToCapacityRatioArgsProblems(const ConfigValue& args,
                                                              const std::string& path,
                                                              const ArgsFeatures& features);

}  // namespace berth::plugins
