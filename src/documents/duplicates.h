// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "berth/config_value.h"

namespace berth::documents {

// Calls `f` with each member whose key stands further ahead in the map too.
template <typename F>
void ForEachDuplicate(const ConfigValue::Map& map, F f) {
  // Among few, comparing each with each costs less than sorting.
  constexpr size_t kFew = 8;
  if (map.size() <= kFew) {
    for (auto member = map.begin(); member != map.end(); ++member) {
      const auto same_key = [&](const auto& other) { return other.first == member->first; };
      if (std::find_if(map.begin(), member, same_key) != member) f(*member);
    }
    return;
  }
  std::vector<const ConfigValue::Map::value_type*> members;
  members.reserve(map.size());
  for (const auto& member : map) members.push_back(&member);
  std::stable_sort(members.begin(), members.end(),
                   [](const auto* a, const auto* b) { return a->first < b->first; });
  for (size_t i = 1; i < members.size(); ++i)
    if (members[i]->first == members[i - 1]->first) f(*members[i]);
}

}  // namespace berth::documents
