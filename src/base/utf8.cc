// SPDX-License-Identifier: Apache-2.0
#include "src/base/utf8.h"

#include <cstdint>
#include <cstring>

namespace berth::base {
namespace {

bool IsAscii(std::string_view text) {
  constexpr uint64_t kHighs = 0x8080808080808080;
  constexpr size_t kStep = sizeof(uint64_t);
  uint64_t found = 0;
  const auto look_at = [&](size_t at) {
    uint64_t bytes = 0;
    std::memcpy(&bytes, text.data() + at, kStep);
    found |= bytes;
  };
  if (text.size() < kStep) {
    for (const char c : text) found |= static_cast<unsigned char>(c);
  } else {
    for (size_t at = 0; at + kStep <= text.size(); at += kStep) look_at(at);
    look_at(text.size() - kStep);  // some of it for the second time
  }
  return (found & kHighs) == 0;
}

}  // namespace

size_t Utf8Length(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  const size_t length = first < 0x80                     ? 1
                        : first >= 0xC2 && first <= 0xDF ? 2
                        : (first & 0xF0) == 0xE0         ? 3
                        : first >= 0xF0 && first <= 0xF4 ? 4
                                                         : 0;
  if (length == 0 || length > text.size()) return 0;
  for (size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return 0;
  }
  if (first == 0xE0 && byte(1) < 0xA0) return 0;
  if (first == 0xED && byte(1) > 0x9F) return 0;
  if (first == 0xF0 && byte(1) < 0x90) return 0;
  if (first == 0xF4 && byte(1) > 0x8F) return 0;
  return length;
}

bool IsUtf8(std::string_view text) {
  if (IsAscii(text)) return true;
  while (!text.empty()) {
    const size_t length = Utf8Length(text);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

std::string Visible(std::string_view text, std::string_view kept) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string out;
  out.reserve(text.size());
  const auto append_hex = [&](std::string_view prefix, unsigned char byte) {
    out += prefix;
    out += kDigits[byte >> 4];
    out += kDigits[byte & 0xF];
  };
  while (!text.empty()) {
    const auto first = static_cast<unsigned char>(text.front());
    const size_t length = Utf8Length(text);
    const bool ascii_control = first < 0x20 || first == 0x7F;
    if (length == 0 || (ascii_control && kept.find(text.front()) == std::string_view::npos)) {
      append_hex("\\x", first);
    } else if (length == 2 && first == 0xC2 && static_cast<unsigned char>(text[1]) < 0xA0) {
      append_hex("\\u00", static_cast<unsigned char>(text[1]));  // U+0080 to U+009F
    } else {
      out += text.substr(0, length);
    }
    text.remove_prefix(length == 0 ? 1 : length);
  }
  return out;
}

std::string ToUtf8(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const size_t length = Utf8Length(text);
    out.append(length == 0 ? kUtf8Replacement : text.substr(0, length));
    text.remove_prefix(length == 0 ? 1 : length);
  }
  return out;
}

std::string_view Utf8Front(std::string_view text, size_t most) {
  if (text.size() <= most) return text;
  while (most > 0 && (static_cast<unsigned char>(text[most]) & 0xC0) == 0x80) --most;
  return text.substr(0, most);
}

}  // namespace berth::base
