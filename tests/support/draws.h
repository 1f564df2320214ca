// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "berth/random.h"

namespace berth::test {

inline bool OneIn(Random& random, uint64_t chances) { return random.Below(chances) == 0; }

template <typename T, size_t N>
const T& Pick(Random& random, const T (&choices)[N]) {
  return choices[random.Below(N)];
}

template <typename T, size_t N>
std::string PickText(Random& random, const T (&choices)[N]) {
  return std::string(Pick(random, choices));
}

}  // namespace berth::test
