// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "src/app/daemon/in_tree_plugins.h"
#include "src/app/flags/offline_flags.h"
#include "src/simulator/admission.h"
#include "src/simulator/simulation.h"

namespace berth::app {

// Answers what `berth simulate` was asked by what-if flags about a simulation that has its objects
// and has not started, and prints it; `admission` is what the cluster has for it. Returns the exit
// code: kDone, kNegative or kBadInput.
int AnswerWhatIf(const OfflineFlags& flags, const InTreePlugins& plugins,
                 const simulator::AdmissionObjects& admission, simulator::Simulation& today);

}  // namespace berth::app
