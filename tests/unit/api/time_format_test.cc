// SPDX-License-Identifier: Apache-2.0
#include "src/api/time_format.h"

#include <gtest/gtest.h>

#include <random>

namespace berth::api {
namespace {

using std::chrono::nanoseconds;

TEST(TimeFormatTest, ParseTimeReadsRfc3339) {
  const struct {
    const char* text;
    int64_t seconds;
    int64_t nanos;
  } cases[] = {
      {"1970-01-01T00:00:00Z", 0, 0},
      {"2023-11-14T22:13:20Z", 1700000000, 0},
      {"2023-11-14T22:13:20.5Z", 1700000000, 500'000'000},
      {"2023-11-14T22:13:20.123456Z", 1700000000, 123'456'000},
      {"2023-11-14T22:13:20.1234567899Z", 1700000000, 123'456'789},
      {"2023-11-15T00:13:20+02:00", 1700000000, 0},
      {"2023-11-14T17:43:20-04:30", 1700000000, 0},
      {"1969-12-31T23:59:59.25Z", -1, 250'000'000},
      {"2024-02-29T00:00:00Z", 1709164800, 0},
      {"1970-01-01T1:00:00Z", 3600, 0},
      {"1970-01-01T00:00:00,5Z", 0, 500'000'000},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.text);
    const auto time = ParseTime(c.text);
    ASSERT_TRUE(time);
    EXPECT_EQ(time->time_since_epoch(), std::chrono::seconds(c.seconds) + nanoseconds(c.nanos));
  }
}

TEST(TimeFormatTest, ParseTimeRefusesOtherText) {
  for (const char* text : {"", "now", "2023-11-14", "2023-11-14T22:13:20", "2023-11-14 22:13:20Z",
                           "2023-11-14t22:13:20Z", "2023-13-14T22:13:20Z", "2023-02-29T00:00:00Z",
                           "2023-11-14T24:13:20Z", "2023-11-14T22:60:20Z", "2023-11-14T22:13:60Z",
                           "2023-11-14T22:13:20.Z", "2023-11-14T22:13:20Zx",
                           "2023-11-14T22:13:20+0200", "23-11-14T22:13:20Z"}) {
    SCOPED_TRACE(text);
    EXPECT_FALSE(ParseTime(text));
  }
}

TEST(TimeFormatTest, TimesBeyondTheRangeAreClamped) {
  EXPECT_EQ(ParseTime("0001-01-01T00:00:00Z"), Time::min());
  EXPECT_EQ(ParseTime("9999-12-31T23:59:59Z"), Time::max());
  EXPECT_EQ(TimeFromUnix(INT64_MAX, 0), Time::max());
  EXPECT_EQ(TimeFromUnix(INT64_MIN, 0), Time::min());
}

TEST(TimeFormatTest, FormatsCutFractionsOff) {
  const Time time(nanoseconds(1'700'000'000'123'456'789));
  EXPECT_EQ(FormatTime(time), "2023-11-14T22:13:20Z");
  EXPECT_EQ(FormatMicroTime(time), "2023-11-14T22:13:20.123456Z");
  EXPECT_EQ(FormatMicroTime(Time()), "1970-01-01T00:00:00.000000Z");
  EXPECT_EQ(FormatMicroTime(Time::min()), "1677-09-21T00:12:43.145224Z");
  EXPECT_EQ(FormatMicroTime(Time::max()), "2262-04-11T23:47:16.854775Z");
  EXPECT_EQ(FormatTime(Time(nanoseconds(-1))), "1969-12-31T23:59:59Z");
}

TEST(TimeFormatTest, WhatIsFormattedReadsBack) {
  std::mt19937_64 random(5);
  for (int i = 0; i < 2000; ++i) {
    const Time time(std::chrono::microseconds(static_cast<int64_t>(random()) / 1024));
    SCOPED_TRACE(FormatMicroTime(time));
    EXPECT_EQ(ParseTime(FormatMicroTime(time)), time);
    EXPECT_EQ(ParseTime(FormatTime(time)), std::chrono::floor<std::chrono::seconds>(time));
  }
}

}  // namespace
}  // namespace berth::api
