// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "absl/container/flat_hash_map.h"
#include "absl/hash/hash.h"

namespace berth::cache {

struct StringHash {
  using is_transparent = void;
  size_t operator()(std::string_view text) const { return absl::Hash<std::string_view>()(text); }
};

// A hash map by string that std::string_view finds its way in: Abseil's own default takes only its
// own string_view where that is another type.
template <typename Value>
using StringTable = absl::flat_hash_map<std::string, Value, StringHash, std::equal_to<>>;

}  // namespace berth::cache
