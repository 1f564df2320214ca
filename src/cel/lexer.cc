// SPDX-License-Identifier: Apache-2.0
#include <string>

#include "src/cel/go_text.h"
#include "src/cel/phases.h"

namespace berth::cel {
namespace {

bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsHexDigit(char c) { return IsDigit(c) || ((c | 0x20) >= 'a' && (c | 0x20) <= 'f'); }
bool IsLetter(char c) { return ((c | 0x20) >= 'a' && (c | 0x20) <= 'z') || c == '_'; }
bool IsBlank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f'; }

char At(std::string_view text, size_t i) { return i < text.size() ? text[i] : '\0'; }

size_t SkipDigits(std::string_view text, size_t at) {
  while (IsDigit(At(text, at))) ++at;
  return at;
}

// Past an exponent, or `at` when none begins there.
size_t SkipExponent(std::string_view text, size_t at) {
  if ((At(text, at) | 0x20) != 'e') return at;
  size_t digits = at + 1;
  if (At(text, digits) == '+' || At(text, digits) == '-') ++digits;
  return IsDigit(At(text, digits)) ? SkipDigits(text, digits) : at;
}

Token Number(std::string_view text, size_t offset) {
  TokenKind kind = TokenKind::kInt;
  size_t end = 0;
  if (text[0] == '0' && At(text, 1) == 'x' && IsHexDigit(At(text, 2))) {
    end = 2;
    while (IsHexDigit(At(text, end))) ++end;
  } else {
    end = SkipDigits(text, 0);
    if (At(text, end) == '.' && IsDigit(At(text, end + 1))) {
      kind = TokenKind::kFloat;
      end = SkipDigits(text, end + 1);
    }
    const size_t exponent = SkipExponent(text, end);
    if (exponent != end) kind = TokenKind::kFloat;
    end = exponent;
  }
  if (kind == TokenKind::kInt && (At(text, end) | 0x20) == 'u') {
    kind = TokenKind::kUint;
    ++end;
  }
  return {kind, offset, text.substr(0, end)};
}

// The length of the escape sequence at the backslash; 0: none is known.
size_t EscapeLength(std::string_view text) {
  constexpr std::string_view kSingle = "abfnrtv\"'\\?`";
  const char c = At(text, 1);
  if (c != '\0' && kSingle.find(c) != std::string_view::npos) return 2;
  size_t digits = 0;
  if (c >= '0' && c <= '3')
    return At(text, 2) >= '0' && At(text, 2) <= '7' && At(text, 3) >= '0' && At(text, 3) <= '7' ? 4
                                                                                                : 0;
  if (c == 'x' || c == 'X') digits = 2;
  if (c == 'u') digits = 4;
  if (c == 'U') digits = 8;
  if (digits == 0) return 0;
  for (size_t i = 0; i < digits; ++i)
    if (!IsHexDigit(At(text, 2 + i))) return 0;
  return 2 + digits;
}

// The length of the quoted text that begins with a quote; 0: it has no end, or a bad escape.
size_t QuotedLength(std::string_view text, bool raw, bool triple) {
  const char quote = text[0];
  size_t at = triple ? 3 : 1;
  while (at < text.size()) {
    const char c = text[at];
    if (c == quote && (!triple || (At(text, at + 1) == quote && At(text, at + 2) == quote)))
      return at + (triple ? 3 : 1);
    if (!triple && (c == '\n' || c == '\r')) return 0;
    if (c == '\\' && !raw) {
      const size_t length = EscapeLength(text.substr(at));
      if (length == 0) return 0;
      at += length;
    } else {
      ++at;
    }
  }
  return 0;
}

// A string or bytes with their prefix; length 0: none begins here.
size_t StringLength(std::string_view text, bool& is_bytes) {
  size_t prefix = 0;
  is_bytes = (At(text, prefix) | 0x20) == 'b';
  if (is_bytes) ++prefix;
  const bool raw = (At(text, prefix) | 0x20) == 'r';
  if (raw) ++prefix;
  const char quote = At(text, prefix);
  if (quote != '"' && quote != '\'') return 0;
  const std::string_view rest = text.substr(prefix);
  size_t length = 0;
  if (At(rest, 1) == quote && At(rest, 2) == quote) length = QuotedLength(rest, raw, true);
  // `"""` without an end is an empty string and the beginning of another.
  if (length == 0) length = QuotedLength(rest, raw, false);
  return length == 0 ? 0 : prefix + length;
}

size_t EscapedIdentifierLength(std::string_view text) {
  size_t at = 1;
  for (char c = At(text, at);
       IsLetter(c) || IsDigit(c) || c == '.' || c == '-' || c == '/' || c == ' '; c = At(text, at))
    ++at;
  return at > 1 && At(text, at) == '`' ? at + 1 : 0;
}

size_t SymbolLength(std::string_view text) {
  for (const std::string_view pair : {"==", "!=", "<=", ">=", "&&", "||"})
    if (text.substr(0, 2) == pair) return 2;
  constexpr std::string_view kSingle = "<>[]{}().,-!?:+*/%";
  return kSingle.find(text[0]) != std::string_view::npos && text[0] != '\0' ? 1 : 0;
}

TokenKind WordKind(std::string_view word) {
  if (word == "true") return TokenKind::kTrue;
  if (word == "false") return TokenKind::kFalse;
  if (word == "null") return TokenKind::kNull;
  if (word == "in") return TokenKind::kIn;
  return TokenKind::kIdentifier;
}

// The token at the front of `text`; without text: none.
Token First(std::string_view text, size_t offset) {
  const char c = text[0];
  bool is_bytes = false;
  if (const size_t length = StringLength(text, is_bytes))
    return {is_bytes ? TokenKind::kBytes : TokenKind::kString, offset, text.substr(0, length)};
  if (IsDigit(c) || (c == '.' && IsDigit(At(text, 1)))) return Number(text, offset);
  if (IsLetter(c)) {
    size_t end = 1;
    while (IsLetter(At(text, end)) || IsDigit(At(text, end))) ++end;
    return {WordKind(text.substr(0, end)), offset, text.substr(0, end)};
  }
  if (c == '`')
    return {TokenKind::kEscapedIdentifier, offset, text.substr(0, EscapedIdentifierLength(text))};
  return {TokenKind::kSymbol, offset, text.substr(0, SymbolLength(text))};
}

// Past blanks and comments.
size_t SkipHidden(std::string_view text, size_t at) {
  for (;;) {
    while (IsBlank(At(text, at)) && at < text.size()) ++at;
    if (At(text, at) != '/' || At(text, at + 1) != '/') return at;
    at = std::min(text.find('\n', at), text.size());
  }
}

}  // namespace

std::vector<Token> Tokenize(std::string_view text, Issues& issues) {
  std::vector<Token> tokens;
  size_t at = SkipHidden(text, 0);
  while (at < text.size()) {
    const Token token = First(text.substr(at), at);
    if (token.text.empty()) {
      const std::string_view bad = text.substr(at, FirstRune(text.substr(at)).length);
      issues.Report(at, "Syntax error: token recognition error at: '" + std::string(bad) + "'");
      at += bad.size();
    } else {
      tokens.push_back(token);
      at += token.text.size();
    }
    at = SkipHidden(text, at);
  }
  tokens.push_back({TokenKind::kEnd, text.size(), {}});
  return tokens;
}

}  // namespace berth::cel
