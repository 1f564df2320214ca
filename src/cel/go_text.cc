// SPDX-License-Identifier: Apache-2.0
#include "src/cel/go_text.h"

#include <array>
#include <charconv>
#include <cmath>

#include "berth/config_value.h"

namespace berth::cel {
namespace {

std::string NotFinite(double value) {
  if (std::isnan(value)) return "NaN";
  return value < 0 ? "-Inf" : "+Inf";
}

std::string ToChars(double value, std::chars_format format, int digits) {
  std::string text(static_cast<size_t>(digits) + 400, '\0');
  const auto [end, error] =
      std::to_chars(text.data(), text.data() + text.size(), value, format, digits);
  if (error != std::errc{}) return "";
  text.resize(static_cast<size_t>(end - text.data()));
  return text;
}

template <typename Number>
std::optional<Number> ParseWhole(std::string_view text, int base) {
  Number number{};
  const char* const end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, number, base);
  if (error != std::errc{} || at != end || text.empty()) return std::nullopt;
  return number;
}

}  // namespace

std::string FormatDouble(double value) {
  if (!std::isfinite(value)) return NotFinite(value);
  std::array<char, 64> buffer;
  const auto [end, error] = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value,
                                          std::chars_format::scientific);
  std::string scientific(buffer.data(), end);
  const size_t at = scientific.find('e');
  // A sign, then at least two digits.
  int exponent = 0;
  std::from_chars(scientific.data() + at + 2, scientific.data() + scientific.size(), exponent);
  if (scientific[at + 1] == '-') exponent = -exponent;
  // As strconv has it for the shortest form.
  if (exponent < -4 || exponent >= 6) return scientific;
  return FormatDoubleFixed(value);
}

std::string FormatDoubleFixed(double value) {
  if (!std::isfinite(value)) return NotFinite(value);
  std::array<char, 400> buffer;
  const auto [end, error] =
      std::to_chars(buffer.data(), buffer.data() + buffer.size(), value, std::chars_format::fixed);
  return {buffer.data(), end};
}

std::string FormatDoubleFixed(double value, int digits) {
  return std::isfinite(value) ? ToChars(value, std::chars_format::fixed, digits) : NotFinite(value);
}

std::string FormatDoubleScientific(double value, int digits) {
  return std::isfinite(value) ? ToChars(value, std::chars_format::scientific, digits)
                              : NotFinite(value);
}

std::optional<int64_t> ParseInt(std::string_view text, int base) {
  const bool plus = !text.empty() && text.front() == '+';
  if (plus) text.remove_prefix(1);
  if (plus && !text.empty() && text.front() == '-') return std::nullopt;
  return ParseWhole<int64_t>(text, base);
}

std::optional<uint64_t> ParseUint(std::string_view text, int base) {
  return ParseWhole<uint64_t>(text, base);
}

std::optional<double> ParseDouble(std::string_view text) {
  std::string_view digits = text;
  const bool negative = !digits.empty() && digits.front() == '-';
  if (!digits.empty() && (digits.front() == '-' || digits.front() == '+')) digits.remove_prefix(1);
  if (digits.empty() || digits.front() == '-' || digits.front() == '+') return std::nullopt;
  const bool hexadecimal = digits.size() > 2 && digits[0] == '0' && (digits[1] | 0x20) == 'x';
  if (hexadecimal) {
    digits.remove_prefix(2);
    // Go asks for the exponent.
    if (digits.find_first_of("pP") == std::string_view::npos) return std::nullopt;
  }
  if (digits.find('(') != std::string_view::npos) return std::nullopt;  // "nan(...)"
  double number = 0;
  const char* const end = digits.data() + digits.size();
  const auto [at, error] =
      std::from_chars(digits.data(), end, number,
                      hexadecimal ? std::chars_format::hex : std::chars_format::general);
  if (at != end || error == std::errc::invalid_argument) return std::nullopt;
  if (error == std::errc::result_out_of_range) {
    number = std::strtod(std::string(text).c_str(), nullptr);
    if (!std::isfinite(number)) return std::nullopt;
    return number;
  }
  return negative ? -number : number;
}

std::optional<bool> ParseBool(std::string_view text) {
  for (const std::string_view yes : {"1", "t", "T", "true", "TRUE", "True"})
    if (text == yes) return true;
  for (const std::string_view no : {"0", "f", "F", "false", "FALSE", "False"})
    if (text == no) return false;
  return std::nullopt;
}

std::optional<int64_t> ParseGoDuration(std::string_view text) {
  const Result<Duration> duration = berth::ParseGoDuration(text);
  if (!duration) return std::nullopt;
  return duration->count();
}

std::string FormatGoDuration(int64_t nanos) { return berth::FormatGoDuration(Duration(nanos)); }

std::string FormatDurationSeconds(int64_t nanos) {
  const int64_t whole = nanos / 1'000'000'000;
  const int64_t rest = nanos % 1'000'000'000;
  return FormatDoubleFixed(static_cast<double>(whole) + static_cast<double>(rest) / 1e9) + "s";
}

Rune FirstRune(std::string_view text) {
  constexpr Rune kBad{0xFFFD, 1};
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned first = byte(0);
  if (first < 0x80) return {first, 1};
  const size_t length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4 || text.size() < length) return kBad;
  char32_t value = first & (0xFFU >> (length + 1));
  for (size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0U) != 0x80U) return kBad;
    value = (value << 6) | (byte(i) & 0x3FU);
  }
  const bool overlong = (length == 3 && value < 0x800) || (length == 4 && value < 0x10000);
  if (overlong || value > 0x10FFFF || (value >= 0xD800 && value < 0xE000)) return kBad;
  return {value, length};
}

std::vector<char32_t> Runes(std::string_view text) {
  std::vector<char32_t> runes;
  runes.reserve(text.size());
  while (!text.empty()) {
    const Rune rune = FirstRune(text);
    runes.push_back(rune.value);
    text.remove_prefix(rune.length);
  }
  return runes;
}

void AppendRune(std::string& text, char32_t rune) {
  if (rune > 0x10FFFF || (rune >= 0xD800 && rune < 0xE000)) rune = 0xFFFD;
  const auto put = [&](char32_t byte) { text += static_cast<char>(byte); };
  if (rune < 0x80) return put(rune);
  if (rune < 0x800) {
    put(0xC0 | (rune >> 6));
  } else if (rune < 0x10000) {
    put(0xE0 | (rune >> 12));
    put(0x80 | ((rune >> 6) & 0x3F));
  } else {
    put(0xF0 | (rune >> 18));
    put(0x80 | ((rune >> 12) & 0x3F));
    put(0x80 | ((rune >> 6) & 0x3F));
  }
  put(0x80 | (rune & 0x3F));
}

std::string FromRunes(const char32_t* begin, const char32_t* end) {
  std::string text;
  for (; begin != end; ++begin) AppendRune(text, *begin);
  return text;
}

bool IsValidUtf8(std::string_view text) {
  while (!text.empty()) {
    const Rune rune = FirstRune(text);
    if (rune.value == 0xFFFD && rune.length == 1) return false;
    text.remove_prefix(rune.length);
  }
  return true;
}

std::string GoQuote(std::string_view text) {
  constexpr char kHex[] = "0123456789abcdef";
  std::string out = "\"";
  while (!text.empty()) {
    const Rune rune = FirstRune(text);
    const char c = text.front();
    constexpr std::string_view kEscaped = "\a\b\f\n\r\t\v\\\"";
    const size_t escape = kEscaped.find(c);
    if (escape != std::string_view::npos && c != '\0') {
      out += '\\';
      out += "abfnrtv\\\""[escape];
    } else if (rune.value < 0x20 || rune.value == 0x7F ||
               (rune.value == 0xFFFD && rune.length == 1)) {
      const auto byte = static_cast<unsigned char>(c);
      out += "\\x";
      out += kHex[byte >> 4];
      out += kHex[byte & 15];
    } else {
      out += text.substr(0, rune.length);
    }
    text.remove_prefix(rune.length);
  }
  return out += '"';
}

}  // namespace berth::cel
