// SPDX-License-Identifier: Apache-2.0
#include "src/cel/literals.h"

#include <string_view>
#include <utility>

#include "src/cel/go_text.h"
#include "src/cel/unescape.h"

namespace berth::cel {
namespace {

Result<Value> ReadWhole(const Token& token, const std::string& sign) {
  const bool is_uint = token.kind == TokenKind::kUint;
  std::string_view digits = token.text;
  if (is_uint) digits.remove_suffix(1);
  const bool hexadecimal = digits.substr(0, 2) == "0x";
  if (hexadecimal) digits.remove_prefix(2);
  const int base = hexadecimal ? 16 : 10;
  if (is_uint) {
    if (const auto number = ParseUint(digits, base)) return Value::Uint(*number);
    return Fail("invalid uint literal");
  }
  if (const auto number = ParseInt(sign + std::string(digits), base)) return Value::Int(*number);
  return Fail("invalid int literal");
}

Result<Value> ReadQuoted(const Token& token) {
  const bool is_bytes = token.kind == TokenKind::kBytes;
  Result<std::string> text = Unescape(token.text.substr(is_bytes ? 1 : 0), is_bytes);
  if (!text) return Fail(text.error());
  return is_bytes ? Value::Bytes(*std::move(text)) : Value::String(*std::move(text));
}

}  // namespace

Result<Value> ReadLiteral(const Token& token, const std::string& sign) {
  switch (token.kind) {
    case TokenKind::kTrue:
      return Value::Bool(true);
    case TokenKind::kFalse:
      return Value::Bool(false);
    case TokenKind::kNull:
      return Value();
    case TokenKind::kInt:
    case TokenKind::kUint:
      return ReadWhole(token, sign);
    case TokenKind::kFloat:
      if (const auto number = ParseDouble(sign + std::string(token.text)))
        return Value::Double(*number);
      return Fail("invalid double literal");
    default:
      return ReadQuoted(token);
  }
}

}  // namespace berth::cel
