// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "src/fixes/trial_cluster.h"

namespace berth::fixes {

// Looks for changes that let the pod schedule on one node, where no single one does: asks what
// rejects the node, makes the cheapest change that cures it, and goes on with what rejects it then;
// last it takes back what is not needed. Starts from what is made on `trial`, which stays a part of
// the answer; with `only_pod` it adds changes of the pod alone.
//
// Returns the changes, those of the cluster first, all of them made; without any one of them the
// pod does not schedule. Empty: there is no way, or `spent` said that the search is over; then what
// is made means nothing.
std::vector<explain::Change> Combine(const std::string& node, std::vector<explain::Change> begun,
                                     bool only_pod, const std::function<bool()>& spent,
                                     TrialCluster& trial);

}  // namespace berth::fixes
