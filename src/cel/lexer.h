// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "src/cel/source.h"

// Splits an expression into tokens.
//
// Thread safety: any thread; no state.
namespace berth::cel {

enum class TokenKind : uint8_t {
  kEnd,
  kIdentifier,
  kEscapedIdentifier,  // `a-b`
  kInt,
  kUint,
  kFloat,
  kString,
  kBytes,
  kTrue,
  kFalse,
  kNull,
  kIn,
  kSymbol,  // an operator, a bracket, ...: its text says which
};

struct Token {
  TokenKind kind = TokenKind::kEnd;
  size_t offset = 0;
  std::string_view text;
};

// The last token is kEnd. What no token begins with is reported and left out.
std::vector<Token> Tokenize(std::string_view text, Issues& issues);

}  // namespace berth::cel
