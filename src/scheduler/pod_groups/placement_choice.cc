// SPDX-License-Identifier: Apache-2.0
#include "src/scheduler/pod_groups/placement_choice.h"

#include <algorithm>
#include <string>
#include <vector>

#include "src/framework/placement_runtime.h"

namespace berth::scheduler {

GroupVerdict FitsNowhere(size_t placements, const GroupVerdict& one) {
  const bool of_group = !one.reasons.empty() && one.reasons.front() == kPodGroupUnschedulable;
  return {.code = Code::kUnschedulable,
          .reasons = {std::string(kPodGroupUnschedulable),
                      "0/" + std::to_string(placements) +
                          " placements are available, first placement status: " +
                          (of_group ? std::string(kPodGroupUnschedulable) : one.message())}};
}

void AddAssignments(const cache::Cache& cache, const PodGroupAttempt& group,
                    std::span<const NodeRow> rows, PodGroupAssignments& assignments) {
  for (size_t i = 0; i < rows.size(); ++i) {
    if (rows[i] == kNoRow) continue;
    assignments.assignments.push_back(
        {group.members[i].attempt.info().get(), cache.node(rows[i]).metadata.name});
  }
}

PlacementChoice ChoosePlacement(SchedulerState& state, const framework::Profile& profile,
                                framework::Cycle& cycle, const PodGroupInfo& group,
                                std::span<const PodGroupAssignments> placements) {
  if (placements.size() == 1) return {.status = {}, .best = 0};
  std::vector<int64_t> totals;
  if (const Status status = framework::RunScorePlacements(profile, cycle, group,
                                                          state.cluster.cache, placements, totals);
      !status.ok()) {
    return {.status = status, .best = 0};
  }
  const int64_t most = *std::ranges::max_element(totals);
  const auto ties = static_cast<uint64_t>(std::ranges::count(totals, most));
  uint64_t skip = ties == 1 ? 0 : state.random.Below(ties);
  size_t best = 0;
  for (size_t i = 0; i < totals.size(); ++i) {
    if (totals[i] != most) continue;
    best = i;
    if (skip-- == 0) break;
  }
  return {.status = {}, .best = best};
}

}  // namespace berth::scheduler
