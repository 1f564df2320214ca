// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "berth/config_value.h"
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

}  // namespace berth::plugins
