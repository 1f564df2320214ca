// SPDX-License-Identifier: Apache-2.0
#pragma once

// Aborts with file, line and text when `condition` is false: a bug in Berth, never bad input.
#define BERTH_CHECK(condition, text) \
  ((condition) ? static_cast<void>(0) : ::berth::internal::CheckFailed(__FILE__, __LINE__, text))

namespace berth::internal {
[[noreturn]] void CheckFailed(const char* file, int line, const char* text);
}  // namespace berth::internal
