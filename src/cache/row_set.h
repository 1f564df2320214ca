// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "berth/node_set.h"

namespace berth::cache {

// A set of rows that costs what is in it: sorted rows while few, one bit a row when many.
//
// Thread safety: one owner.
class RowSet {
 public:
  // `row` must not be in the set.
  void Add(NodeRow row);
  // `row` must be in the set.
  void Remove(NodeRow row);

  size_t size() const { return count_; }
  bool empty() const { return count_ == 0; }
  bool dense() const { return !words_.empty(); }
  // Adds every row to `out`, which has room for them.
  void AddTo(NodeSet& out) const;

 private:
  void MakeDense();
  void MakeSparse();

  std::vector<NodeRow> rows_;    // ascending; empty when dense
  std::vector<uint64_t> words_;  // row 0 in the lowest bit of the first; empty when sparse
  size_t count_ = 0;
};

}  // namespace berth::cache
