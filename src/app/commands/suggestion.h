// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace berth::app {

// The word that was probably meant: the one with the fewest letters to change, at most two and
// not more than half of what was typed, or one that begins with what was typed. "": none.
std::string Suggestion(std::string_view typed, const std::vector<std::string>& words);

}  // namespace berth::app
