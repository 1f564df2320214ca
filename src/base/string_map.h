// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "absl/container/flat_hash_map.h"
#include "absl/hash/hash.h"
#include "absl/strings/string_view.h"

namespace berth::base {

// Hashes std::string and std::string_view alike, as Abseil hashes its own string_view, which may be
// another type: the standard library's would be hashed by std::hash. Seeded in each process, so
// that a stranger cannot choose names that collide.
struct StringHash {
  using is_transparent = void;
  size_t operator()(std::string_view text) const {
    return absl::Hash<absl::string_view>()(absl::string_view(text.data(), text.size()));
  }
};

// A hash map by string that is searched by string_view. Its order means nothing.
template <typename Value>
using StringMap = absl::flat_hash_map<std::string, Value, StringHash, std::equal_to<>>;

}  // namespace berth::base
