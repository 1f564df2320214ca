// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "berth/config_value.h"
#include "berth/in_tree/node_metrics.h"
#include "berth/in_tree/plugin_args.h"
#include "berth/result.h"

namespace berth::plugins {

struct NodeOverloadArgs {
  NodeMetricsSource source;
  // In percent of the node's capacity, from 1 to 100; nullopt: not looked at.
  std::optional<int64_t> cpu_threshold = 65;
  std::optional<int64_t> memory_threshold = 95;
};

// Reads, defaults and validates the args. Errors: unknown fields, wrong types, a source that is
// none or that is not read here, a threshold that is no percentage or is of another resource.
Result<NodeOverloadArgs> ParseNodeOverloadArgs(const ConfigValue& value);

// See PluginArgs (berth/plugin_args.h).
ConfigValue NodeOverloadArgsWithDefaults(const ConfigValue& args, const ArgsFeatures& features);
std::vector<std::string> NodeOverloadArgsProblems(const ConfigValue& args, const std::string& path,
                                                  const ArgsFeatures& features);

}  // namespace berth::plugins
