// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <vector>

#include "berth/config_value.h"

namespace berth::documents {

// Calls `f` with each member whose key stands further ahead in the map too.
template <typename F>
void ForEachDuplicate(const ConfigValue::Map& map, F f) {
  if (map.size() < 2) return;
  std::vector<const ConfigValue::Map::value_type*> members;
  members.reserve(map.size());
  for (const auto& member : map) members.push_back(&member);
  std::stable_sort(members.begin(), members.end(),
                   [](const auto* a, const auto* b) { return a->first < b->first; });
  for (size_t i = 1; i < members.size(); ++i)
    if (members[i]->first == members[i - 1]->first) f(*members[i]);
}

}  // namespace berth::documents
