// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "src/fixes/trial_cluster.h"

namespace berth::fixes {

// Makes the amounts of `changes` as small as they can be for the pod to schedule, one after the
// other; by halves, so each takes up to 63 judgements. `changes` are made on `trial` and let the
// pod schedule; without any one of them it does not. The same is true afterwards.
void Tighten(std::vector<explain::Change>& changes, TrialCluster& trial);

}  // namespace berth::fixes
