// SPDX-License-Identifier: Apache-2.0
#include "plugins/shared/normalize_score.h"

#include <algorithm>

#include "berth/in_tree/points.h"

namespace berth::plugins {

void DefaultNormalizeScore(Best best, std::span<int64_t> scores) {
  const bool reverse = best == Best::kLeast;
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
