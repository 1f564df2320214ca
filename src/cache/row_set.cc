// SPDX-License-Identifier: Apache-2.0
#include "src/cache/row_set.h"

#include <algorithm>
#include <bit>

namespace berth::cache {
namespace {

// A sparse row costs 32 bits, a dense one a bit for each row there is. The gap between the two
// limits keeps a set that wavers from being rebuilt each time.
constexpr size_t kMinDense = 64;
constexpr size_t kBitsPerSparseRow = 32;

}  // namespace

void RowSet::Add(NodeRow row) {
  ++count_;
  if (dense()) {
    if (row / 64 >= words_.size()) words_.resize(row / 64 + 1);
    words_[row / 64] |= uint64_t{1} << (row % 64);
    return;
  }
  rows_.insert(std::lower_bound(rows_.begin(), rows_.end(), row), row);
  if (count_ >= kMinDense && count_ * kBitsPerSparseRow > rows_.back()) MakeDense();
}

void RowSet::Remove(NodeRow row) {
  --count_;
  if (!dense()) {
    rows_.erase(std::lower_bound(rows_.begin(), rows_.end(), row));
    return;
  }
  words_[row / 64] &= ~(uint64_t{1} << (row % 64));
  if (count_ < kMinDense / 2 || count_ * 2 * kBitsPerSparseRow < words_.size() * 64) MakeSparse();
}

void RowSet::AddTo(NodeSet& out) const {
  for (const NodeRow row : rows_) out.Set(row);
  const auto words = out.words();
  const size_t common = std::min(words.size(), words_.size());
  for (size_t i = 0; i < common; ++i) words[i] |= words_[i];
}

void RowSet::MakeDense() {
  words_.assign(rows_.back() / 64 + 1, 0);
  for (const NodeRow row : rows_) words_[row / 64] |= uint64_t{1} << (row % 64);
  rows_ = {};
}

void RowSet::MakeSparse() {
  rows_.reserve(count_);
  for (size_t i = 0; i < words_.size(); ++i) {
    for (uint64_t word = words_[i]; word != 0; word &= word - 1)
      rows_.push_back(static_cast<NodeRow>(i * 64 + static_cast<size_t>(std::countr_zero(word))));
  }
  words_ = {};
}

}  // namespace berth::cache
