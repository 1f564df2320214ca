// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "berth/in_tree/node_metrics.h"
#include "plugins/shared/args_kind.h"

namespace berth::plugins {

struct TargetLoadPackingArgs {
  NodeMetricsSource source;
  // What a container is expected to use that names neither a request nor a limit.
  int64_t default_milli_cpu = 1000;
  // What one is that names no limit, as a multiple of its request.
  double requests_multiplier = 1.5;
  int64_t target_utilization = 40;  // in percent, from 1 to 100
};

// Errors: a source that is none or that is not read here, a multiplier that is no number, or is
// negative, a target above 100.
extern const ArgsKind<TargetLoadPackingArgs> kTargetLoadPackingArgs;

}  // namespace berth::plugins
