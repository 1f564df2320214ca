// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "berth/in_tree/preemption.h"
#include "src/framework/profile.h"
#include "src/framework/runtime.h"

namespace berth::framework {

// What the profile's PostFilter would do for a pod that no node took: the answer of its first
// plugin that can tell; nullopt where none can. A plugin that throws finds no candidates.
//
// Thread safety: the scheduling thread.
std::optional<PreemptionPreview> RunPreemptionPreview(const Profile& profile, Cycle& cycle,
                                                      const PodInfo& pod, const Snapshot& snapshot,
                                                      const NodeToStatus& statuses);

}  // namespace berth::framework
