// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "berth/loadable/plugin.hpp"

namespace berth::legacy {

constexpr int kMaxScore = 100;

// The plugin of that name, each.
berth_plugin AzureDiskLimitsPlugin();
berth_plugin CinderLimitsPlugin();
berth_plugin EBSLimitsPlugin();
berth_plugin GCEPDLimitsPlugin();
berth_plugin NodeLabelPlugin();
berth_plugin NodePreferAvoidPodsPlugin();
berth_plugin NodeResourcesLeastAllocatedPlugin();
berth_plugin NodeResourcesMostAllocatedPlugin();
berth_plugin RequestedToCapacityRatioPlugin();
berth_plugin SelectorSpreadPlugin();
berth_plugin ServiceAffinityPlugin();

}  // namespace berth::legacy
