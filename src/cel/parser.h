// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "src/cel/ast.h"
#include "src/cel/source.h"

// Reads an expression into a tree and expands its macros.
//
// Thread safety: one thread.
namespace berth::cel {

// How deep parentheses, lists and arguments nest, and how many operators, selections and calls lie
// on one way down. What walks the tree recursively relies on it.
inline constexpr int kMaxDepth = 250;
// In code points.
inline constexpr size_t kMaxExpressionSize = 100'000;

// The root; only for use when `issues` stays empty. Stops at the first syntax error.
Expr* Parse(std::string_view text, Tree& tree, Issues& issues);

}  // namespace berth::cel
