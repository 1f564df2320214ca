// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "src/engine/pod_group_preview.h"
#include "src/scheduler/pod_group_attempt.h"
#include "src/scheduler/profiles.h"
#include "src/scheduler/state.h"

namespace berth::scheduler {

// What a preview may do to the cluster. To try a group is to reserve for its pods, and to take that
// back: a reservation of a claim, too, that was there before.
enum class Effects { kOnClaims, kNone };
// Why the group cannot be tried without effects; "": it can.
std::string WhyNotTried(const SchedulerState& state, const PodGroupAttempt& group);

// The group of that pod, and an attempt at all of its pods that wait and may be tried; nullopt
// where the pod belongs to no group.
struct PreviewAttempt {
  engine::PodGroupPreview preview;
  PodGroupAttempt group;
};
std::optional<PreviewAttempt> BeginPreview(SchedulerState& state, const Profiles& profiles,
                                           const api::Pod& pod);
// What the attempt came to, once it has been tried.
engine::PodGroupPreview EndPreview(PreviewAttempt tried, const GroupVerdict& verdict);

}  // namespace berth::scheduler
