// SPDX-License-Identifier: Apache-2.0
#include "plugins/legacy/counted_pods.h"

#include <algorithm>

namespace berth::plugins {

void ScoreCounted(const CountedPods& counted, std::span<const NodeRow> nodes,
                  std::span<int64_t> scores) {
  std::ranges::fill(scores, 0);
  if (counted.counts == nullptr) return;
  const Counts& counts = counted.counts->by_row();
  for (size_t i = 0; i < nodes.size(); ++i) scores[i] = counts.Get(nodes[i]);
}

void ScoreUncounted(const std::optional<PodQuery>& query, const Snapshot& snapshot,
                    std::span<const NodeRow> nodes, std::span<int64_t> scores) {
  std::ranges::fill(scores, 0);
  if (!query) return;
  for (size_t i = 0; i < nodes.size(); ++i) {
    for (const PodInfo* placed : snapshot.pods(nodes[i])) {
      scores[i] += query->Matches(*placed->pod) ? 1 : 0;
    }
  }
}

}  // namespace berth::plugins
