// SPDX-License-Identifier: Apache-2.0
#include "src/app/flags/flag_values.h"

#include <array>
#include <charconv>
#include <system_error>
#include <utility>

#include "berth/config_value.h"
#include "berth/field_errors.h"
#include "src/base/text.h"

namespace berth::app {
namespace {

tl::unexpected<Error> Bad(std::string_view function, const std::string& text,
                          std::string_view why = "invalid syntax") {
  return Fail("strconv." + std::string(function) + ": parsing " + Quoted(text) + ": " +
              std::string(why));
}

// `digits` are those of `text`.
template <typename T, typename... Base>
Result<T> ReadNumber(std::string_view function, const std::string& text, std::string_view digits,
                     Base... base) {
  T value{};
  const char* end = digits.data() + digits.size();
  const auto [stopped, error] = std::from_chars(digits.data(), end, value, base...);
  if (error == std::errc::result_out_of_range) return Bad(function, text, "value out of range");
  if (error != std::errc() || stopped != end) return Bad(function, text);
  return value;
}

// Where from_chars takes only a minus, Go takes a plus, too.
std::string_view WithoutPlus(std::string_view text) {
  if (text.size() > 1 && text[0] == '+' && text[1] != '-') text.remove_prefix(1);
  return text;
}

// The base that Go takes the digits to be in, without their prefix: 0b, 0o, 0x, or 0 for octal.
int TakeBase(std::string_view& digits) {
  if (digits.size() < 2 || digits[0] != '0') return 10;
  constexpr std::pair<char, int> kBases[] = {{'b', 2}, {'o', 8}, {'x', 16}};
  for (const auto& [letter, base] : kBases) {
    if (digits.size() < 3 || (digits[1] | 0x20) != letter) continue;
    digits.remove_prefix(2);
    return base;
  }
  digits.remove_prefix(1);
  return 8;
}

// Takes out the underscores between digits. nullopt: one stands elsewhere.
std::optional<std::string> WithoutUnderscores(std::string_view digits, bool after_prefix) {
  std::string bare;
  bool may_follow = after_prefix;
  for (const char c : digits) {
    if (c == '_' && !may_follow) return std::nullopt;
    may_follow = c != '_';
    if (c != '_') bare += c;
  }
  if (digits.ends_with('_')) return std::nullopt;
  return bare;
}

// As Go's ParseInt where it is to find the base itself.
template <typename T>
Result<T> ReadInteger(const std::string& text) {
  std::string_view digits = WithoutPlus(text);
  const bool negative = digits.starts_with('-');
  if (negative) digits.remove_prefix(1);
  const int base = TakeBase(digits);
  const auto bare = WithoutUnderscores(digits, base != 10);
  if (!bare || bare->starts_with('-')) return Bad("ParseInt", text);
  return ReadNumber<T>("ParseInt", text, (negative ? "-" : "") + *bare, base);
}

}  // namespace

template <>
Result<std::string> ReadFlagValue(const std::string& text) {
  return text;
}

template <>
Result<bool> ReadFlagValue(const std::string& text) {
  const auto value = base::ParseBool(text);
  if (!value) return Bad("ParseBool", text);
  return *value;
}

template <>
Result<int32_t> ReadFlagValue(const std::string& text) {
  return ReadInteger<int32_t>(text);
}

template <>
Result<int64_t> ReadFlagValue(const std::string& text) {
  return ReadInteger<int64_t>(text);
}

template <>
Result<uint64_t> ReadFlagValue(const std::string& text) {
  return ReadNumber<uint64_t>("ParseUint", text, text);
}

template <>
Result<float> ReadFlagValue(const std::string& text) {
  return ReadNumber<float>("ParseFloat", text, WithoutPlus(text));
}

template <>
Result<Duration> ReadFlagValue(const std::string& text) {
  return ParseGoDuration(text);
}

template <>
Result<std::vector<std::string>> ReadFlagValue(const std::string& text) {
  std::vector<std::string> values;
  if (text.empty()) return values;
  // Go counts columns from 1.
  const auto misquoted = [](size_t where, std::string_view what) {
    return Fail("parse error on line 1, column " + std::to_string(where + 1) + ": " +
                std::string(what));
  };
  constexpr std::string_view kInQuotes = "extraneous or missing \" in quoted-field";
  size_t at = 0;
  while (true) {
    std::string& value = values.emplace_back();
    if (at < text.size() && text[at] == '"') {
      for (++at;; ++at) {
        if (at == text.size()) return misquoted(at, kInQuotes);
        if (text[at] == '"' && (at + 1 == text.size() || text[at + 1] != '"')) break;
        if (text[at] == '"') ++at;
        value += text[at];
      }
      ++at;
      if (at < text.size() && text[at] != ',') return misquoted(at - 1, kInQuotes);
    } else {
      for (; at < text.size() && text[at] != ','; ++at) {
        if (text[at] == '"') return misquoted(at, "bare \" in non-quoted-field");
        value += text[at];
      }
    }
    if (at == text.size()) return values;
    ++at;
  }
}

std::string WriteFlagValue(const std::string& value) { return value; }

std::string WriteFlagValue(bool value) { return value ? "true" : "false"; }

std::string WriteFlagValue(int32_t value) { return std::to_string(value); }

std::string WriteFlagValue(int64_t value) { return std::to_string(value); }

std::string WriteFlagValue(uint64_t value) { return std::to_string(value); }

std::string WriteFlagValue(float value) {
  std::array<char, 32> text{};
  const auto [end, error] = std::to_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() ? std::string(text.data(), end) : "";
}

std::string WriteFlagValue(Duration value) { return FormatGoDuration(value); }

std::string WriteFlagValue(const std::vector<std::string>& values) {
  std::string list;
  for (const std::string& value : values) {
    if (&value != &values.front()) list += ',';
    if (value.find_first_of(",\"\n") == std::string::npos) {
      list += value;
      continue;
    }
    list += '"';
    for (const char c : value) list.append(c == '"' ? 2 : 1, c);
    list += '"';
  }
  return "[" + list + "]";
}

}  // namespace berth::app
