// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

// Text as the wire and Go have it. For the rest there is Abseil; Debian's is built with its own
// string_view, so it takes std::string, but no std::string_view.
//
// Thread safety: any thread; no state is shared.
namespace berth::base {

template <typename... Parts>
std::string Concat(const Parts&... parts) {
  std::string out;
  const auto size_of = [](const auto& part) -> size_t {
    if constexpr (std::is_arithmetic_v<std::decay_t<decltype(part)>>) {
      return 0;
    } else {
      return std::string_view(part).size();
    }
  };
  out.reserve((size_of(parts) + ... + 0));
  const auto append = [&out](const auto& part) {
    using Part = std::decay_t<decltype(part)>;
    if constexpr (std::is_arithmetic_v<Part>) {
      out += std::to_string(part);
    } else {
      out += std::string_view(part);
    }
  };
  (append(parts), ...);
  return out;
}

// Without the characters of `blanks` at both ends: spaces and line ends, where none are named.
inline std::string_view Trim(std::string_view text, std::string_view blanks = " \t\r\n") {
  const size_t begin = text.find_first_not_of(blanks);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(blanks) - begin + 1);
}

inline bool Contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

// Percent-escapes one path segment or query value.
std::string Escape(std::string_view text);
// Appends the same.
void AppendEscaped(std::string_view text, std::string& out);
// What a '+' stands for in a text with %-escapes: itself in a path, a blank in a query.
enum class Plus { kPlus, kBlank };
// Takes %-escapes back. nullopt: a '%' that no two hexadecimal digits follow.
std::optional<std::string> Unescape(std::string_view text, Plus plus = Plus::kPlus);

// As Go's strconv.ParseBool: 1, t, T, true, TRUE, True, and 0, f, F, false, FALSE, False.
std::optional<bool> ParseBool(std::string_view text);

// "8ed74c35-2c1e-4d3c-9f20-2f4cf5f7c5b5": a random UUID (RFC 9562, version 4) of two random words.
std::string UuidText(uint64_t high, uint64_t low);

}  // namespace berth::base
