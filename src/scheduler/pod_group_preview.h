// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "src/engine/pod_group_preview.h"
#include "src/scheduler/pod_group_tree.h"
#include "src/scheduler/profiles.h"
#include "src/scheduler/state.h"

namespace berth::scheduler {

// What a preview may do to the cluster. To try a group is to reserve for its pods, and to take that
// back: a reservation of a claim, too, that was there before.
enum class Effects { kOnClaims, kNone };
// Why the group cannot be tried without effects; "": it can.
std::string WhyNotTried(const SchedulerState& state, PodGroupTree& tree);

// The group of that pod, and an attempt at all pods of its tree that wait and may be tried; nullopt
// where the pod belongs to no group. A tree without a root's object cannot be tried.
struct PreviewAttempt {
  engine::PodGroupPreview preview;
  PodGroupTree tree;
};
std::optional<PreviewAttempt> BeginPreview(SchedulerState& state, const Profiles& profiles,
                                           const api::Pod& pod);
// What the attempt came to, once it has been tried.
engine::PodGroupPreview EndPreview(PreviewAttempt tried, const GroupVerdict& verdict);

}  // namespace berth::scheduler
