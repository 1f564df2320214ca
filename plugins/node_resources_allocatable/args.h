// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "berth/config_value.h"
#include "berth/in_tree/plugin_args.h"
#include "berth/result.h"
#include "plugins/shared/args_reader.h"

namespace berth::plugins {

// Whether nodes that have little to give are preferred, or those that have much.
enum class AllocatableMode : uint8_t { kLeast, kMost };

struct NodeResourcesAllocatableArgs {
  // Each name once. A milli-core counts as much as a MiB by default.
  std::vector<ResourceSpec> resources = {{"cpu", int64_t{1} << 20}, {"memory", 1}};
  AllocatableMode mode = AllocatableMode::kLeast;
};

// Reads, defaults and validates the args; of a resource that is named twice the last weight counts.
// Errors: unknown fields, wrong types, a weight that is not above 0 or is left out, another mode.
Result<NodeResourcesAllocatableArgs> ParseNodeResourcesAllocatableArgs(const ConfigValue& value);

// See PluginArgs (berth/plugin_args.h).
ConfigValue NodeResourcesAllocatableArgsWithDefaults(const ConfigValue& args,
                                                     const ArgsFeatures& features);
std::vector<std::string> NodeResourcesAllocatableArgsProblems(const ConfigValue& args,
                                                              const std::string& path,
                                                              const ArgsFeatures& features);

}  // namespace berth::plugins
