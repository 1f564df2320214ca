// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "berth/in_tree/node_metrics.h"
#include "plugins/shared/args_kind.h"

namespace berth::plugins {

struct LowRiskOverCommitmentArgs {
  NodeMetricsSource source;
  // Over so many windows what is measured was smoothed.
  int64_t smoothing_window_size = 5;
  // What limits beyond the node weigh, from 0 to 1; the rest is what the measured load weighs.
  double cpu_limit_weight = 0.5;
  double memory_limit_weight = 0.5;
};

// Numbers out of range become the defaults. Errors: a source that is none or that is not read here.
extern const ArgsKind<LowRiskOverCommitmentArgs> kLowRiskOverCommitmentArgs;

}  // namespace berth::plugins
