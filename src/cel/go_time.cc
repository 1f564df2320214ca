// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <cstdio>

#include "berth/rfc3339.h"
#include "src/cel/go_text.h"

namespace berth::cel {
CivilTime CivilOf(int64_t seconds, int64_t offset_seconds) {
  using std::chrono::days;
  const std::chrono::sys_seconds time(std::chrono::seconds(seconds + offset_seconds));
  const auto day = std::chrono::floor<days>(time);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss clock(time - day);
  const std::chrono::sys_days new_year(date.year() / std::chrono::January / 1);
  return {.year = static_cast<int>(date.year()),
          .month = static_cast<int>(static_cast<unsigned>(date.month())),
          .day = static_cast<int>(static_cast<unsigned>(date.day())),
          .day_of_year = static_cast<int>((day - new_year).count()) + 1,
          .day_of_week = static_cast<int>(std::chrono::weekday(day).c_encoding()),
          .hour = static_cast<int>(clock.hours().count()),
          .minute = static_cast<int>(clock.minutes().count()),
          .second = static_cast<int>(clock.seconds().count())};
}

std::optional<Timestamp> ParseTimestamp(std::string_view text) {
  const auto time = ParseRfc3339(text);
  if (!time) return std::nullopt;
  return Timestamp{time->seconds, time->nanos, time->offset_minutes};
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
