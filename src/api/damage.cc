// SPDX-License-Identifier: Apache-2.0
#include "src/api/damage.h"

#include <limits>
#include <string>

namespace berth::api {

std::vector<FieldDamage> ReadInSpiteOfDamage(
    absl::FunctionRef<std::optional<FieldDamage>(size_t forgiven)> read,
    absl::FunctionRef<void()> clear) {
  constexpr size_t kMost = 16;
  std::vector<FieldDamage> damage;
  while (auto next = read(damage.size())) {
    damage.push_back(*std::move(next));
    clear();
    if (damage.size() < kMost) continue;
    damage.push_back({"", "more than " + std::to_string(kMost) + " fields cannot be read"});
    static_cast<void>(read(std::numeric_limits<size_t>::max()));
    break;
  }
  return damage;
}

}  // namespace berth::api
