// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "berth/cluster_event.h"
#include "plugins/pod_topology_spread/constraints.h"

// Which events may make a pod schedulable that PodTopologySpread rejected. Only constraints with
// DoNotSchedule matter.
namespace berth::plugins {

// `source` must outlive the hints.
std::vector<ClusterEventWithHint> SpreadEvents(const ConstraintSource& source);

}  // namespace berth::plugins
