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

}  // namespace berth::engine
