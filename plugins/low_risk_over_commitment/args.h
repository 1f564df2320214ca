// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "berth/config_value.h"
#include "berth/in_tree/node_metrics.h"
#include "berth/in_tree/plugin_args.h"
#include "berth/result.h"

namespace berth::plugins {

struct LowRiskOverCommitmentArgs {
  NodeMetricsSource source;
  // Over so many windows what is measured was smoothed.
  int64_t smoothing_window_size = 5;
  // What limits beyond the node weigh, from 0 to 1; the rest is what the measured load weighs.
  double cpu_limit_weight = 0.5;
  double memory_limit_weight = 0.5;
};

// Reads, defaults and validates the args; numbers out of range become the defaults. Errors: unknown
// fields, wrong types, a source that is none or that is not read here.
Result<LowRiskOverCommitmentArgs> ParseLowRiskOverCommitmentArgs(const ConfigValue& value);

// See PluginArgs (berth/plugin_args.h).
ConfigValue LowRiskOverCommitmentArgsWithDefaults(const ConfigValue& args,
                                                  const ArgsFeatures& features);
std::vector<std::string> LowRiskOverCommitmentArgsProblems(const ConfigValue& args,
                                                           const std::string& path,
                                                           const ArgsFeatures& features);

}  // namespace berth::plugins
