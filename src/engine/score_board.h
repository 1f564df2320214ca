// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "berth/node_set.h"
#include "src/engine/touched_rows.h"

namespace berth::engine {

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
    if (values_[id].rows++ == 0) changed_ = true;
  }
  void Remove(Id id) {
    if (--values_[id].rows > 0) return;
    changed_ = true;
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
  // The scores that some row has, ascending, and their numbers.
  void Live(std::vector<int64_t>& raw, std::vector<Id>& ids) const;
  // Sets what the live scores, numbered `ids`, come to once normalised and weighted. Returns
  // whether any of them differs.
  bool SetWeighted(std::span<const Id> ids, std::span<const int64_t> weighted);
  // By number.
  std::span<const int64_t> weighted() const { return weighted_; }
  // Whether every score that SetWeighted() heard of last weighs nothing.
  bool weightless() const { return weightless_; }
  void Clear();
  size_t bytes() const;

 private:
  struct Value {
    int64_t raw = 0;
    uint32_t rows = 0;
  };

  Id NewId();

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
// every row. Rows stand in blocks of 64, one word of a NodeSet each; a block knows its highest
// total and how many rows have it.
//
// A total is what the row has of its own (`base`) plus, for each normalising plugin, the weighted
// score of its raw score. What all feasible rows share may be left out of both. A row that is only
// hidden keeps what it has.
//
// Thread safety: one owner.
class ScoreBoard {
 public:
  // Forgets everything; from now on over `rows` rows, none of them feasible or known.
  void Reset(size_t rows, size_t num_normalised);
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

  ScoreValues& values(size_t normalised) { return normalised_[normalised].values; }
  // Weighted scores have changed: all totals are added up again.
  void Recount() { recount_ = true; }

  struct Best {
    int64_t total = std::numeric_limits<int64_t>::min();
    uint64_t ties = 0;
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
  void RecountBlock(size_t block);
  void FindBlockBest(size_t block);
  // The best of `parts`.
  static Best BestOf(std::span<const Best> parts);

  NodeSet feasible_;
  NodeSet known_;
  size_t num_feasible_ = 0;
  // Of known rows.
  std::vector<int64_t> base_;
  std::vector<int64_t> totals_;
  std::vector<Normalised> normalised_;
  std::vector<Best> blocks_;
  std::vector<Best> groups_;
  std::vector<uint8_t> stale_;  // by block: a row of it has changed
  std::vector<uint32_t> stale_blocks_;
  bool recount_ = false;
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
