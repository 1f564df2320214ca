// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "src/explain/near_misses.h"
#include "src/fixes/trial_cluster.h"

namespace berth::fixes {

// Changes that may cure what the group's plugin has against its nodes: each is worth a trial, none
// is sure to do. Where one would change a node, the first few nodes of the group by name stand for
// all. Amounts are the largest that make sense: Tighten() makes them small. `judgement`, which has
// been explained, is that of the trial as it is now. None comes twice into `out`.
void Propose(const explain::RejectedGroup& group, const engine::Judgement& judgement,
             const TrialCluster& trial, std::vector<explain::Change>& out);

// One more node of each of the first few shapes that the rejected nodes have: what they offer,
// their taints, and their labels but the hostname.
void ProposeNodes(const std::vector<explain::RejectedGroup>& groups,
                  const engine::Judgement& judgement, std::vector<explain::Change>& out);

}  // namespace berth::fixes
