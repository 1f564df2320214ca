// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "berth/snapshot.h"

// How many pods have room at most, whichever others move.
namespace berth::plan {

// What a pod asks for of what every node has.
struct Ask {
  int64_t milli_cpu = 0;
  int64_t memory = 0;
  int64_t slots = 0;
};

// The pods that wait and are of one priority.
struct Level {
  std::vector<Ask> asks = {};
  size_t placed = 0;  // how many of them have nodes in the end
};

// Whether no plan has nodes for more of the pods; the most important level comes first, and more of
// it count for more than any number of the next. It is counted by what is free on all nodes
// together, so false says nothing.
bool PlacesMost(const std::vector<Level>& levels, const Snapshot& snapshot);

}  // namespace berth::plan
