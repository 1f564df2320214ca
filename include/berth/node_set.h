// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace berth {

// The place of a node in the columns of a Snapshot. Stable while the node exists.
using NodeRow = uint32_t;
inline constexpr NodeRow kNoRow = UINT32_MAX;

// A set of node rows, one bit a row. An operand of fewer rows than the set lacks the others; it
// must not have more.
class NodeSet {
 public:
  NodeSet() = default;
  explicit NodeSet(size_t rows, bool value = false) { Assign(rows, value); }

  // Makes this a set over `rows` rows, all in or all out. Keeps its capacity.
  void Assign(size_t rows, bool value) {
    rows_ = rows;
    words_.assign((rows + 63) / 64, value ? ~uint64_t{0} : 0);
    TrimTail();
  }
  // Grows or shrinks to `rows` rows; new rows are out.
  void Resize(size_t rows) {
    rows_ = rows;
    words_.resize((rows + 63) / 64, 0);
    TrimTail();
  }

  size_t size() const { return rows_; }
  bool Test(NodeRow row) const {
    return row < rows_ && ((words_[row / 64] >> (row % 64)) & 1) != 0;
  }
  void Set(NodeRow row) { words_[row / 64] |= uint64_t{1} << (row % 64); }
  void Clear(NodeRow row) { words_[row / 64] &= ~(uint64_t{1} << (row % 64)); }
  void Put(NodeRow row, bool value) { value ? Set(row) : Clear(row); }

  size_t Count() const {
    size_t count = 0;
    for (uint64_t word : words_) count += static_cast<size_t>(std::popcount(word));
    return count;
  }
  bool Empty() const {
    for (uint64_t word : words_)
      if (word != 0) return false;
    return true;
  }

  NodeSet& operator&=(const NodeSet& other) {
    const size_t shared = std::min(words_.size(), other.words_.size());
    for (size_t i = 0; i < shared; ++i) words_[i] &= other.words_[i];
    std::fill(words_.begin() + static_cast<std::ptrdiff_t>(shared), words_.end(), 0);
    return *this;
  }
  NodeSet& operator|=(const NodeSet& other) {
    const size_t shared = std::min(words_.size(), other.words_.size());
    for (size_t i = 0; i < shared; ++i) words_[i] |= other.words_[i];
    return *this;
  }
  // Takes out every row of `other`.
  NodeSet& operator-=(const NodeSet& other) {
    const size_t shared = std::min(words_.size(), other.words_.size());
    for (size_t i = 0; i < shared; ++i) words_[i] &= ~other.words_[i];
    return *this;
  }
  friend bool operator==(const NodeSet&, const NodeSet&) = default;

  // Calls visit(row) for every row in the set, ascending. `visit` may clear the row it is given.
  template <typename Visit>
  void ForEach(Visit visit) const {
    for (size_t i = 0; i < words_.size(); ++i) {
      for (uint64_t word = words_[i]; word != 0; word &= word - 1) {
        visit(static_cast<NodeRow>(i * 64 + static_cast<size_t>(std::countr_zero(word))));
      }
    }
  }

  // Keeps the rows for which keep(row) is true.
  template <typename Keep>
  void Filter(Keep keep) {
    for (size_t i = 0; i < words_.size(); ++i) {
      uint64_t kept = words_[i];
      for (uint64_t word = kept; word != 0; word &= word - 1) {
        const int bit = std::countr_zero(word);
        if (!keep(static_cast<NodeRow>(i * 64 + static_cast<size_t>(bit)))) {
          kept &= ~(uint64_t{1} << bit);
        }
      }
      words_[i] = kept;
    }
  }

  // 64 rows a word, row 0 in the lowest bit; the bits past size() are zero and must stay so.
  std::span<uint64_t> words() { return words_; }
  std::span<const uint64_t> words() const { return words_; }

 private:
  void TrimTail() {
    if (rows_ % 64 != 0) words_.back() &= (uint64_t{1} << (rows_ % 64)) - 1;
  }

  size_t rows_ = 0;
  std::vector<uint64_t> words_;
};

}  // namespace berth
