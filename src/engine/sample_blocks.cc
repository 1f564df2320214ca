// SPDX-License-Identifier: Apache-2.0
#include "src/engine/sample_blocks.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <utility>

namespace berth::engine {
namespace {

constexpr size_t kPlaces = 64;

uint64_t Below(size_t place) {
  return place == kPlaces ? ~uint64_t{0} : (uint64_t{1} << place) - 1;
}

// The one of `bits` that has `skip` others before it.
size_t NthBit(uint64_t bits, uint64_t skip) {
  for (; skip > 0; --skip) bits &= bits - 1;
  return static_cast<size_t>(std::countr_zero(bits));
}

}  // namespace

void SampleBlocks::Touch(const SearchOrder& order, const TouchedRows& rows) {
  if (serial_ != order.serial()) return;
  rows.ForEach([&](NodeRow row) {
    const uint32_t place = order.place(row);
    if (place != SearchOrder::kNoPlace) stale_.Mark(place / kPlaces);
  });
}

void SampleBlocks::Refresh(const SearchOrder& order, const ScoreBoard& board) {
  order_ = &order;
  board_ = &board;
  if (serial_ == order.serial()) {
    for (const uint32_t block : stale_.parts()) RefreshBlock(block);
    stale_.Clear();
  } else {
    serial_ = order.serial();
    blocks_.resize((order.size() + kPlaces - 1) / kPlaces);
    for (size_t block = 0; block < blocks_.size(); ++block) RefreshBlock(block);
    stale_.Reset(blocks_.size());
  }
}

void SampleBlocks::RefreshBlock(size_t block) {
  Block now{.best = std::numeric_limits<int64_t>::min()};
  const size_t begin = block * kPlaces;
  const size_t count = std::min(kPlaces, order_->size() - begin);
  for (size_t i = 0; i < count; ++i) {
    const NodeRow row = order_->row(begin + i);
    if (!board_->feasible().Test(row)) continue;
    now.feasible |= uint64_t{1} << i;
    const int64_t base = board_->base(row);
    if (base > now.best) {
      now.best = base;
      now.ties = 1;
    } else if (base == now.best) {
      ++now.ties;
    }
  }
  blocks_[block] = now;
}

SampleBlocks::Range SampleBlocks::Find(size_t first, size_t wanted) const {
  const size_t places = order_->size();
  if (board_->num_feasible() <= wanted) return {first, places};
  // The block of the first place is looked at twice: from that place on, and in the end up to it.
  size_t left = wanted;  // to be found before the one too many
  size_t block = first / kPlaces;
  uint64_t feasible = blocks_[block].feasible & ~Below(first % kPlaces);
  for (;;) {
    const auto found = static_cast<size_t>(std::popcount(feasible));
    if (found > left) break;
    left -= found;
    if (++block == blocks_.size()) block = 0;
    feasible = blocks_[block].feasible;
  }
  const size_t end = block * kPlaces + NthBit(feasible, left);
  return {first, end >= first ? end - first : end + places - first};
}

template <typename Visit>
void SampleBlocks::ForEachBlock(const Range& range, Visit visit) const {
  const auto visit_places = [&](size_t begin, size_t end) {
    for (size_t block = begin / kPlaces; block * kPlaces < end; ++block) {
      const size_t from = std::max(begin, block * kPlaces) - block * kPlaces;
      const size_t to = std::min(end - block * kPlaces, kPlaces);
      const uint64_t all = blocks_[block].feasible;
      const uint64_t feasible = all & Below(to) & ~Below(from);
      if (feasible != 0) visit(block, feasible, feasible == all);
    }
  };
  const size_t places = order_->size();
  const size_t end = range.first + range.count;
  if (end > places) visit_places(0, end - places);
  visit_places(range.first, std::min(end, places));
}

ScoreBoard::Best SampleBlocks::FindBest(const Range& range) const {
  ScoreBoard::Best best;
  ForEachBlock(range, [&](size_t block, uint64_t places, bool whole) {
    if (whole) {
      best.Add(blocks_[block].best, blocks_[block].ties);
      return;
    }
    for (; places != 0; places &= places - 1) {
      const auto place = static_cast<size_t>(std::countr_zero(places));
      best.Add(board_->base(order_->row(block * kPlaces + place)), 1);
    }
  });
  return best;
}

void SampleBlocks::Collect(const Range& range, NodeSet& rows) const {
  rows.Assign(board_->num_rows(), false);
  ForEachBlock(range, [&](size_t block, uint64_t places, bool) {
    for (; places != 0; places &= places - 1) {
      rows.Set(order_->row(block * kPlaces + static_cast<size_t>(std::countr_zero(places))));
    }
  });
}

NodeRow SampleBlocks::Nth(const Range& range, const ScoreBoard::Best& best, uint64_t skip,
                          NodeSet& scratch) const {
  const bool ascending = order_->ascending();
  if (!ascending) scratch.Assign(board_->num_rows(), false);
  NodeRow nth = kNoRow;
  ForEachBlock(range, [&](size_t block, uint64_t places, bool whole) {
    if (nth != kNoRow || blocks_[block].best < best.total) return;
    if (ascending && whole && skip >= blocks_[block].ties) {
      skip -= blocks_[block].ties;
      return;
    }
    for (; places != 0; places &= places - 1) {
      const NodeRow row =
          order_->row(block * kPlaces + static_cast<size_t>(std::countr_zero(places)));
      if (board_->base(row) != best.total) continue;
      if (!ascending) {
        scratch.Set(row);
      } else if (skip-- == 0) {
        nth = row;
        return;
      }
    }
  });
  if (ascending) return nth;
  const auto words = std::as_const(scratch).words();
  for (size_t i = 0;; ++i) {
    const auto count = static_cast<uint64_t>(std::popcount(words[i]));
    if (skip < count) return static_cast<NodeRow>(i * 64 + NthBit(words[i], skip));
    skip -= count;
  }
}

}  // namespace berth::engine
