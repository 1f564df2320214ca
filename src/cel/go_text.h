// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "src/cel/value.h"

// Numbers, times and characters as Go writes and reads them: expressions show Go's forms.
namespace berth::cel {

// strconv's forms: %g ("1e+06", "NaN", "+Inf"), and the shortest without an exponent.
std::string FormatDouble(double value);
std::string FormatDoubleFixed(double value);
// %.<digits>f and %.<digits>e.
std::string FormatDoubleFixed(double value, int digits);
std::string FormatDoubleScientific(double value, int digits);

// Whole text, base 10. nullopt: no number, or out of range.
std::optional<int64_t> ParseInt(std::string_view text, int base = 10);
std::optional<uint64_t> ParseUint(std::string_view text, int base = 10);
std::optional<double> ParseDouble(std::string_view text);
std::optional<bool> ParseBool(std::string_view text);

// "1h0m1.5s"; nullopt: no duration.
std::optional<int64_t> ParseGoDuration(std::string_view text);
std::string FormatGoDuration(int64_t nanos);
// In seconds: "3600.5s".
std::string FormatDurationSeconds(int64_t nanos);

// RFC 3339 with nanoseconds. The year is 1 to 9999 unless the caller checks.
std::optional<Timestamp> ParseTimestamp(std::string_view text);
std::string FormatTimestamp(const Timestamp& time);

// The calendar's parts at an offset from UTC.
struct CivilTime {
  int64_t year = 1970;
  int month = 1;  // 1 to 12
  int day = 1;
  int day_of_year = 1;
  int day_of_week = 4;  // 0 is Sunday
  int hour = 0;
  int minute = 0;
  int second = 0;
};
CivilTime CivilOf(int64_t seconds, int64_t offset_seconds);

// UTF-8. A byte that begins no character counts as U+FFFD, as in Go.
struct Rune {
  char32_t value = 0;
  size_t length = 0;  // bytes read
};
Rune FirstRune(std::string_view text);
std::vector<char32_t> Runes(std::string_view text);
void AppendRune(std::string& text, char32_t rune);
std::string FromRunes(const char32_t* begin, const char32_t* end);
bool IsValidUtf8(std::string_view text);

// strconv.Quote.
std::string GoQuote(std::string_view text);

}  // namespace berth::cel
