// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>

// Sums, differences and shares of amounts. Objects may name any amount that an int64 holds, so what
// is added up of them ends at the greatest and the least one instead of beyond, where a node would
// seem free again.
namespace berth {

__extension__ typedef __int128 WideAmount;

inline constexpr int64_t kMostAmount = std::numeric_limits<int64_t>::max();
inline constexpr int64_t kLeastAmount = std::numeric_limits<int64_t>::min();

constexpr int64_t Saturated(WideAmount amount) {
  if (amount > kMostAmount) return kMostAmount;
  if (amount < kLeastAmount) return kLeastAmount;
  return static_cast<int64_t>(amount);
}

constexpr int64_t SumSaturated(int64_t a, int64_t b) {
  int64_t sum = 0;
  if (!__builtin_add_overflow(a, b, &sum)) [[likely]]
    return sum;
  return a < 0 ? kLeastAmount : kMostAmount;
}

constexpr int64_t DifferenceSaturated(int64_t a, int64_t b) {
  int64_t difference = 0;
  if (!__builtin_sub_overflow(a, b, &difference)) [[likely]]
    return difference;
  return a < 0 ? kLeastAmount : kMostAmount;
}

// part * times / whole, towards zero. `whole` must not be 0.
constexpr int64_t ShareOf(int64_t part, int64_t times, int64_t whole) {
  int64_t product = 0;
  if (!__builtin_mul_overflow(part, times, &product)) [[likely]]
    return product / whole;
  return Saturated(WideAmount{part} * times / whole);
}

}  // namespace berth
