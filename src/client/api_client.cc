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

std::string Escape(std::string_view text) {
  static constexpr char kHex[] = "0123456789ABCDEF";
  std::string out;
  out.reserve(text.size());
  for (const char c : text) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '-' || c == '_' || c == '.' || c == '~';
    if (plain) {
      out.push_back(c);
      continue;
    }
    const auto byte = static_cast<unsigned char>(c);
    out.push_back('%');
    out.push_back(kHex[byte >> 4]);
    out.push_back(kHex[byte & 15]);
  }
  return out;
}

}  // namespace berth::client
