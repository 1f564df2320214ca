// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <exception>
#include <optional>
#include <string>

#include "berth/in_tree/cycle_state.h"
#include "src/framework/time_limit.h"

namespace berth::framework {

// Calls a plugin. nullopt, or what it threw, as text.
template <typename Call>
std::optional<std::string> ThrownBy(Call call) {
  try {
    call();
    return std::nullopt;
  } catch (const std::exception& e) {
    return std::string("plugin threw: ") + e.what();
  } catch (...) {
    return "plugin threw";
  }
}

// Calls a plugin; what it throws becomes an Error status. Does not call it once the thread's limit
// of time is up: an Error, too.
template <typename Call>
Status Guarded(const CycleState& state, Call call) {
  if (TimeLimit::IsUp()) return state.reasons().Error("the time for the question is up");
  Status status;
  const auto thrown = ThrownBy([&] { status = call(); });
  return thrown ? state.reasons().Error(*thrown) : status;
}

}  // namespace berth::framework
