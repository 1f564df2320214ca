// SPDX-License-Identifier: Apache-2.0
#include "plugins/shared/normalize_score.h"

#include <algorithm>

#include "berth/plugin.h"

namespace berth::plugins {

void DefaultNormalizeScore(bool reverse, std::span<int64_t> scores) {
  int64_t largest = 0;
  for (int64_t score : scores) largest = std::max(largest, score);
  if (largest == 0) {
    if (reverse) std::fill(scores.begin(), scores.end(), kMaxNodeScore);
    return;
  }
  for (int64_t& score : scores) {
    score = kMaxNodeScore * score / largest;
    if (reverse) score = kMaxNodeScore - score;
  }
}

}  // namespace berth::plugins
