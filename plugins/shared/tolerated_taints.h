// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "berth/api/node.h"
#include "berth/api/pod.h"
#include "berth/node_set.h"
#include "berth/snapshot.h"

namespace berth::plugins {

// Whether every NoSchedule and NoExecute taint is tolerated. `comparison_operators`: the gate of
// the operators Lt and Gt.
bool ToleratesRepellingTaints(std::span<const api::Toleration> tolerations,
                              std::span<const api::Taint> taints, bool comparison_operators);

// Takes the nodes with a taint that repels out of `nodes`. A list of taints is judged once, however
// many nodes carry it.
void FilterTolerated(std::span<const api::Toleration> tolerations, bool comparison_operators,
                     const Snapshot& snapshot, NodeSet& nodes);

}  // namespace berth::plugins
