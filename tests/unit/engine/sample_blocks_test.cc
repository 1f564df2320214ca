// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "berth/random.h"
#include "src/cache/cache.h"
#include "src/engine/kept_class.h"
#include "src/engine/sample.h"
#include "tests/support/builders.h"

namespace berth::engine {
namespace {

// A board that changes, in an order that does.
class Walk {
 public:
  explicit Walk(uint64_t seed) : random_(seed), changes_(cache_), zones_(1 + random_.Below(4)) {
    const size_t nodes = 1 + random_.Below(300);
    for (size_t i = 0; i < nodes; ++i) SetNode(i);
    board_.Reset(cache_.num_rows(), 0);
  }

  void Step() {
    TouchedRows touched;
    touched.Resize(cache_.num_rows());
    if (random_.Below(30) == 0) {
      SetNode(random_.Below(cache_.num_rows() + 10));
      board_.Grow(cache_.num_rows());
      touched.Resize(cache_.num_rows());
    }
    order_.Refresh(changes_, cache_.node_order().rows());
    for (uint64_t i = random_.Below(random_.Below(10) == 0 ? 300 : 4); i > 0; --i) {
      const auto row = static_cast<NodeRow>(random_.Below(cache_.num_rows()));
      touched.Set(row);
      if (random_.Below(4) == 0) {
        board_.Remove(row);
      } else {
        EXPECT_TRUE(board_.Put(row, static_cast<int64_t>(random_.Below(3)), {}));
      }
    }
    if (random_.Below(20) == 0) {
      blocks_.Forget();
    } else {
      blocks_.Touch(order_, touched);
    }
  }

  // What the blocks say is what a search over all places comes to.
  void Compare() {
    blocks_.Refresh(order_, board_);
    if (board_.num_feasible() == 0) return;
    const size_t wanted = 1 + random_.Below(random_.Below(2) == 0 ? 10 : 300);
    const size_t first = random_.Below(order_.size());
    NodeSet found = board_.feasible();
    NodeSet scratch;
    const size_t looked_at = TakeSample(
        {.order = cache_.node_order().rows(), .start = first, .wanted = wanted}, found, scratch);
    const SampleBlocks::Range range = blocks_.Find(first, wanted);
    ASSERT_EQ(range.first, first);
    ASSERT_EQ(range.count, looked_at);
    NodeSet rows;
    blocks_.Collect(range, rows);
    ASSERT_TRUE(rows == found);

    std::vector<NodeRow> ties;
    int64_t highest = -1;
    found.ForEach([&](NodeRow row) {
      if (board_.base(row) > highest) ties.clear();
      highest = std::max(highest, board_.base(row));
      if (board_.base(row) == highest) ties.push_back(row);
    });
    const ScoreBoard::Best best = blocks_.FindBest(range);
    ASSERT_EQ(best.total, highest);
    ASSERT_EQ(best.ties, ties.size());
    const uint64_t which = random_.Below(ties.size());
    ASSERT_EQ(blocks_.Nth(range, best, which, scratch), ties[which]);
    if (order_.ascending()) ++ascending_;
    ++compared_;
  }

  size_t compared() const { return compared_; }
  size_t ascending() const { return ascending_; }

 private:
  void SetNode(size_t index) {
    cache_.SetNode(
        test::MakeNode("node-" + std::to_string(index))
            .Label("topology.kubernetes.io/zone", "zone-" + std::to_string(random_.Below(zones_)))
            .Ptr());
  }

  Random random_;
  cache::Cache cache_;
  Changes changes_;
  SearchOrder order_;
  const uint64_t zones_;  // with one of them, rows stand as they came
  ScoreBoard board_;
  SampleBlocks blocks_;
  size_t compared_ = 0;
  size_t ascending_ = 0;
};

TEST(SampleBlocksTest, FindWhatASearchOverAllPlacesFinds) {
  size_t compared = 0;
  size_t ascending = 0;
  for (uint64_t seed = 1; seed <= 60 && !testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    Walk walk(seed);
    for (int step = 0; step < 200 && !testing::Test::HasFailure(); ++step) {
      walk.Step();
      walk.Compare();
    }
    compared += walk.compared();
    ascending += walk.ascending();
  }
  EXPECT_GT(compared, 5000U);
  EXPECT_GT(ascending, 500U);
}

}  // namespace
}  // namespace berth::engine
