// SPDX-License-Identifier: Apache-2.0
#include "src/app/flags/flag_values.h"

#include <array>
#include <charconv>
#include <system_error>

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

template <typename T>
Result<T> ReadNumber(std::string_view function, const std::string& text) {
  T value{};
  // Go takes a sign where from_chars takes only a minus.
  const char* begin = text.data() + (text.size() > 1 && text[0] == '+' ? 1 : 0);
  const char* end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(begin, end, value);
  if (error == std::errc::result_out_of_range) return Bad(function, text, "value out of range");
  if (error != std::errc() || stopped != end) return Bad(function, text);
  return value;
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
  return ReadNumber<int32_t>("ParseInt", text);
}

template <>
Result<uint64_t> ReadFlagValue(const std::string& text) {
  return ReadNumber<uint64_t>("ParseUint", text);
}

template <>
Result<float> ReadFlagValue(const std::string& text) {
  return ReadNumber<float>("ParseFloat", text);
}

template <>
Result<Duration> ReadFlagValue(const std::string& text) {
  return ParseGoDuration(text);
}

template <>
Result<std::vector<std::string>> ReadFlagValue(const std::string& text) {
  std::vector<std::string> values;
  if (text.empty()) return values;
  size_t at = 0;
  while (true) {
    std::string& value = values.emplace_back();
    if (at < text.size() && text[at] == '"') {
      for (++at;; ++at) {
        if (at == text.size()) return Fail("parse error: extraneous or missing \" in quoted-field");
        if (text[at] == '"' && (at + 1 == text.size() || text[at + 1] != '"')) break;
        if (text[at] == '"') ++at;
        value += text[at];
      }
      ++at;
      if (at < text.size() && text[at] != ',') {
        return Fail("parse error: extraneous or missing \" in quoted-field");
      }
    } else {
      while (at < text.size() && text[at] != ',') value += text[at++];
    }
    if (at == text.size()) return values;
    ++at;
  }
}

std::string WriteFlagValue(const std::string& value) { return value; }

std::string WriteFlagValue(bool value) { return value ? "true" : "false"; }

std::string WriteFlagValue(int32_t value) { return std::to_string(value); }

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
