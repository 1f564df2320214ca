// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "berth/node_set.h"

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

// How many feasible nodes to look for among `nodes` when only `percentage` (1..100) of them are to
// be scored: at least 100, or all. kube-scheduler's numFeasibleNodesToFind.
size_t NumFeasibleNodesToFind(size_t nodes, int32_t percentage);
// What part of the nodes kube-scheduler looks at by default, in percent: 50 less one for each 125
// nodes, at least 5.
int32_t AdaptivePercentageOfNodesToScore(size_t nodes);

}  // namespace berth::engine
