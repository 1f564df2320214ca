// SPDX-License-Identifier: Apache-2.0
#include "src/base/text.h"

#include <algorithm>
#include <array>
#include <cstdio>

namespace berth::base {
namespace {

int HexValue(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

// What a path holds as it is (RFC 3986, unreserved characters).
constexpr auto kPlain = [] {
  std::array<bool, 256> plain{};
  for (const char c : std::string_view("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                       "0123456789-_.~")) {
    plain[static_cast<unsigned char>(c)] = true;
  }
  return plain;
}();

}  // namespace

std::string Escape(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  AppendEscaped(text, out);
  return out;
}

void AppendEscaped(std::string_view text, std::string& out) {
  static constexpr char kHex[] = "0123456789ABCDEF";
  const auto plain = [](char c) { return kPlain[static_cast<unsigned char>(c)]; };
  while (!text.empty()) {
    const auto end = std::ranges::find_if_not(text, plain);
    const auto length = static_cast<size_t>(end - text.begin());
    out += text.substr(0, length);
    text.remove_prefix(length);
    if (text.empty()) return;
    const auto byte = static_cast<unsigned char>(text.front());
    out.push_back('%');
    out.push_back(kHex[byte >> 4]);
    out.push_back(kHex[byte & 15]);
    text.remove_prefix(1);
  }
}

std::optional<std::string> Unescape(std::string_view text, Plus plus) {
  const bool has_blanks = plus == Plus::kBlank && text.find('+') != std::string_view::npos;
  if (!has_blanks && text.find('%') == std::string_view::npos) return std::string(text);
  std::string plain;
  plain.reserve(text.size());
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '+' && plus == Plus::kBlank) {
      plain += ' ';
    } else if (text[i] != '%') {
      plain += text[i];
    } else {
      const int high = i + 2 < text.size() ? HexValue(text[i + 1]) : -1;
      const int low = i + 2 < text.size() ? HexValue(text[i + 2]) : -1;
      if (high < 0 || low < 0) return std::nullopt;
      plain += static_cast<char>(high * 16 + low);
      i += 2;
    }
  }
  return plain;
}

std::optional<bool> ParseBool(std::string_view text) {
  for (std::string_view yes : {"1", "t", "T", "true", "TRUE", "True"}) {
    if (text == yes) return true;
  }
  for (std::string_view no : {"0", "f", "F", "false", "FALSE", "False"}) {
    if (text == no) return false;
  }
  return std::nullopt;
}

std::string UuidText(uint64_t high, uint64_t low) {
  high = (high & ~uint64_t{0xf000}) | 0x4000;                // the version
  low = (low & ~(uint64_t{3} << 62)) | (uint64_t{2} << 62);  // the variant
  char text[40];
  std::snprintf(text, sizeof(text), "%08x-%04x-%04x-%04x-%012llx",
                static_cast<unsigned>(high >> 32), static_cast<unsigned>((high >> 16) & 0xffff),
                static_cast<unsigned>(high & 0xffff), static_cast<unsigned>(low >> 48),
                static_cast<unsigned long long>(low & 0xffffffffffff));
  return text;
}

}  // namespace berth::base
