// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "src/app/daemon/in_tree_plugins.h"
#include "src/config/feature_gates.h"
#include "src/config/types.h"
#include "src/recording/file_sink.h"

namespace berth::app {

// `berth replay`. Returns the exit code: 0, all decisions are the recorded ones; 1, some are not;
// 2, bad input.
int Replay(const std::vector<std::string>& arguments, const std::string& program,
           const InTreePlugins& plugins);

// Reads the configuration that a recording's header holds, or one that was reloaded, with its
// profiles' defaults written out. Errors: as config::Load.
Result<config::SchedulerConfiguration> LoadRecordedConfiguration(std::string_view yaml,
                                                                 std::string_view name,
                                                                 const InTreePlugins& plugins,
                                                                 const config::FeatureGates& gates);

// What --record-max-size means, in bytes.
recording::FileLimits RecordLimits(uint64_t mib);

}  // namespace berth::app
