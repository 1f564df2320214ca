// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "plugins/shared/args_kind.h"
#include "plugins/shared/function_shape.h"

namespace berth::plugins {

// The emptier, the better.
std::vector<UtilizationShapePoint> DefaultRatioShape();

// Args of NodeResourcesLeastAllocated, NodeResourcesMostAllocated and RequestedToCapacityRatio.
struct ResourceScoreArgs {
  std::vector<ResourceSpec> resources = DefaultResourceSpecs();
  std::vector<UtilizationShapePoint> shape = DefaultRatioShape();  // RequestedToCapacityRatio only
};

// Errors: weights below 1 or (without a shape) above 100, a shape that is none.
extern const ArgsKind<ResourceScoreArgs> kNodeResourcesLeastAllocatedArgs;
extern const ArgsKind<ResourceScoreArgs> kNodeResourcesMostAllocatedArgs;
extern const ArgsKind<ResourceScoreArgs> kRequestedToCapacityRatioArgs;

}  // namespace berth::plugins
