// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "src/explain/change.h"

namespace berth::fixes {

// How little a change changes: the smallest comes first. What undoes a passing state is cheap, what
// takes something from the pod dearer, what others have to give or pay dearest. docs/explain.md has
// the numbers for people.
int64_t Cost(const explain::Change& change);

// Of the whole fix: the sum.
int64_t Cost(const std::vector<explain::Change>& changes);

}  // namespace berth::fixes
