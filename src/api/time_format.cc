// SPDX-License-Identifier: Apache-2.0
#include "src/api/time_format.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <optional>

namespace berth::api {
namespace {

using std::chrono::nanoseconds;
using std::chrono::seconds;

constexpr int64_t kNanosPerSecond = 1'000'000'000;
constexpr int64_t kSecondsPerDay = 24 * 60 * 60;

// The number in so many digits, and what follows it; returns where the next one goes.
char* PutNumber(uint32_t number, size_t digits, char after, char* to) {
  for (size_t i = digits; i > 0; --i, number /= 10)
    to[i - 1] = static_cast<char>('0' + number % 10);
  to[digits] = after;
  return to + digits + 1;
}

// The parts are taken apart as integers: near the ends of the range, rounding a Time down leaves
// it. By hand, as every event has two times.
std::string Format(Time time, bool with_micros) {
  const int64_t count = time.time_since_epoch().count();
  const int64_t nanos = (count % kNanosPerSecond + kNanosPerSecond) % kNanosPerSecond;
  const int64_t unix_seconds = count / kNanosPerSecond - (count % kNanosPerSecond < 0 ? 1 : 0);
  const int64_t of_day = (unix_seconds % kSecondsPerDay + kSecondsPerDay) % kSecondsPerDay;
  const std::chrono::year_month_day date{
      std::chrono::floor<std::chrono::days>(std::chrono::sys_seconds(seconds(unix_seconds)))};
  std::array<char, sizeof "2006-01-02T15:04:05.000000Z"> text;
  char* end = text.data();
  const auto put = [&end](int64_t number, size_t digits, char after) {
    end = PutNumber(static_cast<uint32_t>(number), digits, after, end);
  };
  put(static_cast<int>(date.year()), 4, '-');
  put(static_cast<unsigned>(date.month()), 2, '-');
  put(static_cast<unsigned>(date.day()), 2, 'T');
  put(of_day / 3600, 2, ':');
  put(of_day / 60 % 60, 2, ':');
  put(of_day % 60, 2, with_micros ? '.' : 'Z');
  if (with_micros) put(nanos / 1000, 6, 'Z');
  return std::string(text.data(), end);
}

// Takes a number of exactly `digits` digits off `text`.
std::optional<int> TakeNumber(std::string_view& text, size_t digits) {
  if (text.size() < digits) return std::nullopt;
  int number = 0;
  for (const char c : text.substr(0, digits)) {
    if (c < '0' || c > '9') return std::nullopt;
    number = number * 10 + (c - '0');
  }
  text.remove_prefix(digits);
  return number;
}

bool TakeChar(std::string_view& text, char wanted) {
  if (text.empty() || text.front() != wanted) return false;
  text.remove_prefix(1);
  return true;
}

// The date's days since 1970.
std::optional<int64_t> TakeDate(std::string_view& text) {
  const auto year = TakeNumber(text, 4);
  if (!year || !TakeChar(text, '-')) return std::nullopt;
  const auto month = TakeNumber(text, 2);
  if (!month || !TakeChar(text, '-')) return std::nullopt;
  const auto day = TakeNumber(text, 2);
  if (!day) return std::nullopt;
  const std::chrono::year_month_day date{std::chrono::year(*year),
                                         std::chrono::month(static_cast<unsigned>(*month)),
                                         std::chrono::day(static_cast<unsigned>(*day))};
  if (!date.ok()) return std::nullopt;
  return std::chrono::sys_days(date).time_since_epoch().count();
}

// "15:04:05", in seconds.
std::optional<int64_t> TakeClock(std::string_view& text) {
  const auto hour = TakeNumber(text, 2);
  if (!hour || !TakeChar(text, ':')) return std::nullopt;
  const auto minute = TakeNumber(text, 2);
  if (!minute || !TakeChar(text, ':')) return std::nullopt;
  const auto second = TakeNumber(text, 2);
  if (!second || *hour > 23 || *minute > 59 || *second > 59) return std::nullopt;
  return (*hour * 60 + *minute) * 60 + *second;
}

// ".123", in nanoseconds; finer digits are cut off.
std::optional<int64_t> TakeFraction(std::string_view& text) {
  if (!TakeChar(text, '.') && !TakeChar(text, ',')) return 0;
  int64_t nanos = 0;
  int64_t place = 100'000'000;
  size_t digits = 0;
  for (; digits < text.size() && text[digits] >= '0' && text[digits] <= '9'; ++digits) {
    nanos += (text[digits] - '0') * place;
    place /= 10;
  }
  if (digits == 0) return std::nullopt;
  text.remove_prefix(digits);
  return nanos;
}

// "Z" or "+02:00", in seconds east of UTC.
std::optional<int64_t> TakeOffset(std::string_view& text) {
  if (TakeChar(text, 'Z')) return 0;
  const bool west = TakeChar(text, '-');
  if (!west && !TakeChar(text, '+')) return std::nullopt;
  const auto hours = TakeNumber(text, 2);
  if (!hours || !TakeChar(text, ':')) return std::nullopt;
  const auto minutes = TakeNumber(text, 2);
  if (!minutes || *hours > 24 || *minutes > 60) return std::nullopt;
  return (*hours * 60 + *minutes) * (west ? -60 : 60);
}

}  // namespace

std::string FormatTime(Time time) { return Format(time, false); }

std::string FormatMicroTime(Time time) { return Format(time, true); }

Result<Time> ParseTime(std::string_view text) {
  const auto bad = [text] {
    return Fail("\"" + std::string(text) + "\" is no RFC 3339 time such as 2006-01-02T15:04:05Z");
  };
  std::string_view rest = text;
  const auto date = TakeDate(rest);
  if (!date || !TakeChar(rest, 'T')) return bad();
  const auto clock = TakeClock(rest);
  if (!clock) return bad();
  const auto nanos = TakeFraction(rest);
  if (!nanos) return bad();
  const auto offset = TakeOffset(rest);
  if (!offset || !rest.empty()) return bad();
  return TimeFromUnix(*date * kSecondsPerDay + *clock - *offset, *nanos);
}

Time TimeFromUnix(int64_t unix_seconds, int64_t nanos) {
  constexpr int64_t kMost = std::chrono::duration_cast<seconds>(nanoseconds::max()).count() - 1;
  nanos = std::clamp<int64_t>(nanos, 0, 999'999'999);
  if (unix_seconds > kMost) return Time::max();
  if (unix_seconds < -kMost) return Time::min();
  return Time(seconds(unix_seconds) + nanoseconds(nanos));
}

}  // namespace berth::api
