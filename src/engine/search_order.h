// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "berth/node_set.h"
#include "src/engine/changes.h"

namespace berth::engine {

// The nodes as a search that ends early goes through them, and where in it each stands.
//
// Thread safety: the scheduling thread.
class SearchOrder {
 public:
  static constexpr uint32_t kNoPlace = UINT32_MAX;

  // Makes it that of now: `rows` is the cache's node order, which only a change of a node changes.
  void Refresh(Changes& changes, std::span<const NodeRow> rows);

  // Another one each time that the order is made again.
  uint64_t serial() const { return serial_; }
  size_t size() const { return rows_.size(); }
  NodeRow row(size_t place) const { return rows_[place]; }
  uint32_t place(NodeRow row) const { return row < places_.size() ? places_[row] : kNoPlace; }
  // Rows stand in their own order.
  bool ascending() const { return ascending_; }

 private:
  uint64_t serial_ = 0;
  uint64_t generation_ = 0;
  bool ascending_ = true;
  std::vector<NodeRow> rows_;
  std::vector<uint32_t> places_;  // by row
};

}  // namespace berth::engine
