// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "plugins/shared/args_kind.h"

namespace berth::plugins {

// Whether nodes that have little to give are preferred, or those that have much.
enum class AllocatableMode : uint8_t { kLeast, kMost };

struct NodeResourcesAllocatableArgs {
  // Each name once. A milli-core counts as much as a MiB by default.
  std::vector<ResourceSpec> resources = {{"cpu", int64_t{1} << 20}, {"memory", 1}};
  AllocatableMode mode = AllocatableMode::kLeast;
};

// Of a resource that is named twice the last weight counts. Errors: a weight that is not above 0 or
// is left out, another mode.
extern const ArgsKind<NodeResourcesAllocatableArgs> kNodeResourcesAllocatableArgs;

}  // namespace berth::plugins
