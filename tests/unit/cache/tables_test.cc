// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>
#include <vector>

#include "berth/random.h"
#include "src/cache/label_index.h"
#include "src/cache/node_tables.h"

namespace berth::cache {
namespace {

using testing::ElementsAre;

TEST(RowSetTest, HoldsTheSameRowsWhateverItsForm) {
  Random random(7);
  for (const uint32_t rows : {100u, 3000u}) {
    SCOPED_TRACE(rows);
    RowSet set;
    std::set<NodeRow> plain;
    bool was_dense = false;
    bool was_sparse_again = false;
    // Fills up, then empties.
    for (int step = 0; step < 20'000; ++step) {
      const auto row = static_cast<NodeRow>(random.Below(rows));
      const bool grow = step < 6000 && random.Below(10) < 8;
      if (grow && plain.insert(row).second) set.Add(row);
      if (!grow && plain.erase(row) > 0) set.Remove(row);
      was_dense |= set.dense();
      was_sparse_again |= was_dense && !set.dense();
      if (step % 50 != 0) continue;
      NodeSet got(rows);
      NodeSet want(rows);
      set.AddTo(got);
      for (const NodeRow r : plain) want.Set(r);
      ASSERT_EQ(got, want) << step;
      ASSERT_EQ(set.size(), plain.size());
    }
    EXPECT_TRUE(was_dense);
    EXPECT_TRUE(was_sparse_again);
  }
}

TEST(RowSetTest, FewRowsAmongManyStaySparse) {
  RowSet set;
  for (NodeRow row = 0; row < 100; ++row) set.Add(row * 1000);
  EXPECT_FALSE(set.dense());
}

class LabelIndexTest : public testing::Test {
 protected:
  std::vector<NodeRow> Rows(LabelIndex& index, const char* key, const char* value) {
    NodeSet out(8);
    index.AddRows(key, value, out);
    std::vector<NodeRow> rows;
    out.ForEach([&](NodeRow row) { rows.push_back(row); });
    return rows;
  }
  LabelIndex Make(LabelIndex::Limits limits) {
    for (const auto& [row, labels] : nodes_) keys_.Update({}, labels);
    return LabelIndex(limits, keys_, [this](const auto& visit) {
      ++builds_;
      for (const auto& [row, labels] : nodes_) visit(row, labels);
    });
  }

  std::map<NodeRow, api::StringMap> nodes_ = {{1, {{"disk", "ssd"}, {"zone", "a"}}},
                                              {3, {{"zone", "b"}}},
                                              {4, {{"zone", "a"}}},
                                              {6, {{"rack", "1"}}}};
  LabelKeys keys_;
  int builds_ = 0;
};

TEST_F(LabelIndexTest, AKeyIsBuiltOnceAndKeptUpToDate) {
  LabelIndex index = Make({});
  EXPECT_THAT(Rows(index, "zone", "a"), ElementsAre(1, 4));
  EXPECT_THAT(Rows(index, "zone", "b"), ElementsAre(3));
  EXPECT_THAT(Rows(index, "zone", "c"), ElementsAre());
  EXPECT_EQ(builds_, 1);
  EXPECT_EQ(index.num_pairs(), 2u);

  index.Update(3, {{"zone", "b"}}, {{"aaa", "x"}, {"zone", "a"}, {"zzz", "x"}});
  index.Update(4, {{"zone", "a"}}, {});
  index.Update(5, {}, {{"zone", "c"}});
  EXPECT_THAT(Rows(index, "zone", "a"), ElementsAre(1, 3));
  EXPECT_THAT(Rows(index, "zone", "b"), ElementsAre());
  EXPECT_THAT(Rows(index, "zone", "c"), ElementsAre(5));
  NodeSet with_zone(8);
  index.AddRowsWithKey("zone", with_zone);
  EXPECT_EQ(with_zone.Count(), 3u);
  EXPECT_EQ(builds_, 1);
  EXPECT_EQ(index.num_pairs(), 2u);
}

TEST_F(LabelIndexTest, TheKeyAskedForLongestAgoIsDroppedFirst) {
  LabelIndex index = Make({.keys = 2, .pairs = 100});
  Rows(index, "zone", "a");
  Rows(index, "disk", "ssd");
  Rows(index, "zone", "a");
  Rows(index, "rack", "1");
  EXPECT_EQ(index.num_keys(), 2u);
  EXPECT_EQ(builds_, 3);
  for (int i = 0; i < 100; ++i) {
    EXPECT_THAT(Rows(index, ("none" + std::to_string(i)).c_str(), "x"), ElementsAre());
  }
  EXPECT_EQ(index.num_keys(), 2u) << "what no node has takes no place";
  EXPECT_EQ(builds_, 3);
  EXPECT_THAT(Rows(index, "zone", "a"), ElementsAre(1, 4));
  EXPECT_EQ(builds_, 3);
  EXPECT_THAT(Rows(index, "disk", "ssd"), ElementsAre(1));
  EXPECT_EQ(builds_, 4);
}

TEST_F(LabelIndexTest, TheNumberOfPairsIsBoundedButForTheKeyInUse) {
  LabelIndex index = Make({.keys = 100, .pairs = 1});
  EXPECT_THAT(Rows(index, "disk", "ssd"), ElementsAre(1));
  EXPECT_THAT(Rows(index, "zone", "b"), ElementsAre(3));
  EXPECT_EQ(index.num_keys(), 1u);
  EXPECT_EQ(index.num_pairs(), 2u);
}

TEST(TaintTableTest, ListsShareAnIdUntilNobodyUsesThem) {
  TaintTable table;
  const std::vector<api::Taint> gpu = {{"gpu", "1", "NoSchedule"}};
  const std::vector<api::Taint> both = {{"gpu", "1", "NoSchedule"}, {"old", "", "NoExecute"}};
  const std::vector<api::Taint> turned = {{"old", "", "NoExecute"}, {"gpu", "1", "NoSchedule"}};
  const std::vector<api::Taint> shifted = {{"gpu1", "", "NoSchedule"}};
  EXPECT_EQ(table.Acquire({}), 0u);
  EXPECT_EQ(table.Acquire(gpu), 1u);
  EXPECT_EQ(table.Acquire(gpu), 1u);
  EXPECT_EQ(table.Acquire(both), 2u);
  EXPECT_EQ(table.Acquire(turned), 3u);
  table.Release(1);
  EXPECT_EQ(table.taints(1).size(), 1u);
  table.Release(1);
  EXPECT_TRUE(table.taints(1).empty());
  EXPECT_EQ(table.Acquire(shifted), 1u);
  EXPECT_EQ(table.size(), 4u);
}

ImageTable::Images Image(int64_t size, std::vector<std::string> names = {"nginx:1"}) {
  return {{std::move(names), size}};
}

TEST(ImageTableTest, TheFirstNodeToReportAnImageSaysItsSize) {
  ImageTable table;
  table.Add(4, Image(100));
  table.Add(2, Image(200));
  EXPECT_EQ(table.Find("nginx:1")->size_bytes, 100);
  EXPECT_THAT(table.Find("nginx:1")->rows, ElementsAre(2, 4));
  EXPECT_FALSE(table.Find("nginx").has_value());

  table.Update(2, Image(200), Image(300));
  EXPECT_EQ(table.Find("nginx:1")->size_bytes, 100);
  table.Remove(4, Image(100));
  EXPECT_EQ(table.Find("nginx:1")->size_bytes, 100);
  table.Update(2, Image(300), Image(300));
  EXPECT_EQ(table.Find("nginx:1")->size_bytes, 300) << "the only node left corrects the size";
  table.Remove(2, Image(300));
  EXPECT_FALSE(table.Find("nginx:1").has_value());
}

TEST(ImageTableTest, ANodeThatNamesAnImageTwiceCountsOnce) {
  ImageTable table;
  const ImageTable::Images twice = {{{"a", "b"}, 1}, {{"a"}, 2}};
  table.Add(0, twice);
  EXPECT_THAT(table.Find("a")->rows, ElementsAre(0));
  table.Update(0, twice, twice);
  EXPECT_EQ(table.Find("a")->size_bytes, 1);
  table.Remove(0, twice);
  EXPECT_FALSE(table.Find("a").has_value());
  EXPECT_FALSE(table.Find("b").has_value());
}

}  // namespace
}  // namespace berth::cache
