// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "src/cel/ast.h"
#include "src/cel/source.h"

namespace berth::cel {

// The variable that a macro collects in; expressions cannot write its name.
inline constexpr char kAccumulator[] = "@result";

// A call as it was parsed.
struct MacroCall {
  std::string function;
  Expr* target = nullptr;  // nullptr: not a member call
  std::vector<Expr*> args;
  size_t offset = 0;  // of its parenthesis: what the nodes made here point at
};

// What the macro of this name and number of arguments makes of the call: has, all, exists,
// exists_one, existsOne, map, filter, transformList, transformMap, transformMapEntry, cel.bind,
// optMap, optFlatMap and sortBy. nullptr: it is no macro's call, or a fault was reported.
Expr* ExpandMacro(const MacroCall& call, Tree& tree, Issues& issues);

}  // namespace berth::cel
