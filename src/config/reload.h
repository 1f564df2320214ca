// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "src/config/types.h"

namespace berth::config {

// How a new configuration differs from the one that runs.
struct ReloadDifference {
  // Paths of the fields that only a restart can change, those of a map in the order of their names:
  // everything but a profile's plugins and pluginConfig; of these, what queueSort names. A profile
  // that is new is one, too.
  std::vector<std::string> fixed;
  // schedulerNames of the profiles that are gone.
  std::vector<std::string> removed_profiles;
  // Whether a profile that stays has other plugins, weights or args.
  bool profiles_changed = false;

  bool none() const { return fixed.empty() && removed_profiles.empty() && !profiles_changed; }
};

// Compares every field that a configuration has, as it would be written to a file. Both must be
// valid. Profiles are matched by their schedulerName; paths count them in `next`.
ReloadDifference CompareForReload(const SchedulerConfiguration& running,
                                  const SchedulerConfiguration& next);

}  // namespace berth::config
