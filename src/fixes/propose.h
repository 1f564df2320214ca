// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "src/fixes/refusal.h"

namespace berth::fixes {

// Changes that may cure what the refusal's plugin has against its nodes: each is worth a trial,
// none is sure to do.
void Propose(const Refusal& refusal);

// One more node of each of the first few shapes that the rejected nodes have: what they offer,
// their taints, and their labels but the hostname.
void ProposeNodes(const std::vector<explain::RejectedGroup>& groups,
                  const engine::Judgement& judgement, std::vector<explain::Change>& out);

// The evictions that preemption would see to, and would if it were allowed to the pod: those of the
// best node first, then of those with the fewest broken budgets and pods. Only on `node`, unless
// that is "".
void ProposeEvictions(TrialCluster& trial, std::string_view node,
                      std::vector<explain::Change>& out);

}  // namespace berth::fixes
