// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "berth/api/scheduling.h"
#include "berth/in_tree/cycle_state.h"
#include "berth/in_tree/pod_groups.h"
#include "berth/status.h"

// What plugins are asked about a pod group, in the cycle that tries all of its pods.
namespace berth::inline in_tree {

// How far the cycle has come with one pod group.
struct PlacementProgress {
  size_t scheduled = 0;  // in this cycle and before
  size_t remaining = 0;  // still to be tried
};

// Has a say about pod groups as a whole. A profile's plugins at Permit are asked for it.
class PodGroupPlugin {
 public:
  virtual ~PodGroupPlugin() = default;
  // Once, before any other call; `states` outlives the plugin.
  virtual void SetPodGroupStates(const PodGroupStates& states) = 0;
  // Whether the group may start with what has been found for it; asked before the first pod and
  // after each. Success: what is scheduled is enough. Wait: it may become enough. Unschedulable: it
  // cannot. `state` belongs to this try of the group.
  virtual Status PlacementFeasible(CycleState& state, const api::PodGroup& group,
                                   const PlacementProgress& progress) = 0;
};

}  // namespace berth::inline in_tree
