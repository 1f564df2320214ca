// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "src/engine/stale_parts.h"

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

}  // namespace berth::engine
