// SPDX-License-Identifier: Apache-2.0
#include "src/api/field_table.h"

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

}  // namespace berth::api
