// SPDX-License-Identifier: Apache-2.0
#include <cstdio>

#include "src/cel/go_text.h"

namespace berth::cel {
namespace {

constexpr int64_t kDaySeconds = 86'400;

bool IsLeap(int64_t year) { return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0); }

// Days since 1970-01-01 of a date of the proleptic Gregorian calendar.
int64_t DaysOf(int64_t year, int month, int day) {
  const int64_t from_march = month > 2 ? year : year - 1;
  const int64_t era = (from_march >= 0 ? from_march : from_march - 399) / 400;
  const int64_t year_of_era = from_march - era * 400;
  const int64_t day_of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
  return era * 146'097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year -
         719'468;
}

int DaysInMonth(int64_t year, int month) {
  constexpr int kDays[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  return month == 2 && IsLeap(year) ? 29 : kDays[month - 1];
}

// `count` digits off the front of `rest`.
std::optional<int> TakeNumber(std::string_view& rest, size_t count) {
  if (rest.size() < count) return std::nullopt;
  int number = 0;
  for (size_t i = 0; i < count; ++i) {
    if (rest[i] < '0' || rest[i] > '9') return std::nullopt;
    number = number * 10 + (rest[i] - '0');
  }
  rest.remove_prefix(count);
  return number;
}

bool Take(std::string_view& rest, char c) {
  if (rest.empty() || rest.front() != c) return false;
  rest.remove_prefix(1);
  return true;
}

// The fraction of a second, cut off after nanoseconds. nullopt: a point without digits.
std::optional<int32_t> TakeFraction(std::string_view& rest) {
  if (rest.empty() || (rest.front() != '.' && rest.front() != ',')) return 0;
  rest.remove_prefix(1);
  int32_t nanos = 0;
  int32_t unit = 100'000'000;
  bool digits = false;
  for (; !rest.empty() && rest.front() >= '0' && rest.front() <= '9'; rest.remove_prefix(1)) {
    nanos += (rest.front() - '0') * unit;
    unit /= 10;
    digits = true;
  }
  if (!digits) return std::nullopt;
  return nanos;
}

// "Z" or "+01:00" as minutes, with nothing after it.
std::optional<int> TakeZone(std::string_view rest) {
  if (rest == "Z") return 0;
  const bool negative = !rest.empty() && rest.front() == '-';
  if (!negative && (rest.empty() || rest.front() != '+')) return std::nullopt;
  rest.remove_prefix(1);
  const std::optional<int> hours = TakeNumber(rest, 2);
  if (!hours || !Take(rest, ':')) return std::nullopt;
  const std::optional<int> minutes = TakeNumber(rest, 2);
  if (!minutes || !rest.empty() || *hours > 24 || *minutes > 60) return std::nullopt;
  const int offset = *hours * 60 + *minutes;
  return negative ? -offset : offset;
}

}  // namespace

CivilTime CivilOf(int64_t seconds, int64_t offset_seconds) {
  seconds += offset_seconds;
  int64_t days = seconds / kDaySeconds;
  int64_t rest = seconds % kDaySeconds;
  if (rest < 0) {
    rest += kDaySeconds;
    --days;
  }
  const int64_t shifted = days + 719'468;
  const int64_t era = (shifted >= 0 ? shifted : shifted - 146'096) / 146'097;
  const int64_t day_of_era = shifted - era * 146'097;
  const int64_t year_of_era =
      (day_of_era - day_of_era / 1'460 + day_of_era / 36'524 - day_of_era / 146'096) / 365;
  const int64_t day_of_year =
      day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
  const int64_t month_from_march = (5 * day_of_year + 2) / 153;
  CivilTime civil;
  civil.day = static_cast<int>(day_of_year - (153 * month_from_march + 2) / 5 + 1);
  civil.month =
      static_cast<int>(month_from_march < 10 ? month_from_march + 3 : month_from_march - 9);
  civil.year = year_of_era + era * 400 + (civil.month <= 2 ? 1 : 0);
  civil.day_of_year = static_cast<int>(days - DaysOf(civil.year, 1, 1)) + 1;
  civil.day_of_week = static_cast<int>(((days % 7) + 11) % 7);
  civil.hour = static_cast<int>(rest / 3'600);
  civil.minute = static_cast<int>(rest / 60 % 60);
  civil.second = static_cast<int>(rest % 60);
  return civil;
}

std::optional<Timestamp> ParseTimestamp(std::string_view text) {
  const std::optional<int> year = TakeNumber(text, 4);
  if (!year || !Take(text, '-')) return std::nullopt;
  const std::optional<int> month = TakeNumber(text, 2);
  if (!month || *month < 1 || *month > 12 || !Take(text, '-')) return std::nullopt;
  const std::optional<int> day = TakeNumber(text, 2);
  if (!day || *day < 1 || *day > DaysInMonth(*year, *month) || !Take(text, 'T'))
    return std::nullopt;
  // Go reads an hour of one digit, too.
  const bool one_digit = text.size() > 1 && text[1] == ':';
  const std::optional<int> hour = TakeNumber(text, one_digit ? 1 : 2);
  if (!hour || *hour > 23 || !Take(text, ':')) return std::nullopt;
  const std::optional<int> minute = TakeNumber(text, 2);
  if (!minute || *minute > 59 || !Take(text, ':')) return std::nullopt;
  const std::optional<int> second = TakeNumber(text, 2);
  if (!second || *second > 59) return std::nullopt;
  const std::optional<int32_t> nanos = TakeFraction(text);
  if (!nanos) return std::nullopt;
  const std::optional<int> offset = TakeZone(text);
  if (!offset) return std::nullopt;
  const int64_t clock = *hour * 3'600 + *minute * 60 + *second;
  return Timestamp{DaysOf(*year, *month, *day) * kDaySeconds + clock - int64_t{*offset} * 60,
                   *nanos, static_cast<int16_t>(*offset)};
}

std::string FormatTimestamp(const Timestamp& time) {
  const CivilTime civil = CivilOf(time.seconds, int64_t{time.offset_minutes} * 60);
  char buffer[80];
  int length = std::snprintf(buffer, sizeof buffer, "%04d-%02d-%02dT%02d:%02d:%02d",
                             static_cast<int>(civil.year), civil.month, civil.day, civil.hour,
                             civil.minute, civil.second);
  std::string text(buffer, static_cast<size_t>(length));
  if (time.nanos != 0) {
    length = std::snprintf(buffer, sizeof buffer, ".%09d", time.nanos);
    std::string fraction(buffer, static_cast<size_t>(length));
    fraction.resize(fraction.find_last_not_of('0') + 1);
    text += fraction;
  }
  if (time.offset_minutes == 0) return text += 'Z';
  const int minutes = time.offset_minutes < 0 ? -time.offset_minutes : time.offset_minutes;
  length = std::snprintf(buffer, sizeof buffer, "%c%02d:%02d", time.offset_minutes < 0 ? '-' : '+',
                         minutes / 60, minutes % 60);
  return text.append(buffer, static_cast<size_t>(length));
}

}  // namespace berth::cel
