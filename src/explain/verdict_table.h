// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>

#include "src/engine/judgement.h"

namespace berth::explain {

// How much of a cluster a table shows.
struct TableLimits {
  size_t best_nodes = 10;
  size_t groups = 20;      // of rejected nodes
  size_t examples = 3;     // nodes named for a group
  size_t candidates = 10;  // for preemption
  size_t victims = 5;      // named for a candidate
};

// Appends an explained judgement for people to read: the result, the rejected nodes grouped by
// reason with the nearest misses first, and the best nodes with each plugin's weighted score (the
// raw one in brackets where it differs); what preemption would do, if that was asked, the best
// first.
//
// Thread safety: as the judgement's.
void AppendTable(const engine::Judgement& judgement, const TableLimits& limits, std::string& out);

}  // namespace berth::explain
