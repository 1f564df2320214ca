// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "src/app/daemon/in_tree_plugins.h"
#include "src/app/flags/offline_flags.h"

namespace berth::app {

// `berth plan --apply`: carries a plan out on the live cluster (docs/plan.md). Returns the exit
// code: 1 where it stopped before the end, 2 where it did not begin.
int ApplyPlan(const OfflineFlags& flags, const InTreePlugins& plugins);

}  // namespace berth::app
