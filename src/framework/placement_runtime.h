// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "berth/in_tree/placement_points.h"
#include "berth/in_tree/pod_group_points.h"
#include "src/framework/runtime.h"

// Calls a profile's plugins about the placements of a pod group, as runtime.h does about nodes.
// `cycle` belongs to the group.
//
// Thread safety: the scheduling thread.

namespace berth::framework {

// Calls a profile's plugins about pod groups, as runtime.h does about pods.
//
// Thread safety: the scheduling thread.

// `cycle` belongs to the try of the group. The first Unschedulable or Error, else the last Wait,
// else Success.
Status RunPlacementFeasible(const Profile& profile, Cycle& cycle, const AnyPodGroup& group,
                            const PlacementProgress& progress);

// The first verdict that is not Unschedulable, else the reasons of all of them.
PodGroupPostFilterResult RunPodGroupPostFilter(const Profile& profile, Cycle& cycle,
                                               const PodGroupInfo& group, const Snapshot& snapshot,
                                               PodGroupDryRun& dry_run);

// The placements to try; `all` itself where the profile has no plugin for them. Unschedulable:
// there are none.
GeneratePlacementsResult RunGeneratePlacements(const Profile& profile, Cycle& cycle,
                                               const PodGroupInfo& group, const Snapshot& snapshot,
                                               const Placement& all);

// Sets the weighted sum of all scores of each placement. Error: a plugin failed.
Status RunScorePlacements(const Profile& profile, Cycle& cycle, const PodGroupInfo& group,
                          const Snapshot& snapshot, std::span<const PodGroupAssignments> placements,
                          std::vector<int64_t>& totals);

}  // namespace berth::framework
