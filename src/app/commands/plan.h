// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "src/app/daemon/in_tree_plugins.h"

namespace berth::app {

// `berth plan`: moves of pods that make room (docs/plan.md), or one that is carried out. Returns
// the exit code: 1 where there is no plan, or it stopped before its end.
int Plan(const std::vector<std::string>& arguments, const std::string& program,
         const InTreePlugins& plugins);

}  // namespace berth::app
