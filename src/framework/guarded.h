// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <exception>
#include <string>

#include "berth/cycle_state.h"

namespace berth::framework {

// Calls a plugin; what it throws becomes an Error status.
template <typename Call>
Status Guarded(const CycleState& state, Call call) {
  try {
    return call();
  } catch (const std::exception& e) {
    return state.reasons().Error(std::string("plugin threw: ") + e.what());
  } catch (...) {
    return state.reasons().Error("plugin threw");
  }
}

}  // namespace berth::framework
