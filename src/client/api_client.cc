// SPDX-License-Identifier: Apache-2.0
#include "src/client/api_client.h"

#include "src/base/text.h"

namespace berth::client {

bool ApiError::object_is_gone() const {
  const auto says = [this](std::string_view words) {
    return message.find(words) != std::string::npos;
  };
  return code == 404 || (code == 422 && says("metadata.uid")) ||
         (code == 409 && (says("UID in precondition") || says("UID in the precondition")));
}

std::string ApiError::ToString() const {
  std::string text = message.empty() ? "no message" : message;
  if (code != 0) {
    text += base::Concat(" (", code, reason.empty() ? "" : " ", reason, ")");
  } else if (!reason.empty()) {
    text += base::Concat(" (", reason, ")");
  }
  return text;
}

}  // namespace berth::client
