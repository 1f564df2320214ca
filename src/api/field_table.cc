// SPDX-License-Identifier: Apache-2.0
#include "src/api/field_table.h"

#include <limits>

namespace berth::api {

bool Trail::Fail(std::string reason) {
  if (forgiven_ > 0) {
    --forgiven_;
    return true;
  }
  reason_ = std::move(reason);
  return false;
}

bool Trail::InField(std::string_view name) {
  if (!path_.empty() && path_.front() != '[') path_.insert(0, 1, '.');
  path_.insert(0, name);
  return false;
}

bool Trail::InKey(std::string_view key) {
  return InBrackets(std::string("\"").append(key).append("\""));
}

bool Trail::InBrackets(std::string_view text) {
  if (!path_.empty() && path_.front() != '[') path_.insert(0, 1, '.');
  path_.insert(0, std::string("[").append(text).append("]"));
  return false;
}

Error Trail::ToError(std::string_view root) && {
  if (!root.empty() && (path_.empty() || path_.front() == '[')) {
    path_.insert(0, root);
  } else if (!root.empty()) {
    InField(root);
  }
  if (path_.empty()) return Error{std::move(reason_)};
  return Error{std::move(path_) + ": " + std::move(reason_)};
}

std::string BadQuantity(std::string_view text, const Error& why) {
  return "\"" + std::string(text) + "\": " + why.message;
}

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
