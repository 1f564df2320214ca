// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "berth/result.h"

namespace berth::cel {

// What a string or bytes literal stands for, its quotes, prefix r and escapes taken off (not the
// prefix b). In bytes \x and octal escapes are bytes; in strings they are code points.
//
// Errors: an escape that stands for no character.
Result<std::string> Unescape(std::string_view literal, bool is_bytes);

}  // namespace berth::cel
