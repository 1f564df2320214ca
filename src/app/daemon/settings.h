// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "berth/in_tree/handle.h"
#include "berth/result.h"
#include "src/app/daemon/in_tree_plugins.h"
#include "src/app/flags/flags.h"
#include "src/config/feature_gates.h"
#include "src/config/types.h"

namespace berth::app {

// What the daemon runs with: flags, configuration file and defaults put together.
struct Settings {
  config::SchedulerConfiguration configuration;
  config::FeatureGates feature_gates;
  int32_t max_pd_volumes = 0;  // KUBE_MAX_PD_VOLS; 0: not set
  // What is odd about the plugins of the configuration.
  std::vector<std::string> plugin_warnings = {};

  // What plugins see of it.
  Features features() const;
  // What is odd about it, for people: feature gates, and plugins.
  std::vector<std::string> warnings() const;
};

// What KUBE_MAX_PD_VOLS says: a number above 0. nullptr and "" are 0, as if it were not set.
// Errors: any other text.
Result<int32_t> ParseMaxPdVolumes(const char* text);

// What errors say of unknown fields: what kube-scheduler says, as `berth run` does, or behind it
// also what was probably meant.
enum class Words { kUpstreams, kWithSuggestions };
// The problems of which an error is made, one by one.
using Causes = std::vector<std::string>;

// Reads the configuration file, if one is named, and lays the flags over it as kube-scheduler does:
// leader election flags override it, deprecated ones count only without it. The result is valid.
// Errors: the file cannot be read or is wrong (with its name), a bad feature gate, a value that
// validation refuses (each of these is added to `causes`, too). A KUBE_MAX_PD_VOLS that is no
// number above 0 is logged, and counts for nothing.
Result<Settings> ResolveSettings(const RunFlags& flags, const InTreePlugins& plugins,
                                 Words words = Words::kWithSuggestions, Causes* causes = nullptr);
// The same with this text in place of the file that the flags name; `name` is what messages call
// it.
Result<Settings> ResolveSettings(const RunFlags& flags, const InTreePlugins& plugins,
                                 const std::string& text, const std::string& name);

}  // namespace berth::app
