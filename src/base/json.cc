// SPDX-License-Identifier: Apache-2.0
#include "src/base/json.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace berth::base {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

// How many bytes the UTF-8 character at the front of `text` has; 0 when there is none. Overlong
// forms, surrogates and what lies past U+10FFFF are none.
size_t CharacterLength(std::string_view text) {
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

void AppendEscaped(char c, std::string& out) {
  constexpr std::string_view kHex = "0123456789abcdef";
  switch (c) {
    case '"':
      out += "\\\"";
      break;
    case '\\':
      out += "\\\\";
      break;
    case '\n':
      out += "\\n";
      break;
    case '\r':
      out += "\\r";
      break;
    case '\t':
      out += "\\t";
      break;
    default:
      out += "\\u00";
      out += kHex[static_cast<unsigned char>(c) >> 4];
      out += kHex[static_cast<unsigned char>(c) & 15];
  }
}

// Whether JSON holds the text as it is: printable ASCII without quotes and backslashes. Eight bytes
// at a time; a subtraction that borrows from the next byte found something already.
bool IsPlain(std::string_view text) {
  constexpr uint64_t kOnes = 0x0101010101010101;
  constexpr uint64_t kHighs = 0x8080808080808080;
  const auto any_below = [](uint64_t bytes, uint64_t limit) {
    return (bytes - kOnes * limit) & ~bytes;
  };
  uint64_t found = 0;
  const auto look_at = [&](uint64_t bytes) {
    found |= bytes | any_below(bytes, ' ') | any_below(bytes ^ (kOnes * '"'), 1) |
             any_below(bytes ^ (kOnes * '\\'), 1);
  };
  uint64_t bytes = 0;
  if (text.size() >= sizeof(bytes)) {
    for (size_t i = 0; i + sizeof(bytes) <= text.size(); i += sizeof(bytes)) {
      std::memcpy(&bytes, text.data() + i, sizeof(bytes));
      look_at(bytes);
    }
    // The last eight, some of them for the second time.
    std::memcpy(&bytes, text.data() + text.size() - sizeof(bytes), sizeof(bytes));
  } else {
    bytes = kOnes * 'x';
    for (const char c : text) bytes = bytes << 8 | static_cast<unsigned char>(c);
  }
  look_at(bytes);
  return (found & kHighs) == 0;
}

}  // namespace

void AppendJson(std::string_view text, std::string& out) {
  out += '"';
  if (IsPlain(text)) {
    out.append(text) += '"';
    return;
  }
  size_t plain = 0;  // where the bytes begin that are copied as they are
  size_t i = 0;
  while (i < text.size()) {
    const char c = text[i];
    const bool special = static_cast<unsigned char>(c) < 0x20 || c == '"' || c == '\\';
    const size_t length = special ? 1 : CharacterLength(text.substr(i));
    if (!special && length > 0) {
      i += length;
      continue;
    }
    out.append(text, plain, i - plain);
    if (special) {
      AppendEscaped(c, out);
    } else {
      out += kReplacement;
    }
    plain = ++i;
  }
  out.append(text, plain);
  out += '"';
}

}  // namespace berth::base
