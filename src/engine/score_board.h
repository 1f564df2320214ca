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

namespace berth::engine {

// How often each raw score of a normalising plugin stands on a feasible row, and what it is worth.
//
// Scores are numbered as they turn up, so that a row holds a small number and the worth of all rows
// with one score changes in one place.
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
    unused_.push_back(id);
  }

  // Scores have come or gone since the last time.
  bool changed() const { return changed_; }
  // The scores that some row has, ascending, and their numbers.
  void Live(std::vector<int64_t>& raw, std::vector<Id>& ids) const;
  // Sets what the live scores, numbered `ids`, are worth. Returns whether any of them differs.
  bool SetWorth(std::span<const Id> ids, std::span<const int64_t> worth);
  // By number.
  std::span<const int64_t> worth() const { return worth_; }
  void Clear();
  size_t bytes() const;

 private:
  struct Value {
    int64_t raw = 0;
    uint32_t rows = 0;
  };

  Id NewId();

  bool changed_ = false;
  int64_t last_raw_ = 0;
  Id last_id_ = 0;
  std::vector<Value> values_;
  std::vector<int64_t> worth_;
  absl::flat_hash_map<int64_t, Id> ids_;
  std::vector<Id> unused_;  // had no row when they got here; may have one again
};

// The feasible rows of a class of pods and their total scores; finds the best without looking at
// every row. Rows stand in blocks of 64, one word of a NodeSet each; a block knows its highest
// total and how many rows have it.
//
// A total is what the row has of its own (`base`) plus, for each normalising plugin, the worth of
// its raw score. What all feasible rows share may be left out of both.
//
// Thread safety: one owner.
class ScoreBoard {
 public:
  explicit ScoreBoard(size_t num_normalised) : normalised_(num_normalised) {}

  // Forgets everything; from now on over `rows` rows, none of them feasible.
  void Reset(size_t rows);
  // New rows are not feasible.
  void Grow(size_t rows);

  size_t num_rows() const { return feasible_.size(); }
  size_t num_normalised() const { return normalised_.size(); }
  const NodeSet& feasible() const { return feasible_; }
  size_t num_feasible() const { return num_feasible_; }

  // Takes the row out.
  void Remove(NodeRow row);
  // Puts the row in, or changes it. `raw` has a score for each normalising plugin. False: there are
  // too many different raw scores.
  bool Put(NodeRow row, int64_t base, std::span<const int64_t> raw);

  ScoreValues& values(size_t normalised) { return normalised_[normalised].values; }
  // The worth of scores has changed: all totals are made anew.
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
    std::vector<ScoreValues::Id> ids;  // by row
    ScoreValues values;
  };

  int64_t Total(NodeRow row) const;
  void RecountBlock(size_t block);
  void FindBlockBest(size_t block);

  NodeSet feasible_;
  size_t num_feasible_ = 0;
  std::vector<int64_t> base_;
  std::vector<int64_t> totals_;  // of feasible rows
  std::vector<Normalised> normalised_;
  // By block.
  std::vector<int64_t> block_best_;
  std::vector<uint32_t> block_ties_;
  std::vector<uint8_t> stale_;  // a row of the block has changed
  std::vector<uint32_t> stale_blocks_;
  bool recount_ = false;
};

}  // namespace berth::engine
