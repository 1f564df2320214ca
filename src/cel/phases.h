// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "src/cel/ast.h"
#include "src/cel/environment.h"
#include "src/cel/pattern.h"
#include "src/cel/program.h"
#include "src/cel/source.h"

// From text to a program: each phase takes what the one before it left.
//
// Thread safety: one thread.
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

// Splits an expression into tokens. The last is kEnd. What no token begins with is reported and
// left out.
std::vector<Token> Tokenize(std::string_view text, Issues& issues);

// Reads an expression into a tree and expands its macros. The root; only for use when `issues`
// stays empty. Stops at the first syntax error.
Expr* Parse(std::string_view text, Tree& tree, Issues& issues);

// Gives every node its type, resolves names and overloads, and checks literals that only run time
// would find wrong: regular expressions, durations, timestamps, aggregates of mixed types. `arena`
// owns the types of the tree afterwards.
void Check(Expr* root, const Environment& environment, TypeArena& arena, Issues& issues,
           Patterns& patterns);

// Compiles a checked tree; what is constant in it is computed here.
//
// Errors: a conversion of a constant that cannot succeed, a constant pattern that is none.
Result<Program> Plan(Expr* root, const Environment& environment, Patterns& patterns);

}  // namespace berth::cel
