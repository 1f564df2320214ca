// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "plugins/shared/args_kind.h"
#include "plugins/shared/args_reader.h"

namespace berth::plugins {

// Keys of node labels; their values do not matter.
struct NodeLabelArgs {
  // A node must have all of these, and none of those.
  std::vector<std::string> present_labels;
  std::vector<std::string> absent_labels;
  // A node had better have these, and not those.
  std::vector<std::string> present_labels_preference;
  std::vector<std::string> absent_labels_preference;
};

// Errors: a key that is to be both there and not.
extern const ArgsKind<NodeLabelArgs> kNodeLabelArgs;

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

// Keys of node labels.
struct ServiceAffinityArgs {
  // Pods of a service stay on nodes with the same values of these.
  std::vector<std::string> affinity_labels;
  // Pods of a service are spread over the values of each of these.
  std::vector<std::string> anti_affinity_labels_preference;
};

extern const ArgsKind<ServiceAffinityArgs> kServiceAffinityArgs;

}  // namespace berth::plugins
