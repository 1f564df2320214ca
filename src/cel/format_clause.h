// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "berth/result.h"
#include "src/cel/ast.h"
#include "src/cel/source.h"

// The clauses of "%s has %.2f".format([...]).
//
// Thread safety: any thread; no state.
namespace berth::cel {

struct FormatClause {
  char verb = 0;  // one of "sdfebxXo"
  int digits = 6;
  size_t length = 0;  // after the '%'
};

// The clause at the front of `text`, which follows a '%' and is not empty. Errors: none is there.
Result<FormatClause> ReadFormatClause(std::string_view text);

// That a value of this type does not fit the clause.
std::string WrongFormatType(char verb, std::string_view type);

// Reports what is wrong with a call of format() on a literal with a literal list.
void CheckFormat(const Expr& call, Issues& issues);

}  // namespace berth::cel
