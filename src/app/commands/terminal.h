// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace berth::app {

// The columns of the terminal that standard output goes to; 0 where it goes to none.
size_t TerminalWidth();

// The text with no line longer than `width` (0: as it is). Lines with columns, two blanks or more
// between them, are cut, and end in "..."; others go on in the next line, below their beginning.
// Characters that are no ASCII count as one column.
std::string Fitted(std::string_view text, size_t width);
// The same of a help text: nothing is cut, and what a flag means goes on below its first word.
std::string FittedHelp(std::string_view text, size_t width);

}  // namespace berth::app
