// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <exception>
#include <optional>
#include <string>

#include "berth/cycle_state.h"
#include "berth/plugin.h"

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

// Calls a plugin; what it throws becomes an Error status.
template <typename Call>
Status Guarded(const CycleState& state, Call call) {
  Status status;
  const auto thrown = ThrownBy([&] { status = call(); });
  return thrown ? state.reasons().Error(*thrown) : status;
}

// Calls a plugin that answers by `done`; what it throws becomes its answer, an Error. The plugin
// must not have answered before, and not answer after it.
template <typename Call>
void GuardedAsync(const AsyncDone& done, Call call) {
  if (const auto thrown = ThrownBy([&] { call(done); })) done({Code::kError, *thrown});
}

}  // namespace berth::framework
