// SPDX-License-Identifier: Apache-2.0
#include "src/base/json.h"

#include <algorithm>
#include <cstdint>

#include "src/base/utf8.h"

namespace berth::base {
namespace {

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

// Tells of bytes whether JSON holds them as they are: printable ASCII without quotes and
// backslashes. Eight at a time; a subtraction that borrows from the next byte found something
// already.
class PlainCheck {
 public:
  void LookAt(uint64_t bytes) {
    found_ |= bytes | AnyBelow(bytes, ' ') | AnyBelow(bytes ^ (kOnes * '"'), 1) |
              AnyBelow(bytes ^ (kOnes * '\\'), 1);
  }
  // At up to seven.
  void LookAtFew(std::string_view text) {
    uint64_t bytes = kOnes * 'x';
    for (const char c : text) bytes = bytes << 8 | static_cast<unsigned char>(c);
    LookAt(bytes);
  }
  bool plain() const { return (found_ & kHighs) == 0; }

 private:
  static constexpr uint64_t kOnes = 0x0101010101010101;
  static constexpr uint64_t kHighs = 0x8080808080808080;
  static uint64_t AnyBelow(uint64_t bytes, uint64_t limit) {
    return (bytes - kOnes * limit) & ~bytes;
  }
  uint64_t found_ = 0;
};

constexpr size_t kWord = sizeof(uint64_t);

// Copies the text, and whether JSON holds it as it is.
bool CopyIfPlain(std::string_view text, char* to) {
  PlainCheck check;
  const auto copy = [&](size_t at) {
    uint64_t bytes = 0;
    std::memcpy(&bytes, text.data() + at, kWord);
    std::memcpy(to + at, &bytes, kWord);
    check.LookAt(bytes);
  };
  if (text.size() < kWord) {
    for (size_t i = 0; i < text.size(); ++i) to[i] = text[i];
    check.LookAtFew(text);
    return check.plain();
  }
  for (size_t at = 0; at + kWord <= text.size(); at += kWord) copy(at);
  copy(text.size() - kWord);  // some of it for the second time
  return check.plain();
}

}  // namespace

void AppendJson(std::string_view text, std::string& out) {
  const size_t begin = out.size() + 1;
  out.resize(begin + text.size() + 1, '"');
  if (CopyIfPlain(text, out.data() + begin)) return;
  out.resize(begin);
  size_t plain = 0;  // where the bytes begin that are copied as they are
  size_t i = 0;
  while (i < text.size()) {
    const char c = text[i];
    const bool special = static_cast<unsigned char>(c) < 0x20 || c == '"' || c == '\\';
    const size_t length = special ? 1 : Utf8Length(text.substr(i));
    if (!special && length > 0) {
      i += length;
      continue;
    }
    out.append(text, plain, i - plain);
    if (special) {
      AppendEscaped(c, out);
    } else {
      out += kUtf8Replacement;
    }
    plain = ++i;
  }
  out.append(text, plain);
  out += '"';
}

void JsonWriter::PutString(std::string_view text) {
  if (text_.size() - end_ < text.size() + 2) Grow(text.size() + 2);
  char* const to = text_.data() + end_;
  if (CopyIfPlain(text, to + 1)) {
    to[0] = to[text.size() + 1] = '"';
    end_ += text.size() + 2;
    return;
  }
  const size_t room = text_.size();
  text_.resize(end_);
  AppendJson(text, text_);
  end_ = text_.size();
  text_.resize(std::max(room, end_));
}

}  // namespace berth::base
