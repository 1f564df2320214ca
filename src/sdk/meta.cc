// SPDX-License-Identifier: Apache-2.0
#include "berth/api/meta.h"

#include <algorithm>

namespace berth::api {

const std::string* Find(const StringMap& map, std::string_view key) {
  const auto found = std::lower_bound(
      map.begin(), map.end(), key,
      [](const auto& entry, std::string_view wanted) { return entry.first < wanted; });
  return found == map.end() || found->first != key ? nullptr : &found->second;
}

void Put(std::string_view key, std::string_view value, StringMap& map) {
  const auto at = std::ranges::lower_bound(map, key, {}, &StringMap::value_type::first);
  if (at != map.end() && at->first == key) {
    at->second = value;
  } else {
    map.emplace(at, key, value);
  }
}

}  // namespace berth::api
