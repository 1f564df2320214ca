// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "berth/result.h"
#include "src/app/flags.h"
#include "src/app/in_tree_plugins.h"
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
Result<Settings> ResolveSettings(const RunFlags& flags, const InTreePlugins& plugins);

}  // namespace berth::app
