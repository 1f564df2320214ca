// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "berth/result.h"
#include "src/cel/ast.h"
#include "src/cel/environment.h"

namespace berth::cel {

// Makes constants of lists and maps of constants, and of conversions of constants: they cost
// nothing at run time.
//
// Errors: a conversion that cannot succeed, a constant pattern that is none.
Result<void> FoldConstants(Expr* expr, const Environment& environment);

// The set that `x in list` may look in for a constant list; an error value when the list holds
// something that sets cannot.
Value SetOf(const List& list);

}  // namespace berth::cel
