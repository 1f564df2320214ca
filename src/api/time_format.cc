// SPDX-License-Identifier: Apache-2.0
#include "src/api/time_format.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>

#include "berth/rfc3339.h"

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

}  // namespace

std::string FormatTime(Time time) { return Format(time, false); }

std::string FormatMicroTime(Time time) { return Format(time, true); }

Result<Time> ParseTime(std::string_view text) {
  if (const auto time = ParseRfc3339(text)) return TimeFromUnix(time->seconds, time->nanos);
  return Fail("\"" + std::string(text) + "\" is no RFC 3339 time such as 2006-01-02T15:04:05Z");
}

Time TimeFromUnix(int64_t unix_seconds, int64_t nanos) {
  constexpr int64_t kMost = std::chrono::duration_cast<seconds>(nanoseconds::max()).count() - 1;
  nanos = std::clamp<int64_t>(nanos, 0, 999'999'999);
  if (unix_seconds > kMost) return Time::max();
  if (unix_seconds < -kMost) return Time::min();
  return Time(seconds(unix_seconds) + nanoseconds(nanos));
}

}  // namespace berth::api
