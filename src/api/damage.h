// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "berth/api/meta.h"

namespace berth::api {

// Fills `object`, which is as it was made, with what can be read of it, and lists the rest in its
// metadata.damage. `read(forgiven)` reads it as a Trail that forgives so many failures lets it, and
// returns the next one.
template <typename T, typename Read>
void ReadAllThatCanBe(T& object, Read read) {
  // More is as good as the whole object, and each costs one more reading.
  constexpr size_t kMost = 16;
  std::vector<FieldDamage> damage;
  while (auto next = read(damage.size())) {
    damage.push_back(*std::move(next));
    object = T();
    if (damage.size() < kMost) continue;
    damage.push_back({"", "more than " + std::to_string(kMost) + " fields cannot be read"});
    static_cast<void>(read(std::numeric_limits<size_t>::max()));
    break;
  }
  if (!damage.empty()) object.metadata.damage = std::move(damage);
}

}  // namespace berth::api
