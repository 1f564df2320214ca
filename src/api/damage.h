// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <absl/functional/function_ref.h>

#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "berth/api/meta.h"

namespace berth::api {

// What `read(forgiven)` returns one by one, as a Trail that forgives so many failures lets it read;
// each time after `clear()`. More than 16 are one: they cost a reading each.
std::vector<FieldDamage> ReadInSpiteOfDamage(
    absl::FunctionRef<std::optional<FieldDamage>(size_t forgiven)> read,
    absl::FunctionRef<void()> clear);

// Fills `object`, which is as it was made, with what can be read of it, and lists the rest in its
// metadata.damage. `read(forgiven)` reads it as a Trail that forgives so many failures lets it, and
// returns the next one.
template <typename T, typename Read>
void ReadAllThatCanBe(T& object, Read read) {
  auto damage = ReadInSpiteOfDamage(read, [&object] { object = T(); });
  if (!damage.empty()) object.metadata.damage = std::move(damage);
}

}  // namespace berth::api
