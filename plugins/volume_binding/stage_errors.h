// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "berth/in_tree/handle.h"

namespace berth::plugins {

// Counts a failure of `operation`: predicate, assume or bind. Any thread.
inline void CountStageError(Handle& handle, std::string_view operation) {
  handle.CountMetric("volume_scheduling_stage_error_total", {operation}, 1);
}

}  // namespace berth::plugins
