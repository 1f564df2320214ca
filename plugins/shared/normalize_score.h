// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

namespace berth::plugins {

// Scales scores so that the largest becomes 100; `reverse` turns that into 0 and 0 into 100. When
// no score is above 0, all become 100 (reverse) or stay as they are. Division truncates.
void DefaultNormalizeScore(bool reverse, std::span<int64_t> scores);

}  // namespace berth::plugins
