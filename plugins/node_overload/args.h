// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "berth/in_tree/node_metrics.h"
#include "plugins/shared/args_kind.h"

namespace berth::plugins {

struct NodeOverloadArgs {
  NodeMetricsSource source;
  // In percent of the node's capacity, from 1 to 100; nullopt: not looked at.
  std::optional<int64_t> cpu_threshold = 65;
  std::optional<int64_t> memory_threshold = 95;
};

// Errors: a source that is none or that is not read here, a threshold that is no percentage or is
// of another resource.
extern const ArgsKind<NodeOverloadArgs> kNodeOverloadArgs;

}  // namespace berth::plugins
