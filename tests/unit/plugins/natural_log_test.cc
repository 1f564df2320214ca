// SPDX-License-Identifier: Apache-2.0
#include "plugins/shared/natural_log.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>

namespace berth::plugins {
namespace {

// Printed by Go 1.26 on amd64: math.Float64bits(math.Log(x)).
TEST(NaturalLogTest, IsGosBitForBit) {
  const struct {
    double x;
    uint64_t want;
  } cases[] = {
      {0.3, 0xbff34378fcbda721},  {1, 0x0000000000000000},    {2, 0x3fe62e42fefa39ef},
      {3, 0x3ff193ea7aad030a},    {4, 0x3ff62e42fefa39ef},    {5, 0x3ff9c041f7ed8d33},
      {6, 0x3ffcab0bfa2a2002},    {7, 0x3fff2272ae325a57},    {8, 0x4000a2b23f3bab73},
      {10, 0x40026bb1bbb55516},   {11, 0x40032ee3b77f374c},   {13, 0x400485042b318c51},
      {17, 0x4006aa6bc1fa7f7a},   {33, 0x400bf8d8f4d5b8d1},   {65, 0x4010b29293942975},
      {100, 0x40126bb1bbb55516},  {127, 0x4013607294602e42},  {502, 0x4018dfd8b5b3e920},
      {1002, 0x401ba3965d405f5f}, {5002, 0x40210901f6dc84b9}, {15002, 0x40233b5c54bb9573},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.x);
    EXPECT_EQ(std::bit_cast<uint64_t>(NaturalLog(c.x)), c.want);
  }
}

TEST(NaturalLogTest, IsGosForEveryNumberOfDomainsUpTo20000) {
  uint64_t hash = 14695981039346656037u;  // FNV-1a over whole words
  for (int x = 2; x <= 20000; ++x) {
    const double log = NaturalLog(x);
    EXPECT_NEAR(log, std::log(x), 1e-14);
    hash = (hash ^ std::bit_cast<uint64_t>(log)) * 1099511628211u;
  }
  EXPECT_EQ(hash, 12546035926611911639u);
}

}  // namespace
}  // namespace berth::plugins
