// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <vector>

#include "berth/node_set.h"
#include "berth/pod_info.h"
#include "berth/snapshot.h"
#include "src/engine/cluster_state.h"
#include "src/framework/runtime.h"

namespace berth::engine {

// Pods that are nominated for nodes and that a pod must also fit with, by row, in the order in
// which they were nominated.
using NominatedRows = std::map<NodeRow, std::vector<const PodInfo*>>;
NominatedRows NominatedRowsFor(const PodInfo& pod, const ClusterState& cluster);

// Imagines `nominated` on the row: adds them to `overlay`, and tells the filters that were not
// skipped, whose `state` is changed. Error: one of them failed.
Status ImagineNominated(const framework::Profile& profile, const framework::Cycle& cycle,
                        const PodInfo& pod, const Snapshot& snapshot, NodeRow row,
                        const std::vector<const PodInfo*>& nominated, CycleState& state,
                        Overlay& overlay);

}  // namespace berth::engine
