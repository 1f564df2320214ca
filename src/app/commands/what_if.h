// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "src/app/commands/offline_cluster.h"
#include "src/app/daemon/in_tree_plugins.h"
#include "src/app/flags/offline_flags.h"
#include "src/simulator/simulation.h"

namespace berth::app {

// Answers what `berth simulate` was asked by what-if flags about a simulation that has its objects
// and has not started, and prints it; `beside` is what the cluster has for it. Returns the exit
// code: kDone, kNegative or kBadInput.
int AnswerWhatIf(const OfflineFlags& flags, const InTreePlugins& plugins,
                 const BesideObjects& beside, simulator::Simulation& today);

}  // namespace berth::app
