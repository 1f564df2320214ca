// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "src/app/daemon/in_tree_plugins.h"
#include "src/app/flags/offline_flags.h"
#include "src/simulator/pod_defaults.h"
#include "src/simulator/simulation.h"

namespace berth::app {

// Answers what `berth simulate` was asked by what-if flags about a simulation that has its objects
// and has not started, and prints it; `classes` are what its pods' PriorityClasses mean, as far as
// its files state that. Returns the exit code: kDone, kNegative or kBadInput.
int AnswerWhatIf(const OfflineFlags& flags, const InTreePlugins& plugins,
                 const std::vector<simulator::PriorityClass>& classes,
                 simulator::Simulation& today);

}  // namespace berth::app
