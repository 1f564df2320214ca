// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "berth/api/pod.h"
#include "berth/config_value.h"
#include "berth/in_tree/plugin_args.h"
#include "berth/result.h"

namespace berth::plugins {

struct PodTopologySpreadArgs {
  // Kubernetes' own default constraints: spread over nodes and zones.
  bool system_defaulting = true;
  // For pods that have no constraints of their own; their selectors come from what owns or serves
  // the pod. Empty with system defaulting.
  std::vector<api::TopologySpreadConstraint> default_constraints;
};

// Reads and validates the args. Errors: unknown fields, wrong types, values out of range,
// constraints with a selector or given twice, constraints next to system defaulting.
Result<PodTopologySpreadArgs> ParsePodTopologySpreadArgs(const ConfigValue& value);

// See PluginArgs (berth/plugin_args.h).
ConfigValue PodTopologySpreadArgsWithDefaults(const ConfigValue& args,
                                              const ArgsFeatures& features);
std::vector<std::string> PodTopologySpreadArgsProblems(const ConfigValue& args,
                                                       const std::string& path,
                                                       const ArgsFeatures& features);

}  // namespace berth::plugins
