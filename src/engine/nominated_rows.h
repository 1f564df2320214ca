// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "berth/node_set.h"
#include "berth/pod_info.h"
#include "berth/snapshot.h"
#include "src/engine/cluster_state.h"
#include "src/framework/runtime.h"

namespace berth::engine {

// Pods that are nominated for a node and that a pod must also fit with, in the order in which they
// were nominated.
std::vector<const PodInfo*> NominatedPodsOn(NodeRow row, const PodInfo& pod,
                                            const ClusterState& cluster);
// Of these nodes those that have some, ascending, with them.
struct NominatedRow {
  NodeRow row = kNoRow;
  std::vector<const PodInfo*> pods;
};
std::vector<NominatedRow> NominatedRowsFor(const NodeSet& nodes, const PodInfo& pod,
                                           const ClusterState& cluster);

// Imagines `nominated` on the row: adds them to `overlay`, and tells the filters that were not
// skipped, whose `state` is changed; nullptr: none of them hears of it. Error: one of them failed.
Status ImagineNominated(const framework::Profile& profile, const framework::Cycle& cycle,
                        const PodInfo& pod, const Snapshot& snapshot, NodeRow row,
                        const std::vector<const PodInfo*>& nominated, CycleState* state,
                        Overlay& overlay);

}  // namespace berth::engine
