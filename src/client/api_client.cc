// SPDX-License-Identifier: Apache-2.0
#include "src/client/api_client.h"

#include "src/base/text.h"

namespace berth::client {

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
