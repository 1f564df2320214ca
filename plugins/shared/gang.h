// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "berth/in_tree/handle.h"
#include "berth/in_tree/pod_groups.h"

// Pods that start together, whichever kind of PodGroup says so. Scheduling thread.
namespace berth::plugins {

// Moves the pods without a node to activeQ. False: there are none. They wait together: what moves
// one of them moves all.
inline bool ActivateOne(const PodGroupState& group, Handle& handle) {
  for (const auto& [uid, member] : group.members) {
    if (member.placed) continue;
    handle.Activate({member.pod->metadata.Key()});
    return true;
  }
  return false;
}

// Lets those go that wait in Permit for `plugin`.
inline void AllowAssumed(const PodGroupState& group, std::string_view plugin, Handle& handle) {
  for (const auto& [uid, member] : group.members) {
    if (!member.assumed) continue;
    if (WaitingPod* waiting = handle.FindWaitingPod(uid)) waiting->Allow(plugin);
  }
}

}  // namespace berth::plugins
