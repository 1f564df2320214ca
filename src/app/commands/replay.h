// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

#include "src/app/daemon/in_tree_plugins.h"
#include "src/config/feature_gates.h"
#include "src/config/types.h"
#include "src/recording/file_sink.h"

namespace berth::app {

// Reads the configuration that a recording's header holds, or one that was reloaded, with its
// profiles' defaults written out. Errors: as config::Load.
Result<config::SchedulerConfiguration> LoadRecordedConfiguration(std::string_view yaml,
                                                                 std::string_view name,
                                                                 const InTreePlugins& plugins,
                                                                 const config::FeatureGates& gates);

// What --record-max-size means, in bytes.
recording::FileLimits RecordLimits(uint64_t mib);

}  // namespace berth::app
