// SPDX-License-Identifier: Apache-2.0
#include "src/engine/sample.h"

#include <algorithm>
#include <utility>

namespace berth::engine {
namespace {

constexpr size_t kMinFeasibleNodesToFind = 100;

}  // namespace

size_t TakeSample(const Sample& sample, NodeSet& feasible, NodeSet& scratch) {
  const size_t nodes = sample.order.size();
  if (feasible.Count() <= sample.wanted) return nodes;
  scratch.Assign(feasible.size(), false);
  size_t looked_at = 0;
  size_t at = sample.start % nodes;
  for (size_t found = 0;; ++looked_at) {
    const NodeRow row = sample.order[at];
    if (feasible.Test(row)) {
      if (found++ == sample.wanted) break;
      scratch.Set(row);
    }
    if (++at == nodes) at = 0;
  }
  std::swap(feasible, scratch);
  return looked_at;
}

size_t NumFeasibleNodesToFind(size_t nodes, int32_t percentage) {
  if (nodes < kMinFeasibleNodesToFind) return nodes;
  const size_t wanted = nodes * static_cast<size_t>(percentage) / 100;
  return std::max(wanted, kMinFeasibleNodesToFind);
}

int32_t AdaptivePercentageOfNodesToScore(size_t nodes) {
  constexpr int64_t kDefault = 50;
  constexpr int64_t kLeast = 5;
  constexpr int64_t kNodesForOneLess = 125;
  return static_cast<int32_t>(
      std::max(kDefault - static_cast<int64_t>(nodes) / kNodesForOneLess, kLeast));
}

void SearchOrder::Refresh(Changes& changes, std::span<const NodeRow> rows) {
  const bool is_new = serial_ == 0;
  if (!is_new && generation_ == changes.cache().generation()) return;
  changes.Read(generation_);
  generation_ = changes.generation();
  if (!is_new && changes.complete() && changes.nodes().empty()) return;
  ++serial_;
  rows_.assign(rows.begin(), rows.end());
  ascending_ = std::ranges::is_sorted(rows_);
  places_.assign(changes.cache().num_rows(), kNoPlace);
  for (size_t place = 0; place < rows_.size(); ++place) {
    places_[rows_[place]] = static_cast<uint32_t>(place);
  }
}

}  // namespace berth::engine
