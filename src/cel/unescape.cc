// SPDX-License-Identifier: Apache-2.0
#include "src/cel/unescape.h"

#include <cstdint>
#include <optional>

#include "src/cel/go_text.h"

namespace berth::cel {
namespace {

constexpr char kBadEscape[] = "unable to unescape string";

bool IsCharacter(uint64_t rune) { return rune <= 0x10FFFF && !(rune >= 0xD800 && rune < 0xE000); }

char SimpleEscape(char c) {
  constexpr std::string_view kNames = "abfnrtv\\'\"`?";
  constexpr std::string_view kValues = "\a\b\f\n\r\t\v\\'\"`?";
  const size_t at = kNames.find(c);
  return at == std::string_view::npos ? '\0' : kValues[at];
}

// All line ends are '\n' in what a literal stands for.
std::string NormalLines(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\r') {
      out += text[i];
      continue;
    }
    out += '\n';
    if (i + 1 < text.size() && text[i + 1] == '\n') ++i;
  }
  return out;
}

struct Coded {
  size_t digits;
  int base;
  bool allowed_in_bytes;
};

// Of the character after a backslash: how its number is written; nullopt: it has none.
std::optional<Coded> CodedEscape(char c) {
  if (c == 'x' || c == 'X') return Coded{2, 16, true};
  if (c == 'u') return Coded{4, 16, false};
  if (c == 'U') return Coded{8, 16, false};
  if (c >= '0' && c <= '3') return Coded{3, 8, true};
  return std::nullopt;
}

}  // namespace

Result<std::string> Unescape(std::string_view literal, bool is_bytes) {
  const std::string normal = NormalLines(literal);
  std::string_view rest = normal;
  const bool raw = !rest.empty() && (rest.front() | 0x20) == 'r';
  if (raw) rest.remove_prefix(1);
  const bool triple = rest.size() >= 6 && rest[1] == rest[0] && rest[2] == rest[0];
  const size_t quotes = triple ? 3 : 1;
  if (rest.size() < 2 * quotes) return Fail(kBadEscape);
  rest = rest.substr(quotes, rest.size() - 2 * quotes);
  if (raw || rest.find('\\') == std::string_view::npos) return std::string(rest);
  std::string text;
  while (!rest.empty()) {
    if (rest.front() != '\\') {
      text += rest.front();
      rest.remove_prefix(1);
      continue;
    }
    if (rest.size() < 2) return Fail(kBadEscape);
    const char c = rest[1];
    if (const char simple = SimpleEscape(c)) {
      text += simple;
      rest.remove_prefix(2);
      continue;
    }
    const std::optional<Coded> coded = CodedEscape(c);
    if (!coded || (is_bytes && !coded->allowed_in_bytes)) return Fail(kBadEscape);
    rest.remove_prefix(coded->base == 8 ? 1 : 2);
    const std::optional<uint64_t> rune = ParseUint(rest.substr(0, coded->digits), coded->base);
    if (!rune || rest.size() < coded->digits) return Fail(kBadEscape);
    rest.remove_prefix(coded->digits);
    if (is_bytes) {
      text += static_cast<char>(*rune);
    } else if (IsCharacter(*rune)) {
      AppendRune(text, static_cast<char32_t>(*rune));
    } else {
      return Fail("invalid unicode code point");
    }
  }
  return text;
}

}  // namespace berth::cel
