// SPDX-License-Identifier: Apache-2.0
#include "src/api/field_table.h"

namespace berth::api {

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
