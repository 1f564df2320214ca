// SPDX-License-Identifier: Apache-2.0
#include <optional>
#include <string>

#include "src/cel/environment.h"
#include "src/cel/go_text.h"

namespace berth::cel {
namespace {

// What getFullYear and its like ask of a timestamp.
enum class TimePart : uint8_t {
  kYear,
  kMonth,
  kDayOfYear,
  kDayOfMonth,
  kDate,
  kDayOfWeek,
  kHours,
  kMinutes,
  kSeconds,
  kMilliseconds
};

Value PartOf(TimePart part, const Timestamp& time, int64_t offset_seconds) {
  const CivilTime civil = CivilOf(time.seconds, offset_seconds);
  switch (part) {
    case TimePart::kYear:
      return Value::Int(civil.year);
    case TimePart::kMonth:
      return Value::Int(civil.month - 1);
    case TimePart::kDayOfYear:
      return Value::Int(civil.day_of_year - 1);
    case TimePart::kDayOfMonth:
      return Value::Int(civil.day - 1);
    case TimePart::kDate:
      return Value::Int(civil.day);
    case TimePart::kDayOfWeek:
      return Value::Int(civil.day_of_week);
    case TimePart::kHours:
      return Value::Int(civil.hour);
    case TimePart::kMinutes:
      return Value::Int(civil.minute);
    case TimePart::kSeconds:
      return Value::Int(civil.second);
    case TimePart::kMilliseconds:
      return Value::Int(time.nanos / 1'000'000);
  }
  return NoSuchOverload();
}

// strconv.Atoi's complaint.
Value NotANumber(std::string_view text) {
  return Value::Error("strconv.Atoi: parsing " + GoQuote(text) + ": invalid syntax");
}

// "UTC" or an offset ("+01:30") in seconds; else an error. Names of zones would need their tables,
// which may not be read while a pod is scheduled.
Value OffsetOf(const std::string& zone) {
  const size_t colon = zone.find(':');
  if (colon == std::string::npos) {
    if (zone.empty() || zone == "UTC") return Value::Int(0);
    return Value::Error("unknown time zone " + zone);
  }
  const std::optional<int64_t> hours = ParseInt(zone.substr(0, colon));
  if (!hours) return NotANumber(zone.substr(0, colon));
  const std::optional<int64_t> minutes = ParseInt(zone.substr(colon + 1));
  if (!minutes) return NotANumber(zone.substr(colon + 1));
  constexpr int64_t kMost = 1'000'000;
  if (*hours > kMost || *hours < -kMost || *minutes > kMost || *minutes < -kMost)
    return Value::Error("time zone offset out of range");
  const int64_t offset = *hours * 60 + (zone.front() == '-' ? -*minutes : *minutes);
  return Value::Int(offset * 60);
}

template <TimePart part>
Value InUtc(Budget&, std::span<Value> args) {
  return PartOf(part, args[0].time(), 0);
}

template <TimePart part>
Value InZone(Budget&, std::span<Value> args) {
  const Value offset = OffsetOf(args[1].text());
  return offset.IsError() ? offset : PartOf(part, args[0].time(), offset.integer());
}

template <int64_t unit>
Value InUnits(Budget&, std::span<Value> args) {
  return Value::Int(args[0].integer() / unit);
}

}  // namespace

void AddTimes(Environment& environment) {
#define ZONED(name, id, part)                                                             \
  {name, "timestamp_to_" id, "timestamp.() int", InUtc<TimePart::part>}, {                \
    name, "timestamp_to_" id "_with_tz", "timestamp.(string) int", InZone<TimePart::part> \
  }
  static constexpr FunctionRow kRows[] = {
      ZONED("getFullYear", "year", kYear),
      ZONED("getMonth", "month", kMonth),
      ZONED("getDayOfYear", "day_of_year", kDayOfYear),
      ZONED("getDayOfMonth", "day_of_month", kDayOfMonth),
      ZONED("getDate", "day_of_month_1_based", kDate),
      ZONED("getDayOfWeek", "day_of_week", kDayOfWeek),
      ZONED("getHours", "hours", kHours),
      {"getHours", "duration_to_hours", "duration.() int", InUnits<3'600'000'000'000>},
      ZONED("getMinutes", "minutes", kMinutes),
      {"getMinutes", "duration_to_minutes", "duration.() int", InUnits<60'000'000'000>},
      ZONED("getSeconds", "seconds", kSeconds),
      {"getSeconds", "duration_to_seconds", "duration.() int", InUnits<1'000'000'000>},
      ZONED("getMilliseconds", "milliseconds", kMilliseconds),
      {"getMilliseconds", "duration_to_milliseconds", "duration.() int", InUnits<1'000'000>},
  };
#undef ZONED
  environment.Add(kRows);
}

}  // namespace berth::cel
