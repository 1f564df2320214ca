// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "absl/container/flat_hash_map.h"

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

}  // namespace berth::engine
