// SPDX-License-Identifier: Apache-2.0
#include "src/config/base64.h"

#include <cstdint>

namespace berth::config {
namespace {

constexpr std::string_view kAlphabet =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

bool IsLineBreak(char c) { return c == '\n' || c == '\r'; }

}  // namespace

Result<std::string> DecodeBase64(std::string_view text) {
  const auto illegal = [](size_t at) {
    return Fail("illegal base64 data at input byte " + std::to_string(at));
  };
  std::string bytes;
  uint32_t bits = 0;
  int digits = 0;
  size_t at = 0;
  for (; at < text.size() && text[at] != '='; ++at) {
    if (IsLineBreak(text[at])) continue;
    const size_t digit = kAlphabet.find(text[at]);
    if (digit == std::string_view::npos) return illegal(at);
    bits = bits << 6 | static_cast<uint32_t>(digit);
    if (++digits < 4) continue;
    for (int shift = 16; shift >= 0; shift -= 8) bytes += static_cast<char>(bits >> shift & 0xff);
    bits = 0;
    digits = 0;
  }
  if (at == text.size()) {
    if (digits == 0) return bytes;
    return illegal(at - static_cast<size_t>(digits));
  }
  if (digits < 2) return illegal(at);
  int padding = 0;
  for (; at < text.size(); ++at) {
    if (IsLineBreak(text[at])) continue;
    if (text[at] != '=' || padding == 4 - digits) return illegal(at);
    ++padding;
  }
  if (padding != 4 - digits) return illegal(at);
  bits <<= 6 * (4 - digits);
  bytes += static_cast<char>(bits >> 16 & 0xff);
  if (digits == 3) bytes += static_cast<char>(bits >> 8 & 0xff);
  return bytes;
}

}  // namespace berth::config
