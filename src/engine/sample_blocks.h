// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "berth/node_set.h"
#include "src/engine/score_board.h"
#include "src/engine/search_order.h"
#include "src/engine/stale_parts.h"
#include "src/engine/touched_rows.h"

namespace berth::engine {

// The feasible rows of a board as a search that ends early goes through them: where it ends, and
// the best of the rows that it finds, without a look at each. Places of the order stand in blocks
// of 64; a block knows its feasible places, the highest of what they have of their own on the board
// (`base`), and how many have it.
//
// Thread safety: one owner.
class SampleBlocks {
 public:
  // So many places from the first one, round and round.
  struct Range {
    size_t first = 0;
    size_t count = 0;
  };

  // The board changes and Touch() is not told: the next Refresh() looks at all of it.
  void Forget() { serial_ = 0; }
  // These rows of the board may have changed.
  void Touch(const SearchOrder& order, const TouchedRows& rows);
  // Makes all that follows true of the board and the order as they are.
  void Refresh(const SearchOrder& order, const ScoreBoard& board);

  // The places that the search looks at from `first` on: those before the feasible one that is one
  // more than `wanted`, or all.
  Range Find(size_t first, size_t wanted) const;
  // The best by what they have of their own. Some row of the range must be feasible.
  ScoreBoard::Best FindBest(const Range& range) const;
  // The row, in row order, that has `best.total` of its own after `skip` others; `skip` <
  // best.ties. `scratch` is for its capacity.
  NodeRow Nth(const Range& range, const ScoreBoard::Best& best, uint64_t skip,
              NodeSet& scratch) const;
  // Makes `rows` the feasible rows of the range.
  void Collect(const Range& range, NodeSet& rows) const;

  size_t bytes() const { return blocks_.size() * (sizeof(Block) + 5); }

 private:
  struct Block {
    uint64_t feasible = 0;  // by place
    int64_t best = 0;
    uint32_t ties = 0;
  };

  void RefreshBlock(size_t block);
  // Calls visit(block, feasible places of it within the range, whether it has no others), places
  // ascending.
  template <typename Visit>
  void ForEachBlock(const Range& range, Visit visit) const;

  const SearchOrder* order_ = nullptr;  // since Refresh(), as is the board
  const ScoreBoard* board_ = nullptr;
  uint64_t serial_ = 0;  // of the order; 0: nothing is known
  std::vector<Block> blocks_;
  StaleParts stale_;
};

}  // namespace berth::engine
