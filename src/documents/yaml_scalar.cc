// SPDX-License-Identifier: Apache-2.0
#include "src/documents/yaml_scalar.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>
#include <string>

namespace berth::documents {
namespace {

bool IsOneOf(std::string_view text, std::initializer_list<std::string_view> words) {
  return std::find(words.begin(), words.end(), text) != words.end();
}

std::optional<bool> ReadBool(std::string_view text) {
  if (IsOneOf(text, {"y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON"}))
    return true;
  if (IsOneOf(text, {"n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF"}))
    return false;
  return std::nullopt;
}

bool IsNotFinite(std::string_view text) {
  if (IsOneOf(text, {".nan", ".NaN", ".NAN"})) return true;
  if (!text.empty() && (text.front() == '+' || text.front() == '-')) text.remove_prefix(1);
  return IsOneOf(text, {".inf", ".Inf", ".INF"});
}

// Takes "0x", "0o", "0b" or a leading "0" off.
int TakeBase(std::string_view& digits) {
  if (digits.size() < 2 || digits.front() != '0') return 10;
  const char letter = digits[1];
  const int base = letter == 'x' || letter == 'X'   ? 16
                   : letter == 'o' || letter == 'O' ? 8
                   : letter == 'b' || letter == 'B' ? 2
                                                    : 0;
  digits.remove_prefix(base == 0 ? 1 : 2);
  return base == 0 ? 8 : base;
}

bool TakeSign(std::string_view& text) {
  const bool negative = !text.empty() && text.front() == '-';
  if (negative || (!text.empty() && text.front() == '+')) text.remove_prefix(1);
  return negative;
}

// Up to the range of uint64, beyond int64 as a double.
std::optional<ConfigValue> ReadInteger(std::string_view text, int line) {
  const bool has_sign = !text.empty() && (text.front() == '-' || text.front() == '+');
  const bool negative = TakeSign(text);
  const int base = TakeBase(text);
  uint64_t size = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), size, base);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  constexpr uint64_t kMost = std::numeric_limits<int64_t>::max();
  if (size <= kMost) {
    const auto value = static_cast<int64_t>(size);
    return ConfigValue(negative ? -value : value, line);
  }
  if (negative && size == kMost + 1) return ConfigValue(std::numeric_limits<int64_t>::min(), line);
  if (has_sign) return std::nullopt;
  return ConfigValue(static_cast<double>(size), line);
}

bool SkipDigits(std::string_view& text) {
  const size_t length = std::min(text.find_first_not_of("0123456789"), text.size());
  text.remove_prefix(length);
  return length > 0;
}

// [-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?
bool LooksLikeFloat(std::string_view text) {
  TakeSign(text);
  const bool whole = SkipDigits(text);
  if (!text.empty() && text.front() == '.') {
    text.remove_prefix(1);
    if (!SkipDigits(text) && !whole) return false;
  } else if (!whole) {
    return false;
  }
  if (text.empty()) return true;
  if (text.front() != 'e' && text.front() != 'E') return false;
  text.remove_prefix(1);
  TakeSign(text);
  return SkipDigits(text) && text.empty();
}

std::optional<ConfigValue> ReadFloat(std::string_view text, int line) {
  if (!LooksLikeFloat(text)) return std::nullopt;
  const bool negative = TakeSign(text);
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool tiny = error == std::errc::result_out_of_range && text.find('-') != text.npos;
  if (tiny) value = 0;
  if (error != std::errc{} && !tiny) return std::nullopt;
  // JSON writes 1e3 as 1000, which reads back as an integer.
  if (value == std::floor(value) && value < static_cast<double>(int64_t{1} << 62)) {
    const auto integer = static_cast<int64_t>(value);
    return ConfigValue(negative ? -integer : integer, line);
  }
  return ConfigValue(negative ? -value : value, line);
}

}  // namespace

Result<ConfigValue> ResolvePlainScalar(std::string_view text, int line) {
  if (IsOneOf(text, {"", "~", "null", "Null", "NULL"})) return ConfigValue(std::monostate(), line);
  if (const auto value = ReadBool(text)) return ConfigValue(*value, line);
  if (IsNotFinite(text)) return Fail("json: unsupported value: " + std::string(text));
  const char first = text.front();
  if (first == '.') {
    if (auto number = ReadFloat(text, line)) return *std::move(number);
  } else if (first == '+' || first == '-' || (first >= '0' && first <= '9')) {
    std::string plain(text);
    std::erase(plain, '_');
    if (auto number = ReadInteger(plain, line)) return *std::move(number);
    if (auto number = ReadFloat(plain, line)) return *std::move(number);
  }
  return ConfigValue(std::string(text), line);
}

}  // namespace berth::documents
