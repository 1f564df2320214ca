// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <vector>

#include "berth/random.h"
#include "src/cache/columns.h"

namespace berth::cache {
namespace {

TEST(AmountColumnTest, HoldsTheSameAmountsWhateverItsForm) {
  Random random(7);
  for (const bool stay_dense : {false, true}) {
    AmountColumn column;
    if (stay_dense) column.StayDense();
    std::vector<int64_t> plain;
    bool was_dense = false;
    bool was_sparse_again = false;
    // Fills up, then empties, while rows are added.
    for (int step = 0; step < 20'000; ++step) {
      if (plain.size() < 100 || (plain.size() < 1000 && random.Below(10) == 0)) {
        plain.push_back(0);
        column.Grow(plain.size());
      }
      const auto row = static_cast<NodeRow>(random.Below(plain.size()));
      const int64_t amount =
          step < 4000 && random.Below(2) == 0 ? static_cast<int64_t>(random.Below(9)) - 4 : 0;
      plain[row] = amount;
      column.Set(row, amount);
      was_dense |= column.dense();
      was_sparse_again |= was_dense && !column.dense();
      if (step % 50 != 0) continue;
      size_t any = 0;
      for (NodeRow r = 0; r < plain.size(); ++r) {
        ASSERT_EQ(column.column()[r], plain[r]) << step;
        any += plain[r] != 0 ? 1 : 0;
      }
      ASSERT_EQ(column.zero(), any == 0);
      const Column seen = column.column();
      ASSERT_TRUE(seen.values.empty() ? seen.few.size() == any
                                      : seen.few.empty() && seen.values.size() == plain.size());
    }
    EXPECT_TRUE(was_dense);
    EXPECT_EQ(was_sparse_again, !stay_dense);
  }
}

TEST(AmountColumnTest, AnArrayThatTheClusterOutgrewBecomesAList) {
  AmountColumn column;
  column.Grow(1);
  column.Set(0, 5);
  EXPECT_TRUE(column.dense());
  column.Grow(5000);
  EXPECT_FALSE(column.dense());
  EXPECT_EQ(column.Get(0), 5);
  EXPECT_EQ(column.Get(4999), 0);
}

TEST(AmountColumnTest, SumsBeyondAnInt64ShowTheGreatestOneAndAreKnownExactly) {
  for (const bool stay_dense : {false, true}) {
    AmountColumn column;
    if (stay_dense) column.StayDense();
    column.Grow(3);
    column.Add(1, kMostAmount);
    column.Add(1, kMostAmount);
    column.Add(1, 7);
    EXPECT_EQ(column.Get(1), kMostAmount);
    column.Add(1, -WideAmount{kMostAmount});
    EXPECT_EQ(column.Get(1), kMostAmount) << "7 more than an int64 holds";
    column.Add(1, -WideAmount{kMostAmount});
    EXPECT_EQ(column.Get(1), 7);
    column.Add(1, -7);
    EXPECT_TRUE(column.zero());
  }
}

}  // namespace
}  // namespace berth::cache
