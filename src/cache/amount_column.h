// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "berth/snapshot.h"

namespace berth::cache {

// How much of one resource each row has. Takes memory for the rows that have any while they are few
// among many, and becomes an array when they are not: a resource that one pod names must not cost
// what one that every node offers costs.
//
// Thread safety: one owner.
class AmountColumn {
 public:
  // New rows have 0. `rows` never shrinks.
  void Grow(size_t rows);
  // `row` must be below what Grow() said last.
  void Set(NodeRow row, int64_t amount);
  int64_t Get(NodeRow row) const { return column()[row]; }
  // From now on it is an array whenever some row has any.
  void StayDense();

  Column column() const { return {values_, few_}; }
  // No row has any.
  bool zero() const { return count_ == 0; }
  bool dense() const { return !values_.empty(); }

 private:
  void BecomeDense();
  void BecomeSparse();

  std::vector<int64_t> values_;  // by row; empty: `few_` holds everything
  std::vector<RowAmount> few_;   // sorted by row, none 0
  size_t rows_ = 0;
  size_t count_ = 0;  // rows that have any
  bool stay_dense_ = false;
};

}  // namespace berth::cache
