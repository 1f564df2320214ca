// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>

#include "berth/in_tree/placement_points.h"
#include "src/scheduler/pod_groups/pod_group_attempt.h"
#include "src/scheduler/state.h"

namespace berth::scheduler {

// The verdict on the whole group from that on one of its placements.
GroupVerdict FitsNowhere(size_t placements, const GroupVerdict& one);

// Adds the members that have a row, in their order.
void AddAssignments(const cache::Cache& cache, const PodGroupAttempt& group,
                    std::span<const NodeRow> rows, PodGroupAssignments& assignments);

struct PlacementChoice {
  Status status;    // Error: a plugin failed
  size_t best = 0;  // with Success
};

// Of the placements that a group fits into, at least one, the one that scores best; of equal ones
// one by lot. `cycle` belongs to the group.
PlacementChoice ChoosePlacement(SchedulerState& state, const framework::Profile& profile,
                                framework::Cycle& cycle, const PodGroupInfo& group,
                                std::span<const PodGroupAssignments> placements);

}  // namespace berth::scheduler
