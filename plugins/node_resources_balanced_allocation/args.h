// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "plugins/shared/args_kind.h"

namespace berth::plugins {

struct NodeResourcesBalancedAllocationArgs {
  std::vector<ResourceSpec> resources = DefaultResourceSpecs();
};

// Errors: a resource named twice, a weight other than 1.
extern const ArgsKind<NodeResourcesBalancedAllocationArgs> kNodeResourcesBalancedAllocationArgs;

}  // namespace berth::plugins
