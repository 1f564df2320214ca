// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "berth/node_set.h"
#include "src/engine/stale.h"

namespace berth::engine {

// The highest total of some rows, and how many of them have it.
//
// The rows of a cell have one value of the score that is kept apart, and the total leaves out what
// that score weighs; so the cell stays as it is when that moves. With kWeighed they may have any,
// and the total is the whole.
struct BestCell {
  static constexpr uint16_t kWeighed = UINT16_MAX;

  int64_t total = 0;
  uint16_t value = kWeighed;
  uint16_t rows = 0;
};

// Puts the cells of one part of the rows together, one a value.
//
// Thread safety: one owner.
class CellMaker {
 public:
  static constexpr size_t kMaxCells = 16;

  // Begins with none. Values are below `num_values`, or kWeighed.
  void Begin(size_t num_values) {
    for (const BestCell& cell : cells()) slot_of_[Index(cell.value)] = kNone;
    size_ = 0;
    if (slot_of_.size() <= num_values) slot_of_.resize(num_values + 1, kNone);
  }
  // Adds rows. False, and all is as before: there are too many values.
  bool Add(const BestCell& rows) {
    uint8_t& slot = slot_of_[Index(rows.value)];
    if (slot == kNone) {
      if (size_ == kMaxCells) return false;
      slot = static_cast<uint8_t>(size_);
      cells_[size_++] = rows;
      return true;
    }
    BestCell& cell = cells_[slot];
    if (rows.total > cell.total) {
      cell = rows;
    } else if (rows.total == cell.total) {
      cell.rows = static_cast<uint16_t>(cell.rows + rows.rows);
    }
    return true;
  }
  std::span<const BestCell> cells() const { return {cells_.data(), size_}; }

 private:
  static constexpr uint8_t kNone = UINT8_MAX;
  // kWeighed comes first.
  static size_t Index(uint16_t value) { return static_cast<uint16_t>(value + 1); }

  std::vector<uint8_t> slot_of_;
  std::array<BestCell, kMaxCells> cells_;
  size_t size_ = 0;
};

// The cells of all parts, up to so many each; and which parts have to be looked at again.
//
// Thread safety: one owner.
class CellTable {
 public:
  // `width` is at least 1.
  void Reset(size_t parts, size_t width) {
    width_ = width;
    counts_.assign(parts, 0);
    cells_.assign(parts * width, BestCell());
    stale_.Reset(parts);
  }
  // New parts have no cells.
  void Grow(size_t parts) {
    counts_.resize(parts);
    cells_.resize(parts * width_);
    stale_.Grow(parts);
  }

  size_t size() const { return counts_.size(); }
  std::span<const BestCell> Of(size_t part) const {
    return {cells_.data() + part * width_, counts_[part]};
  }
  void Set(size_t part, std::span<const BestCell> cells) {
    counts_[part] = static_cast<uint8_t>(cells.size());
    for (size_t i = 0; i < cells.size(); ++i) cells_[part * width_ + i] = cells[i];
  }

  void MarkStale(size_t part) { stale_.Mark(part); }
  std::span<const uint32_t> stale() const { return stale_.parts(); }
  void ClearStale() { stale_.Clear(); }

  size_t bytes() const { return cells_.size() * sizeof(cells_[0]) + counts_.size() * 6; }

 private:
  size_t width_ = 1;
  std::vector<uint8_t> counts_;
  std::vector<BestCell> cells_;
  StaleParts stale_;
};

// How often each raw score of a normalising plugin is that of a feasible row, and what it weighs.
//
// Scores are numbered as they turn up, so that a row holds a small number and the weighted scores
// of all rows with one score changes in one place.
//
// Thread safety: one owner.
class ScoreValues {
 public:
  using Id = uint16_t;

  // The number of a score, to be added before the next one is asked for; nullopt when there are too
  // many different ones.
  std::optional<Id> Number(int64_t raw);
  void Add(Id id) {
    if (values_[id].rows++ > 0) return;
    changed_ = true;
    ++num_live_;
  }
  void Remove(Id id) {
    if (--values_[id].rows > 0) return;
    changed_ = true;
    --num_live_;
    if (!numbered_) unused_.push_back(id);
  }

  // From now on, until Clear(), the caller numbers the scores: number i is that of raw[i], which
  // may repeat, and Number() returns what it is given.
  void SetNumbers(std::span<const int64_t> raw);

  // Whether the number is still what Number() said of the score.
  bool Stands(Id id, int64_t raw) const {
    return numbered_ || (id < values_.size() && values_[id].raw == raw);
  }

  // Scores have come or gone since the last time.
  bool changed() const { return changed_; }
  // How many different scores some row has; those that the caller numbers may repeat.
  size_t num_live() const { return num_live_; }
  // The scores that some row has, ascending, and their numbers.
  void Live(std::vector<int64_t>& raw, std::vector<Id>& ids) const;
  // Sets the live scores, numbered `ids`, as they are once normalised and weighted. Returns
  // whether any of them differs.
  bool SetWeighted(std::span<const Id> ids, std::span<const int64_t> weighted);
  // By number.
  std::span<const int64_t> weighted() const { return weighted_; }
  // Whether every score that SetWeighted() got last weighs nothing.
  bool weightless() const { return weightless_; }
  void Clear();
  size_t bytes() const;

 private:
  struct Value {
    int64_t raw = 0;
    uint32_t rows = 0;
  };

  Id NewId();

  size_t num_live_ = 0;
  bool changed_ = false;
  bool numbered_ = false;
  bool weightless_ = true;
  int64_t last_raw_ = 0;
  Id last_id_ = 0;
  std::vector<Value> values_;
  std::vector<int64_t> weighted_;
  absl::flat_hash_map<int64_t, Id> ids_;
  std::vector<Id> unused_;  // had no row when they got here; may have one again
};

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
    // By row, of known rows; the numbers of hidden ones may stand for other scores by now.
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
