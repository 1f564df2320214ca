// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "berth/result.h"
#include "src/cel/lexer.h"
#include "src/cel/value.h"

namespace berth::cel {

// What a token of a literal stands for; `sign` is "-" or empty. Errors: a number that is too large,
// an escape that stands for no character.
Result<Value> ReadLiteral(const Token& token, const std::string& sign);

}  // namespace berth::cel
