// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "berth/result.h"
#include "src/app/flags.h"
#include "src/config/feature_gates.h"
#include "src/config/types.h"

namespace berth::app {

// What the daemon runs with: flags, configuration file and defaults put together.
struct Settings {
  config::SchedulerConfiguration configuration;
  config::FeatureGates feature_gates;
};

// Reads the configuration file, if one is named, and lays the flags over it as kube-scheduler does:
// leader election flags override it, deprecated ones count only without it. The result is valid.
// Errors: the file cannot be read or is wrong (with its name), a bad feature gate, a value that
// validation refuses.
Result<Settings> ResolveSettings(const RunFlags& flags,
                                 const std::vector<config::PluginRef>& default_plugins);

}  // namespace berth::app
