// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "berth/node_set.h"
#include "src/engine/best_cells.h"
#include "src/engine/score_values.h"
#include "src/engine/touched_rows.h"

namespace berth::engine {

// The feasible rows of a class of pods and their total scores; finds the best without looking at
// every row. Rows stand in blocks of 64, one word of a NodeSet each, and blocks in groups of 16; a
// block, and a group, knows its highest total and how many rows have it.
//
// A total is what the row has of its own (`base`) plus, for each normalising plugin, the weighted
// score of its raw score. What all feasible rows share may be left out of both. A row that is only
// hidden keeps what it has.
//
// One normalising plugin may be kept apart: a block then knows its best rows by the value of that
// plugin (BestCell), so that weighted scores of it may move, as each pod of a spread service moves
// its zone's, without a look at any row. Where a block's rows have too many values, it is as if it
// were not.
//
// Thread safety: one owner.
class ScoreBoard {
 public:
  // Forgets everything; from now on over `rows` rows, none of them feasible or known. `apart` is
  // one of the normalising plugins.
  void Reset(size_t rows, size_t num_normalised, std::optional<size_t> apart = std::nullopt);
  // New rows are not feasible.
  void Grow(size_t rows);

  size_t num_rows() const { return feasible_.size(); }
  size_t num_normalised() const { return normalised_.size(); }
  const NodeSet& feasible() const { return feasible_; }
  size_t num_feasible() const { return num_feasible_; }

  // Takes the row out; what it has must be given again.
  void Remove(NodeRow row) {
    Hide(row);
    known_.Clear(row);
  }
  // Takes the row out, or back in as it was. Show() returns false where that is not known.
  void Hide(NodeRow row);
  bool Show(NodeRow row);
  // Puts the row in, or changes it. `raw` has a score for each normalising plugin. False: there are
  // too many different raw scores.
  bool Put(NodeRow row, int64_t base, std::span<const int64_t> raw);

  // Changes one raw score of every row of `rows` to raw_of(row); rows that are not
  // feasible are forgotten. False: as Put().
  template <typename RawOf>
  bool SetRaw(size_t normalised, const TouchedRows& rows, RawOf raw_of);

  // What a known row has of its own.
  int64_t base(NodeRow row) const { return base_[row]; }
  ScoreValues& values(size_t normalised) { return normalised_[normalised].values; }
  // Weighted scores of that plugin have changed.
  void Recount(size_t normalised) { (apart_ == normalised ? reweigh_ : recount_) = true; }

  struct Best {
    int64_t total = std::numeric_limits<int64_t>::min();
    uint64_t ties = 0;

    // Takes in more rows, of which so many have their highest total.
    void Add(int64_t their_total, uint64_t their_ties) {
      if (their_total > total) {
        total = their_total;
        ties = their_ties;
      } else if (their_total == total) {
        ties += their_ties;
      }
    }
  };
  // The highest total and how many rows have it. At least one row must be feasible.
  Best FindBest();
  // The row, in row order, that has `best.total` after `skip` others; `skip` < best.ties.
  NodeRow Nth(const Best& best, uint64_t skip) const;

  size_t bytes() const;

 private:
  struct Normalised {
    // By row, of known rows; the numbers of hidden ones may have come to stand for other scores.
    std::vector<ScoreValues::Id> ids;
    std::vector<int64_t> raw;
    ScoreValues values;
  };

  void MarkStale(NodeRow row);
  // What the row's value of the plugin that is kept apart weighs, and a cell's.
  int64_t ApartWeight(NodeRow row) const;
  int64_t Weight(const BestCell& cell) const;
  void SumUp(size_t block);
  void RefreshBlock(size_t block);
  bool MakeCells(size_t block);
  void RefreshGroup(size_t group);
  void MarkWeighedStale();
  Best BestOf(std::span<const BestCell> cells) const;
  uint64_t Ties(std::span<const BestCell> cells, int64_t total) const;

  NodeSet feasible_;
  NodeSet known_;
  size_t num_feasible_ = 0;
  // Of known rows; totals without what is kept apart.
  std::vector<int64_t> base_;
  std::vector<int64_t> totals_;
  std::vector<Normalised> normalised_;
  std::optional<size_t> apart_;
  CellTable blocks_;
  CellTable groups_;
  bool any_weighed_ = false;  // of a plugin that is kept apart, since the last recount
  bool recount_ = false;      // all totals have to be added up again
  bool reweigh_ = false;      // weighed cells are not those of now
  CellMaker maker_;
};

template <typename RawOf>
bool ScoreBoard::SetRaw(size_t normalised, const TouchedRows& rows, RawOf raw_of) {
  Normalised& scores = normalised_[normalised];
  bool done = true;
  rows.ForEach([&](NodeRow row) {
    if (!feasible_.Test(row)) {
      known_.Clear(row);
      return;
    }
    const int64_t raw = raw_of(row);
    if (scores.raw[row] == raw) return;
    const auto id = scores.values.Number(raw);
    if (!id) {
      done = false;
      return;
    }
    scores.values.Remove(scores.ids[row]);
    scores.values.Add(*id);
    scores.ids[row] = *id;
    scores.raw[row] = raw;
    MarkStale(row);
  });
  return done;
}

}  // namespace berth::engine
