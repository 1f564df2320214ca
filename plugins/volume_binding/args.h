// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "berth/config_value.h"
#include "berth/in_tree/plugin_args.h"
#include "berth/result.h"
#include "berth/time.h"
#include "plugins/shared/function_shape.h"

namespace berth::plugins {

// How long a pod waits for its volumes, and the score of how full they are.
struct VolumeBindingArgs {
  Duration bind_timeout = std::chrono::seconds(600);
  std::vector<UtilizationShapePoint> shape = {{0, 10}, {100, 0}};
};

// Errors: unknown fields, wrong types, and what kube-scheduler rejects, in its words.
Result<VolumeBindingArgs> ParseVolumeBindingArgs(const ConfigValue& value);

// See PluginArgs (berth/plugin_args.h).
ConfigValue VolumeBindingArgsWithDefaults(const ConfigValue& args, const ArgsFeatures& features);
std::vector<std::string> VolumeBindingArgsProblems(const ConfigValue& args, const std::string& path,
                                                   const ArgsFeatures& features);

}  // namespace berth::plugins
