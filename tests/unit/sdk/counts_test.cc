// SPDX-License-Identifier: Apache-2.0
#include "berth/counts.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "berth/random.h"

namespace berth {
namespace {

std::map<uint32_t, int32_t> AsMap(const Counts& counts) {
  std::map<uint32_t, int32_t> map;
  uint32_t last = 0;
  counts.ForEach([&](uint32_t id, int32_t count) {
    EXPECT_TRUE(map.empty() || id > last);
    last = id;
    map[id] = count;
  });
  return map;
}

TEST(CountsTest, AreThoseOfAMapWhateverTheirForm) {
  Random random(1);
  bool was_dense = false;
  for (int round = 0; round < 50; ++round) {
    SCOPED_TRACE("round " + std::to_string(round));
    Counts counts;
    std::map<uint32_t, int32_t> want;
    // Ids come from a range that grows and shrinks, so that the form changes back and forth.
    for (int step = 0; step < 600; ++step) {
      const uint64_t range = 1 + random.Below(step % 200 < 150 ? 100 : 3000);
      const auto id = static_cast<uint32_t>(random.Below(range));
      const auto delta = step % 200 < 100 ? static_cast<int32_t>(random.Below(3)) : -counts.Get(id);
      counts.Add(id, delta);
      if ((want[id] += delta) == 0) want.erase(id);
      ASSERT_EQ(counts.size(), want.size());
      if (counts.bytes() != 0 && counts.bytes() < 8 * counts.size()) was_dense = true;
    }
    EXPECT_EQ(AsMap(counts), want);
    int64_t total = 0;
    for (uint32_t id = 0; id < 3000; ++id) {
      const auto at = want.find(id);
      EXPECT_EQ(counts.Get(id), at == want.end() ? 0 : at->second);
      total += counts.Get(id);
    }
    EXPECT_EQ(counts.total(), total);
    EXPECT_EQ(counts.empty(), want.empty());
  }
  EXPECT_TRUE(was_dense);
}

TEST(CountsTest, AreEqualByValueNotByForm) {
  Counts once_dense;
  for (uint32_t id = 0; id < 200; ++id) once_dense.Add(id, 1);
  for (uint32_t id = 40; id < 200; ++id) once_dense.Add(id, -1);
  Counts backwards;
  for (uint32_t id = 40; id > 0; --id) backwards.Add(id - 1, 1);
  EXPECT_EQ(once_dense, backwards);
  backwards.Add(7, 1);
  EXPECT_FALSE(once_dense == backwards);
  backwards.Add(8, -1);
  EXPECT_FALSE(once_dense == backwards) << "same total, but not the same counts";
}

TEST(CountsTest, TakeMemoryForWhatIsThere) {
  Counts counts;
  counts.Add(1'000'000, 1);
  EXPECT_LT(counts.bytes(), 100u);
  for (uint32_t id = 0; id < 5000; ++id) counts.Add(id, 1);
  counts.Add(1'000'000, -1);
  for (uint32_t id = 0; id < 4990; ++id) counts.Add(id, -1);
  EXPECT_LT(counts.bytes(), 10'000u);
  EXPECT_EQ(counts.total(), 10);
}

}  // namespace
}  // namespace berth
