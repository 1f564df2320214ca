// SPDX-License-Identifier: Apache-2.0
#include "src/base/backoff.h"

#include <gtest/gtest.h>

#include <vector>

namespace berth::base {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

TEST(BackoffTest, WaitsGrowByTheFactorUpToTheCap) {
  const struct {
    const char* name;
    Backoff::Shape shape;
    std::vector<Duration> want;
  } cases[] = {
      {"doubled",
       {.first = milliseconds(100), .factor = 2, .cap = milliseconds(500), .jitter = 0},
       {milliseconds(100), milliseconds(200), milliseconds(400), milliseconds(500),
        milliseconds(500)}},
      {"constant",
       {.first = seconds(1), .factor = 1, .cap = seconds(30), .jitter = 0},
       {seconds(1), seconds(1), seconds(1)}},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    Random random(1);
    Backoff backoff(c.shape);
    for (const Duration want : c.want) EXPECT_EQ(backoff.Next(random), want);
  }
}

TEST(BackoffTest, ResetStartsOver) {
  Random random(1);
  Backoff backoff({.first = seconds(1), .factor = 3, .cap = seconds(30), .jitter = 0});
  backoff.Next(random);
  EXPECT_EQ(backoff.Next(random), seconds(3));
  backoff.Reset();
  EXPECT_EQ(backoff.Next(random), seconds(1));
}

TEST(BackoffTest, JitterStretchesByUpToItsPartAndDoesNotAddUp) {
  Random random(1);
  bool differ = false;
  for (int i = 0; i < 1000; ++i) {
    Backoff backoff({.first = seconds(2), .factor = 2, .cap = seconds(4), .jitter = 0.5});
    const Duration first = backoff.Next(random);
    const Duration second = backoff.Next(random);
    ASSERT_GE(first, seconds(2));
    ASSERT_LE(first, seconds(3));
    ASSERT_GE(second, seconds(4));
    ASSERT_LE(second, seconds(6));
    differ = differ || second != 2 * first;
  }
  EXPECT_TRUE(differ);
}

}  // namespace
}  // namespace berth::base
