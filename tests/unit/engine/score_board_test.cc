// SPDX-License-Identifier: Apache-2.0
#include "src/engine/score_board.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <vector>

#include "berth/random.h"

namespace berth::engine {
namespace {

// A row as the test knows it.
struct Row {
  int64_t base = 0;
  std::vector<int64_t> raw;
};

// What a raw score comes to depends on the highest that some row has, as in many a plugin.
int64_t Weighted(int64_t raw, int64_t highest) { return highest == 0 ? 100 : 100 * raw / highest; }

void SetWeighted(ScoreBoard& board, size_t normalised) {
  std::vector<int64_t> raw;
  std::vector<ScoreValues::Id> ids;
  ScoreValues& values = board.values(normalised);
  if (!values.changed()) return;
  values.Live(raw, ids);
  ASSERT_TRUE(std::ranges::is_sorted(raw));
  const int64_t highest = raw.empty() ? 0 : raw.back();
  for (int64_t& value : raw) value = Weighted(value, highest);
  if (values.SetWeighted(ids, raw)) board.Recount(normalised);
}

TEST(ScoreBoardTest, FindsWhatALookAtEveryRowFinds) {
  size_t shown = 0;
  size_t moved = 0;
  for (uint64_t seed = 1; seed <= 120; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const size_t num_normalised = random.Below(3);
    size_t num_rows = 1 + random.Below(random.Below(4) == 0 ? 3000 : 300);
    const int64_t spread = random.Below(2) == 0 ? 3 : 1000;
    // The last plugin may be kept apart, and its scores be numbered: what the numbers stand for
    // then moves. A block has cells for some of them, but not for sixty.
    std::optional<size_t> apart;
    if (num_normalised > 0 && random.Below(3) != 0) apart = num_normalised - 1;
    std::vector<int64_t> stands_for(random.Below(2) == 0 ? 4 : 60);
    const bool numbered = apart && random.Below(4) != 0;
    const auto score_of = [&](size_t normalised, int64_t raw) {
      const bool by_number = numbered && normalised == *apart;
      return by_number ? stands_for[static_cast<size_t>(raw)] : raw;
    };
    ScoreBoard board;
    board.Reset(num_rows, num_normalised, apart);
    if (numbered) board.values(*apart).SetNumbers(stands_for);
    std::map<NodeRow, Row> hidden;
    std::map<NodeRow, Row> rows;
    for (int step = 0; step < 300; ++step) {
      if (random.Below(40) == 0) board.Grow(num_rows += random.Below(100));
      const auto row = static_cast<NodeRow>(random.Below(num_rows));
      if (random.Below(3) == 0) {
        const auto known = rows.find(row);
        if (random.Below(2) == 0) {
          board.Remove(row);
          hidden.erase(row);
        } else {
          board.Hide(row);
          if (known != rows.end()) hidden[row] = known->second;
        }
        if (known != rows.end()) rows.erase(known);
      } else if (const auto known = hidden.find(row); known != hidden.end() && board.Show(row)) {
        rows[row] = known->second;
        hidden.erase(known);
        ++shown;
      } else {
        hidden.erase(row);
        Row& put = rows[row];
        put.base = static_cast<int64_t>(random.Below(static_cast<uint64_t>(spread)));
        put.raw.clear();
        for (size_t i = 0; i < num_normalised; ++i) {
          const bool by_number = numbered && i == *apart;
          put.raw.push_back(static_cast<int64_t>(
              random.Below(by_number ? stands_for.size() : static_cast<uint64_t>(spread))));
        }
        ASSERT_TRUE(board.Put(row, put.base, put.raw));
      }
      ASSERT_EQ(board.num_feasible(), rows.size());
      if (rows.empty() || random.Below(3) != 0) continue;

      if (numbered) {
        if (random.Below(2) == 0) {
          stands_for[random.Below(stands_for.size())] = static_cast<int64_t>(random.Below(50));
          ++moved;
        }
        board.values(*apart).SetNumbers(stands_for);
      }
      for (size_t i = 0; i < num_normalised; ++i) SetWeighted(board, i);
      std::vector<int64_t> highest(num_normalised, 0);
      for (const auto& [number, known] : rows) {
        for (size_t i = 0; i < num_normalised; ++i) {
          highest[i] = std::max(highest[i], score_of(i, known.raw[i]));
        }
      }
      int64_t best = std::numeric_limits<int64_t>::min();
      std::vector<NodeRow> ties;
      for (const auto& [number, known] : rows) {
        int64_t total = known.base;
        for (size_t i = 0; i < num_normalised; ++i) {
          total += Weighted(score_of(i, known.raw[i]), highest[i]);
        }
        if (total > best) ties.clear();
        best = std::max(best, total);
        if (total == best) ties.push_back(number);
      }
      const ScoreBoard::Best found = board.FindBest();
      ASSERT_EQ(found.total, best);
      ASSERT_EQ(found.ties, ties.size());
      const uint64_t which = random.Below(ties.size());
      ASSERT_EQ(board.Nth(found, which), ties[which]);
    }
  }
  EXPECT_GT(shown, 100U);
  EXPECT_GT(moved, 1000U);
}

TEST(ScoreValuesTest, ScoresThatNoRowHasMakeRoomForOthers) {
  ScoreValues values;
  std::optional<ScoreValues::Id> last;
  for (int64_t raw = 0; raw < 100'000; ++raw) {
    const auto id = values.Number(raw);
    ASSERT_TRUE(id.has_value());
    values.Add(*id);
    if (last) values.Remove(*last);
    last = id;
  }
  std::vector<int64_t> raw;
  std::vector<ScoreValues::Id> ids;
  values.Live(raw, ids);
  EXPECT_EQ(raw, std::vector<int64_t>{99'999});
}

TEST(ScoreValuesTest, NumbersThatOthersGiveMayChangeWhatTheyStandFor) {
  ScoreValues values;
  values.SetNumbers(std::vector<int64_t>{5, 3, 3});
  for (const int64_t number : {0, 2, 2}) values.Add(*values.Number(number));
  std::vector<int64_t> raw;
  std::vector<ScoreValues::Id> ids;
  values.Live(raw, ids);
  EXPECT_EQ(raw, (std::vector<int64_t>{3, 5}));
  EXPECT_EQ(ids, (std::vector<ScoreValues::Id>{2, 0}));
  EXPECT_TRUE(values.SetWeighted(ids, raw));
  values.SetNumbers(std::vector<int64_t>{5, 4, 3});
  EXPECT_FALSE(values.changed()) << "no row has that score";
  values.SetNumbers(std::vector<int64_t>{5, 4, 2});
  EXPECT_TRUE(values.changed());
}

TEST(ScoreValuesTest, RefusesMoreScoresThanItCanTellApart) {
  ScoreValues values;
  bool refused = false;
  for (int64_t raw = 0; raw < 100'000 && !refused; ++raw) {
    const auto id = values.Number(raw);
    refused = !id.has_value();
    if (id) values.Add(*id);
  }
  EXPECT_TRUE(refused);
}

}  // namespace
}  // namespace berth::engine
