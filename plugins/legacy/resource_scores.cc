// SPDX-License-Identifier: Apache-2.0
#include "plugins/legacy/resource_scores.h"

namespace berth::plugins {

// What the containers request, without pod-level resources, as NodeResourcesFit scores it.
std::vector<AllocationTerm> ResourceScore::TermsFor(const PodInfo& pod) const {
  const PodRequestsOptions options{
      .use_status = false, .pod_level = false, .pod_level_status = false, .non_missing = true};
  return resources_.Terms(resources_.PodAmounts(*pod.pod, options));
}

ScoreResult ResourceScore::Score(const CycleState&, const PodInfo& pod,
                                 const NodeView& node) const {
  const std::vector<AllocationTerm> terms = TermsFor(pod);
  return {strategy_.Score(terms, ViewAllocations(node, terms, NodeAmounts::kNonZeroRequested))};
}

void ResourceScore::ScoreNodes(const CycleState&, const PodInfo& pod, const Snapshot& snapshot,
                               std::span<const NodeRow> nodes, std::span<int64_t> scores) const {
  const std::vector<AllocationTerm> terms = TermsFor(pod);
  ColumnAllocations allocations(snapshot, terms, NodeAmounts::kNonZeroRequested);
  for (size_t i = 0; i < nodes.size(); ++i) {
    allocations.MoveTo(nodes[i]);
    scores[i] = strategy_.Score(terms, allocations);
  }
}

}  // namespace berth::plugins
