// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "src/cel/ast.h"
#include "src/cel/source.h"

namespace berth::cel {

// Reports literals that a checked tree may not hold: arguments of matches, duration and timestamp
// that cannot be read, formats that do not fit their arguments, and elements of a list or map whose
// types are not exactly the same (but for what format() is given).
void CheckLiterals(const Expr& root, Issues& issues);

}  // namespace berth::cel
