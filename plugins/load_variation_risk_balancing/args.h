// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "berth/in_tree/node_metrics.h"
#include "plugins/shared/args_kind.h"

namespace berth::plugins {

struct LoadVariationRiskBalancingArgs {
  NodeMetricsSource source;
  // The standard deviation counts as `margin` times its root of power `sensitivity`.
  double margin = 1;
  double sensitivity = 1;
};

// Numbers below 0 become the defaults. Errors: a source that is none or that is not read here.
extern const ArgsKind<LoadVariationRiskBalancingArgs> kLoadVariationRiskBalancingArgs;

}  // namespace berth::plugins
