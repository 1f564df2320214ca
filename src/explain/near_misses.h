// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "src/engine/judgement.h"

namespace berth::explain {

// Nodes that were rejected by one plugin for the same reasons.
struct RejectedGroup {
  std::string_view plugin;  // "": PreFilter or an extender
  bool pre_filter = false;  // did not leave the nodes
  Code code = Code::kUnschedulableAndUnresolvable;
  std::vector<std::string> reasons;  // sorted
  std::vector<NodeRow> nodes;        // ascending
  // How many filters the nodes passed before.
  size_t filters_passed = 0;
};

// The rejected nodes of a judgement that has been explained, nearest misses first: what evicting
// pods may cure before what it cannot; then the later in profile order the plugin that rejected
// them, the nearer; then the fewer reasons, the nearer; then the larger group.
std::vector<RejectedGroup> NearMisses(const engine::Judgement& judgement);

// For people: who rejected the group, and why. Of PreFilter the plugins that rejected the pod or
// named the only nodes that may pass ("A, B"), and what was said then. `plugins` "": unknown.
struct Rejection {
  std::string plugins;
  std::vector<std::string> reasons;
};
Rejection RejectionOf(const engine::Judgement& judgement, const RejectedGroup& group);

}  // namespace berth::explain
