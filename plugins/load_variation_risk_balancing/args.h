// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "berth/config_value.h"
#include "berth/in_tree/node_metrics.h"
#include "berth/in_tree/plugin_args.h"
#include "berth/result.h"

namespace berth::plugins {

struct LoadVariationRiskBalancingArgs {
  NodeMetricsSource source;
  // The standard deviation counts as `margin` times its root of power `sensitivity`.
  double margin = 1;
  double sensitivity = 1;
};

// Reads, defaults and validates the args; numbers below 0 become the defaults. Errors: unknown
// fields, wrong types, a source that is none or that is not read here.
Result<LoadVariationRiskBalancingArgs> ParseLoadVariationRiskBalancingArgs(
    const ConfigValue& value);

// See PluginArgs (berth/plugin_args.h).
ConfigValue LoadVariationRiskBalancingArgsWithDefaults(const ConfigValue& args,
                                                       const ArgsFeatures& features);
std::vector<std::string> LoadVariationRiskBalancingArgsProblems(const ConfigValue& args,
                                                                const std::string& path,
                                                                const ArgsFeatures& features);

}  // namespace berth::plugins
