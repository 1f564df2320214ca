// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

// UTF-8, as RFC 3629 has it.
//
// Thread safety: any thread; no state is shared.
namespace berth::base {

// What stands for bytes that are no UTF-8: U+FFFD.
inline constexpr std::string_view kUtf8Replacement = "\xEF\xBF\xBD";

// How many bytes the character at the front of `text` has; 0 when there is none. Overlong forms,
// surrogates and what lies past U+10FFFF are none. `text` is not empty.
size_t Utf8Length(std::string_view text);

bool IsUtf8(std::string_view text);

// Each byte that belongs to no character replaced by U+FFFD.
std::string ToUtf8(std::string_view text);

// The text with its control characters, and bytes that are no UTF-8, as "\x1b" or "\u009b", so that
// a terminal shows them and does nothing else. Those in `kept`, of ASCII, stay.
std::string Visible(std::string_view text, std::string_view kept = "");

// The front of `text`, of at most so many bytes, which ends with a whole character of UTF-8.
std::string_view Utf8Front(std::string_view text, size_t most);

}  // namespace berth::base
