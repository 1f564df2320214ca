// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "absl/container/flat_hash_map.h"

namespace berth::plugins {

// Where in a list the item with a key stands. A spec says how many items there are: few are looked
// through, many are found by a table.
//
// `key_at(i)` is the key of the item at i, which lives as long as the list. Copies belong to copies
// of the list that share the keys.
//
// Thread safety: one owner; any number of readers between its writes.
class PositionByKey {
 public:
  static constexpr size_t kNone = SIZE_MAX;

  template <typename KeyAt>
  size_t Find(std::string_view key, size_t size, const KeyAt& key_at) const {
    if (size > kFew) {
      const auto at = positions_.find(key);
      return at == positions_.end() ? kNone : at->second;
    }
    for (size_t i = 0; i < size; ++i)
      if (key_at(i) == key) return i;
    return kNone;
  }
  // The list, which now has `size` items, got one more at its end.
  template <typename KeyAt>
  void Added(size_t size, const KeyAt& key_at) {
    if (size <= kFew) return;
    for (size_t i = positions_.size(); i < size; ++i) positions_.emplace(key_at(i), i);
  }
  size_t bytes() const { return positions_.capacity() * (sizeof(std::string_view) + 16); }

 private:
  static constexpr size_t kFew = 8;

  absl::flat_hash_map<std::string_view, size_t> positions_;
};

}  // namespace berth::plugins
