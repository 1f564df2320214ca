// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>

#include "src/engine/judgement.h"
#include "src/engine/pod_group_preview.h"
#include "src/explain/explanation.h"

namespace berth::explain {

// Appends for people to read what the group has and lacks, and what becomes of its waiting pods, of
// those not more than `most_pods`.
//
// Thread safety: any thread.
void AppendPodGroupTable(const engine::PodGroupPreview& group, size_t most_pods, std::string& out);

// How much of a cluster a table shows.
struct TableLimits {
  size_t best_nodes = 10;
  size_t groups = 20;      // of rejected nodes
  size_t examples = 3;     // nodes named for a group
  size_t candidates = 10;  // for preemption
  size_t victims = 5;      // named for a candidate
  size_t group_pods = 20;  // of its pod group
  bool commands = false;   // how each fix is made with kubectl
};

// Appends an explained judgement for people to read: the result, the rejected nodes grouped by
// reason with the nearest misses first, and the best nodes with each plugin's weighted score (the
// raw one in brackets where it differs); what preemption would do, if that was asked, the best
// first.
//
// Thread safety: as the judgement's.
void AppendTable(const engine::Judgement& judgement, const TableLimits& limits, std::string& out);

// The same after where the pod is that was judged as if it waited, and before what else was asked:
// its pod group, its fixes, and where it stands in the queue.
void AppendTable(const Explanation& explanation, const TableLimits& limits, std::string& out);

}  // namespace berth::explain
