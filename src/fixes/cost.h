// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "src/explain/fix.h"

namespace berth::fixes {

// How much a change changes; the smallest comes first. What undoes a passing state is cheap, what
// takes something from the pod dearer, what others have to give or pay dearest:
//
//   Uncordon      10
//   LowerRequest  10, and one for each percent of the request that goes
//   Tolerate      20
//   AddNode       60
int64_t Cost(const explain::Change& change);

// Of the whole fix: the sum.
int64_t Cost(const std::vector<explain::Change>& changes);

}  // namespace berth::fixes
