// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <vector>

#include "berth/config_value.h"

namespace berth::documents {

// Calls `f` with each member whose key stands further ahead in the map too, and with the next one
// ahead that has it.
template <typename F>
void ForEachDuplicate(const ConfigValue::Map& map, F f) {
  // Among few, comparing each with each costs less than sorting.
  constexpr size_t kFew = 8;
  if (map.size() <= kFew) {
    for (auto member = map.begin(); member != map.end(); ++member) {
      const auto same_key = [&](const auto& other) { return other.first == member->first; };
      const auto ahead = std::find_if(std::make_reverse_iterator(member), map.rend(), same_key);
      if (ahead != map.rend()) f(*member, *ahead);
    }
    return;
  }
  std::vector<const ConfigValue::Map::value_type*> members;
  members.reserve(map.size());
  for (const auto& member : map) members.push_back(&member);
  std::stable_sort(members.begin(), members.end(),
                   [](const auto* a, const auto* b) { return a->first < b->first; });
  for (size_t i = 1; i < members.size(); ++i)
    if (members[i]->first == members[i - 1]->first) f(*members[i], *members[i - 1]);
}

// The value with the last of all members of one key in each of its maps.
ConfigValue KeepLastOfEachKey(const ConfigValue& value);

}  // namespace berth::documents
