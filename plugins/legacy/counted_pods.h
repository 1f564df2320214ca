// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "berth/in_tree/cycle_state.h"
#include "berth/snapshot.h"

namespace berth::plugins {

// Pods that PreScore counted, for a plugin whose raw score of a node is how many there are. Each
// plugin derives a type of its own, under which it keeps them in the cycle state.
struct CountedPods {
  std::shared_ptr<const PodCounts> counts;  // nullptr: there is nothing to count

  size_t bytes() const { return ShareOf(counts, counts ? counts->by_row().bytes() : 0); }
};

// Sets scores[i] to how many pods are on nodes[i]. Scheduling thread.
void ScoreCounted(const CountedPods& counted, std::span<const NodeRow> nodes,
                  std::span<int64_t> scores);
// The same by a look at each pod, for a profile without PreScore; nullopt: there are none.
void ScoreUncounted(const std::optional<PodQuery>& query, const Snapshot& snapshot,
                    std::span<const NodeRow> nodes, std::span<int64_t> scores);

}  // namespace berth::plugins
