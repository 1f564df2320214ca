// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "berth/config_value.h"
#include "berth/in_tree/plugin_args.h"
#include "berth/result.h"

namespace berth::plugins {

// Keys of node labels.
struct ServiceAffinityArgs {
  // Pods of a service stay on nodes with the same values of these.
  std::vector<std::string> affinity_labels;
  // Pods of a service are spread over the values of each of these.
  std::vector<std::string> anti_affinity_labels_preference;
};

// Reads the args. Errors: unknown fields, wrong types.
Result<ServiceAffinityArgs> ParseServiceAffinityArgs(const ConfigValue& value);

// See PluginArgs (berth/plugin_args.h).
std::vector<std::string> ServiceAffinityArgsProblems(const ConfigValue& args,
                                                     const std::string& path,
                                                     const ArgsFeatures& features);

}  // namespace berth::plugins
