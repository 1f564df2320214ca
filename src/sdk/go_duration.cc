// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <string>

#include "berth/config_value.h"
#include "berth/field_errors.h"

namespace berth {
namespace {

__extension__ typedef unsigned __int128 Wide;

constexpr uint64_t kMaxMagnitude = uint64_t{1} << 63;

struct Unit {
  std::string_view name;
  uint64_t nanos;
};
constexpr Unit kUnits[] = {
    {"ns", 1},
    {"us", 1'000},
    {"\xC2\xB5s", 1'000},  // U+00B5, micro sign
    {"\xCE\xBCs", 1'000},  // U+03BC, Greek mu
    {"ms", 1'000'000},
    {"s", 1'000'000'000},
    {"m", 60'000'000'000},
    {"h", 3'600'000'000'000},
};

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// One "<number><unit>" taken off the front of `text`, in nanoseconds. `all` is for messages.
Result<uint64_t> TakePart(std::string_view& text, std::string_view all) {
  const std::string problem = "time: invalid duration " + Quoted(all);
  size_t at = 0;
  uint64_t whole = 0;
  bool digits = false;
  for (; at < text.size() && IsDigit(text[at]); ++at) {
    if (whole > kMaxMagnitude / 10) return Fail(problem);
    whole = whole * 10 + static_cast<uint64_t>(text[at] - '0');
    if (whole > kMaxMagnitude) return Fail(problem);
    digits = true;
  }
  uint64_t fraction = 0;
  uint64_t scale = 1;
  if (at < text.size() && text[at] == '.') {
    // Digits past what 64 bits hold are below a nanosecond of any unit.
    for (++at; at < text.size() && IsDigit(text[at]); ++at) {
      digits = true;
      if (scale > 100'000'000'000'000'000) continue;
      fraction = fraction * 10 + static_cast<uint64_t>(text[at] - '0');
      scale *= 10;
    }
  }
  if (!digits) return Fail(problem);
  const size_t unit_begin = at;
  while (at < text.size() && text[at] != '.' && !IsDigit(text[at])) ++at;
  const std::string_view name = text.substr(unit_begin, at - unit_begin);
  if (name.empty()) return Fail("time: missing unit in duration " + Quoted(all));
  for (const Unit& unit : kUnits) {
    if (unit.name != name) continue;
    const Wide nanos = Wide{whole} * unit.nanos + Wide{fraction} * unit.nanos / scale;
    if (nanos > kMaxMagnitude) return Fail(problem);
    text.remove_prefix(at);
    return static_cast<uint64_t>(nanos);
  }
  return Fail("time: unknown unit " + Quoted(name) + " in duration " + Quoted(all));
}

// `magnitude` / `unit` with its decimals, without trailing zeros.
std::string Decimal(uint64_t magnitude, uint64_t unit) {
  std::string text = std::to_string(magnitude / unit);
  uint64_t rest = magnitude % unit;
  if (rest == 0) return text;
  text += '.';
  while (rest != 0) {
    unit /= 10;
    text += static_cast<char>('0' + rest / unit);
    rest %= unit;
  }
  return text;
}

}  // namespace

Result<Duration> ParseGoDuration(std::string_view text) {
  const std::string problem = "time: invalid duration " + Quoted(text);
  std::string_view rest = text;
  bool negative = false;
  if (!rest.empty() && (rest.front() == '-' || rest.front() == '+')) {
    negative = rest.front() == '-';
    rest.remove_prefix(1);
  }
  if (rest == "0") return Duration(0);
  if (rest.empty()) return Fail(problem);
  uint64_t total = 0;
  while (!rest.empty()) {
    const auto part = TakePart(rest, text);
    if (!part) return Fail(part.error());
    if (total + *part > kMaxMagnitude) return Fail(problem);
    total += *part;
  }
  if (negative) return Duration(static_cast<int64_t>(~total + 1));
  if (total == kMaxMagnitude) return Fail(problem);
  return Duration(static_cast<int64_t>(total));
}

std::string FormatGoDuration(Duration duration) {
  const int64_t nanos = duration.count();
  if (nanos == 0) return "0s";
  const uint64_t magnitude =
      nanos < 0 ? ~static_cast<uint64_t>(nanos) + 1 : static_cast<uint64_t>(nanos);
  const std::string sign = nanos < 0 ? "-" : "";
  if (magnitude < 1'000) return sign + std::to_string(magnitude) + "ns";
  if (magnitude < 1'000'000) return sign + Decimal(magnitude, 1'000) + "\xC2\xB5s";
  if (magnitude < 1'000'000'000) return sign + Decimal(magnitude, 1'000'000) + "ms";
  constexpr uint64_t kSecond = 1'000'000'000;
  constexpr uint64_t kMinute = 60 * kSecond;
  constexpr uint64_t kHour = 60 * kMinute;
  std::string text = sign;
  if (magnitude >= kHour) text += std::to_string(magnitude / kHour) + "h";
  if (magnitude >= kMinute) text += std::to_string(magnitude % kHour / kMinute) + "m";
  return text + Decimal(magnitude % kMinute, kSecond) + "s";
}

}  // namespace berth
