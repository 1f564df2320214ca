// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "berth/node_set.h"
#include "src/engine/changes.h"

namespace berth::engine {

// A search that ends once enough feasible nodes are found.
struct Sample {
  std::span<const NodeRow> order;  // the nodes as the search goes through them, round and round
  size_t start = 0;                // a place in `order`, modulo its size
  size_t wanted = 1;               // feasible nodes, at least 1
};

// Leaves of `feasible`, all of whose nodes stand in the sample's order, those that the search
// finds. Returns how many nodes it looks at: those before the feasible one that is one too many, or
// all. `scratch` is for its capacity.
size_t TakeSample(const Sample& sample, NodeSet& feasible, NodeSet& scratch);

// Whether so many percent (0: all) are less than all nodes.
inline bool Samples(int32_t percentage) { return percentage > 0 && percentage < 100; }
// How many feasible nodes to look for among `nodes` when only `percentage` (1..100) of them are to
// be scored: at least 100, or all. kube-scheduler's numFeasibleNodesToFind.
size_t NumFeasibleNodesToFind(size_t nodes, int32_t percentage);
// What part of the nodes kube-scheduler looks at by default, in percent: 50 less one for each 125
// nodes, at least 5.
int32_t AdaptivePercentageOfNodesToScore(size_t nodes);

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
