// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "berth/config_value.h"
#include "berth/in_tree/plugin_args.h"

namespace berth::plugins {

// VolumeBindingArgs: how long a pod waits for its volumes, and the score of how full they are.
// See PluginArgs (berth/plugin_args.h).
ConfigValue VolumeBindingArgsWithDefaults(const ConfigValue& args, const ArgsFeatures& features);
std::vector<std::string> VolumeBindingArgsProblems(const ConfigValue& args, const std::string& path,
                                                   const ArgsFeatures& features);

}  // namespace berth::plugins
