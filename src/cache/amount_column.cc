// SPDX-License-Identifier: Apache-2.0
#include "src/cache/amount_column.h"

#include <algorithm>

namespace berth::cache {
namespace {

// A row costs 16 bytes in the list and 8 in the array. Reading the array is so much cheaper that it
// may take four times the memory; the gap between the limits keeps a column that wavers from being
// rebuilt each time.
constexpr size_t kRowsADense = 8;
constexpr size_t kRowsASparse = 16;

}  // namespace

void AmountColumn::Grow(size_t rows) {
  rows_ = rows;
  if (!dense()) return;
  values_.resize(rows);
  if (!stay_dense_ && count_ * kRowsASparse < rows_) BecomeSparse();
}

void AmountColumn::Set(NodeRow row, int64_t amount) {
  if (!dense() && stay_dense_ && amount != 0) BecomeDense();
  if (dense()) {
    int64_t& value = values_[row];
    if (value == 0 && amount != 0) ++count_;
    if (value != 0 && amount == 0) --count_;
    value = amount;
    if (amount == 0 && !stay_dense_ && count_ * kRowsASparse < rows_) BecomeSparse();
    return;
  }
  const auto at = std::ranges::lower_bound(few_, row, {}, &RowAmount::row);
  const bool known = at != few_.end() && at->row == row;
  if (known && amount != 0) {
    at->amount = amount;
  } else if (known) {
    few_.erase(at);
    --count_;
  } else if (amount != 0) {
    few_.insert(at, {row, amount});
    ++count_;
    if (count_ * kRowsADense > rows_) BecomeDense();
  }
}

void AmountColumn::StayDense() {
  stay_dense_ = true;
  if (!dense() && count_ > 0) BecomeDense();
}

void AmountColumn::BecomeDense() {
  values_.resize(rows_);
  for (const RowAmount& known : few_) values_[known.row] = known.amount;
  few_ = {};
}

void AmountColumn::BecomeSparse() {
  few_.reserve(count_);
  for (NodeRow row = 0; row < values_.size(); ++row) {
    if (values_[row] != 0) few_.push_back({row, values_[row]});
  }
  values_ = {};
}

}  // namespace berth::cache
