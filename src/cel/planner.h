// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "berth/result.h"
#include "src/cel/ast.h"
#include "src/cel/environment.h"
#include "src/cel/pattern.h"
#include "src/cel/program.h"

namespace berth::cel {

// Compiles a checked tree; what is constant in it is computed here.
//
// Errors: a conversion of a constant that cannot succeed, a constant pattern that is none.
Result<Program> Plan(Expr* root, const Environment& environment, Patterns& patterns);

}  // namespace berth::cel
