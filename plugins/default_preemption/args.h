// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "berth/config_value.h"
#include "berth/in_tree/plugin_args.h"
#include "berth/result.h"

namespace berth::plugins {

// DefaultPreemptionArgs of kubescheduler.config.k8s.io/v1.
struct DefaultPreemptionArgs {
  // How many candidate nodes a search looks for: this percentage of the nodes where preemption may
  // help, but at least the absolute number.
  int32_t min_candidate_nodes_percentage = 10;
  int32_t min_candidate_nodes_absolute = 100;

  friend bool operator==(const DefaultPreemptionArgs&, const DefaultPreemptionArgs&) = default;
};

// Errors: unknown fields, a percentage outside [0, 100], a negative number, both 0; with the
// field's path.
Result<DefaultPreemptionArgs> ParseDefaultPreemptionArgs(const ConfigValue& value);

// See PluginArgs (berth/plugin_args.h).
ConfigValue DefaultPreemptionArgsWithDefaults(const ConfigValue& args,
                                              const ArgsFeatures& features);
std::vector<std::string> DefaultPreemptionArgsProblems(const ConfigValue& args,
                                                       const std::string& path,
                                                       const ArgsFeatures& features);

}  // namespace berth::plugins
