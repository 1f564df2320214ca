// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace berth::legacy {

// A value of JSON; what of a number or boolean it is does not matter here.
struct Json {
  enum class Type { kNull, kBoolean, kNumber, kText, kList, kObject };

  Type type = Type::kNull;
  std::string text = {};
  std::vector<Json> items = {};
  std::vector<std::pair<std::string, Json>> members = {};  // a name may be there more than once

  // The last member of an object that is called `name`, upper and lower case apart, as Go decodes
  // JSON; nullptr for none, for null, and where this is no object.
  const Json* Find(std::string_view name) const;
};

// Reads JSON that an annotation holds. nullopt: it is none, or is nested more than 64 deep.
//
// Thread safety: any thread.
std::optional<Json> ParseJson(std::string_view text);

}  // namespace berth::legacy
