// SPDX-License-Identifier: Apache-2.0
#include "plugins/pod_group_pods_count/pod_group_pods_count.h"

#include <algorithm>

namespace berth::plugins {

ScoreResult PodGroupPodsCount::ScorePlacement(CycleState&, const PodGroupInfo& group,
                                              const Snapshot&,
                                              const PodGroupAssignments& placement) {
  size_t scheduled = 0;
  group.ForEachPodGroup([&](const api::PodGroup& pod_group) {
    const api::ObjectMeta& metadata = pod_group.metadata;
    const PodGroupState* pods = handle_.pod_groups().Find(metadata.namespace_, metadata.name);
    if (pods != nullptr) scheduled += pods->scheduled;
  });
  return {static_cast<int64_t>(scheduled + placement.assignments.size())};
}

Status PodGroupPodsCount::NormalizePlacementScores(CycleState& state, const PodGroupInfo&,
                                                   std::span<int64_t> scores) {
  const int64_t most = scores.empty() ? 0 : *std::max_element(scores.begin(), scores.end());
  if (most <= 0) {
    return state.reasons().Error(
        "no pods from pod group are assigned to any of the candidate placements");
  }
  for (int64_t& score : scores) score = score * kMaxNodeScore / most;
  return {};
}

}  // namespace berth::plugins
