// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "berth/in_tree/handle.h"
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
  int32_t max_pd_volumes = 0;  // KUBE_MAX_PD_VOLS; 0: not set

  // What plugins are told.
  Features features() const;
};

// What KUBE_MAX_PD_VOLS says: a number above 0. nullptr and "" are 0, as if it were not set.
// Errors: any other text.
Result<int32_t> ParseMaxPdVolumes(const char* text);

// Reads the configuration file, if one is named, and lays the flags over it as kube-scheduler does:
// leader election flags override it, deprecated ones count only without it. The result is valid.
// Errors: the file cannot be read or is wrong (with its name), a bad feature gate, a value that
// validation refuses. A KUBE_MAX_PD_VOLS that is no number above 0 is logged, and counts for
// nothing.
Result<Settings> ResolveSettings(const RunFlags& flags, const InTreePlugins& plugins);

}  // namespace berth::app
