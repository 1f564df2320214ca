// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "berth/config_value.h"
#include "berth/in_tree/plugin_args.h"
#include "berth/result.h"
#include "plugins/shared/allocation_strategy.h"
#include "plugins/shared/args_reader.h"
#include "plugins/shared/function_shape.h"

namespace berth::plugins {

struct ScoringStrategy {
  ScoringStrategyType type = ScoringStrategyType::kLeastAllocated;
  std::vector<ResourceSpec> resources = DefaultResourceSpecs();
  // The points of requestedToCapacityRatio.shape; only for that type.
  std::vector<UtilizationShapePoint> shape;
};

struct NodeResourcesFitArgs {
  // Extended resources that Filter leaves to an extender, and groups (the part before the slash).
  std::vector<std::string> ignored_resources;
  std::vector<std::string> ignored_resource_groups;
  ScoringStrategy scoring_strategy;
};

// Reads, defaults and validates the args. Errors: unknown fields, wrong types, and what
// kube-scheduler rejects, in its words.
Result<NodeResourcesFitArgs> ParseNodeResourcesFitArgs(const ConfigValue& value);

// See PluginArgs (berth/plugin_args.h).
ConfigValue NodeResourcesFitArgsWithDefaults(const ConfigValue& args, const ArgsFeatures& features);

}  // namespace berth::plugins
