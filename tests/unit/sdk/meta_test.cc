// SPDX-License-Identifier: Apache-2.0
#include "berth/api/meta.h"

#include <gtest/gtest.h>

namespace berth::api {
namespace {

TEST(StringMapTest, PutKeepsTheOrderAndEachKeyOnce) {
  StringMap map;
  Put("b", "1", map);
  Put("c", "2", map);
  Put("a", "3", map);
  Put("b", "4", map);
  EXPECT_EQ(map, (StringMap{{"a", "3"}, {"b", "4"}, {"c", "2"}}));
  EXPECT_EQ(*Find(map, "b"), "4");
  EXPECT_EQ(Find(map, "d"), nullptr);
}

}  // namespace
}  // namespace berth::api
