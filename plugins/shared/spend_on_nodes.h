// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "berth/in_tree/cycle_state.h"

namespace berth::plugins {

// A list of a pod's spec that is held against nodes one by one: a longer one than most pods have
// spends from the cycle's budget. False: that is used up.
inline bool SpendOnNodes(const CycleState& state, uint64_t items, uint64_t nodes = 1) {
  constexpr uint64_t kFree = 64;
  return items <= kFree || state.budget().Spend(items * nodes);
}

// What a plugin says then.
inline Status OutOfBudget(const CycleState& state) {
  return state.reasons().Error(state.budget().Message());
}

}  // namespace berth::plugins
