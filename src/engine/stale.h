// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "berth/node_set.h"

namespace berth::engine {

// Rows to be looked at again. Knows between which words of the set they are: mostly they are one or
// two among many thousands.
//
// Thread safety: one owner.
class TouchedRows {
 public:
  size_t size() const { return rows_.size(); }
  bool Empty() const { return first_ >= end_; }
  // New rows are out.
  void Resize(size_t rows) { rows_.Resize(rows); }
  // Over `rows` rows, all of them in.
  void AssignAll(size_t rows) {
    rows_.Assign(rows, true);
    first_ = 0;
    end_ = rows_.words().size();
  }
  void SetAll() { AssignAll(size()); }
  void Set(NodeRow row) {
    rows_.Set(row);
    Extend(row / 64, row / 64 + 1);
  }
  // Adds a set of as many rows.
  void Add(const NodeSet& other) {
    const auto words = other.words();
    for (size_t i = 0; i < words.size(); ++i) {
      if (words[i] == 0) continue;
      rows_.words()[i] |= words[i];
      Extend(i, i + 1);
    }
  }
  // Takes all rows out.
  void Clear() {
    for (size_t i = first_; i < end_; ++i) rows_.words()[i] = 0;
    first_ = SIZE_MAX;
    end_ = 0;
  }

  // The words between which all rows are.
  size_t first() const { return std::min(first_, end_); }
  size_t end() const { return end_; }
  uint64_t word(size_t i) const { return rows_.words()[i]; }

  template <typename Visit>
  void ForEach(Visit visit) const {
    for (size_t i = first(); i < end_; ++i) {
      for (uint64_t word = rows_.words()[i]; word != 0; word &= word - 1) {
        visit(static_cast<NodeRow>(i * 64 + static_cast<size_t>(std::countr_zero(word))));
      }
    }
  }

 private:
  void Extend(size_t first, size_t end) {
    first_ = std::min(first_, first);
    end_ = std::max(end_, end);
  }

  NodeSet rows_;
  size_t first_ = SIZE_MAX;
  size_t end_ = 0;
};

// Which of many parts have to be looked at again, each once.
//
// Thread safety: one owner.
class StaleParts {
 public:
  // Over `parts` parts, none of them stale.
  void Reset(size_t parts) {
    is_stale_.assign(parts, 0);
    parts_.clear();
  }
  // New parts are not stale.
  void Grow(size_t parts) { is_stale_.resize(parts); }
  void Mark(size_t part) {
    if (std::exchange(is_stale_[part], 1) == 0) parts_.push_back(static_cast<uint32_t>(part));
  }
  // In the order in which they were marked.
  std::span<const uint32_t> parts() const { return parts_; }
  // None is stale any more.
  void Clear() {
    for (const uint32_t part : parts_) is_stale_[part] = 0;
    parts_.clear();
  }

 private:
  std::vector<uint8_t> is_stale_;
  std::vector<uint32_t> parts_;
};

}  // namespace berth::engine
