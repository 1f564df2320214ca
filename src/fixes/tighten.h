// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "src/fixes/trial_cluster.h"

namespace berth::fixes {

// Makes changes[index] and those after it in the place of those that are made; false: one cannot
// be.
bool MakeFrom(size_t index, const std::vector<explain::Change>& changes, TrialCluster& trial);

// Makes the amounts of `changes` as small as they can be for the pod to schedule, one after the
// other; by halves, so each takes up to 63 judgements. `changes` are made on `trial` and let the
// pod schedule; without any one of them it does not. The same is true afterwards.
void Tighten(std::vector<explain::Change>& changes, TrialCluster& trial);

// Leaves out of changes that let the pod schedule what is not needed, the first ones first. What is
// left is made on `trial`. Whether anything was left out.
bool LeaveOut(std::vector<explain::Change>& changes, TrialCluster& trial);

}  // namespace berth::fixes
