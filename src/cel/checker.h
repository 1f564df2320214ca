// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "src/cel/ast.h"
#include "src/cel/environment.h"
#include "src/cel/pattern.h"
#include "src/cel/source.h"

// Gives every node its type, resolves names and overloads, and checks literals that only run time
// would find wrong: regular expressions, durations, timestamps, aggregates of mixed types.
//
// Thread safety: one thread.
namespace berth::cel {

// `arena` owns the types of the tree afterwards.
void Check(Expr* root, const Environment& environment, TypeArena& arena, Issues& issues,
           Patterns& patterns);

}  // namespace berth::cel
