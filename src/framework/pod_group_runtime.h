// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "berth/in_tree/pod_group_points.h"
#include "src/framework/runtime.h"

// Calls a profile's plugins about pod groups, as runtime.h does about pods.
//
// Thread safety: the scheduling thread.
namespace berth::framework {

// `cycle` belongs to the try of the group. The first Unschedulable or Error, else the last Wait,
// else Success.
Status RunPlacementFeasible(const Profile& profile, Cycle& cycle, const AnyPodGroup& group,
                            const PlacementProgress& progress);

// The first verdict that is not Unschedulable, else the reasons of all of them.
PodGroupPostFilterResult RunPodGroupPostFilter(const Profile& profile, Cycle& cycle,
                                               const PodGroupInfo& group, const Snapshot& snapshot,
                                               PodGroupDryRun& dry_run);

}  // namespace berth::framework
