// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

// Texts that stand for values: numbers in a form that ends itself, strings and lists after their
// length, so that no two different values of one shape have the same text.
namespace berth {

inline void AppendNumber(size_t number, std::string& text) {
  for (; number >= 0x80; number >>= 7) text += static_cast<char>((number & 0x7f) | 0x80);
  text += static_cast<char>(number);
}

inline void AppendText(std::string_view part, std::string& text) {
  AppendNumber(part.size(), text);
  text += part;
}

inline void AppendTexts(const std::vector<std::string>& parts, std::string& text) {
  AppendNumber(parts.size(), text);
  for (const std::string& part : parts) AppendText(part, text);
}

}  // namespace berth
