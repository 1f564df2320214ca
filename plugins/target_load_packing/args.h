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

struct TargetLoadPackingArgs {
  NodeMetricsSource source;
  // What a container is expected to use that names neither a request nor a limit.
  int64_t default_milli_cpu = 1000;
  // What one is that names no limit, as a multiple of its request.
  double requests_multiplier = 1.5;
  int64_t target_utilization = 40;  // in percent, from 1 to 100
};

// Reads, defaults and validates the args. Errors: unknown fields, wrong types, a source that is
// none or that is not read here, a multiplier that is no number, or is negative, a target above
// 100.
Result<TargetLoadPackingArgs> ParseTargetLoadPackingArgs(const ConfigValue& value);

// See PluginArgs (berth/plugin_args.h).
ConfigValue TargetLoadPackingArgsWithDefaults(const ConfigValue& args,
                                              const ArgsFeatures& features);
std::vector<std::string> TargetLoadPackingArgsProblems(const ConfigValue& args,
                                                       const std::string& path,
                                                       const ArgsFeatures& features);

}  // namespace berth::plugins
