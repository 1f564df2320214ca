// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

namespace berth::plugins {

enum class Best : uint8_t { kMost, kLeast };

// Scales scores so that the largest becomes 100, or, where the least is best, 0, and 0 becomes 100.
// When no score is above 0, all stay as they are, or become 100. Division truncates.
void DefaultNormalizeScore(Best best, std::span<int64_t> scores);

}  // namespace berth::plugins
