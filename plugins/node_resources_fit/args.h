// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "plugins/shared/allocation_strategy.h"
#include "plugins/shared/args_kind.h"
#include "plugins/shared/args_reader.h"

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

// Errors: what kube-scheduler rejects, in its words.
extern const ArgsKind<NodeResourcesFitArgs> kNodeResourcesFitArgs;

}  // namespace berth::plugins
