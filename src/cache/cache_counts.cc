// SPDX-License-Identifier: Apache-2.0
#include "src/cache/cache.h"

namespace berth::cache {

std::shared_ptr<const Topology> Cache::GetTopology(std::string_view key) const {
  BERTH_ON_THREAD(owner_);
  return topologies_.Get(key);
}

std::shared_ptr<const PodCounts> Cache::CountPods(const PodQuery& query) const {
  BERTH_ON_THREAD(owner_);
  return pod_counts_.Get(query);
}

uint64_t Cache::StepsToCountPods(const PodQuery& query) const {
  BERTH_ON_THREAD(owner_);
  return pod_counts_.StepsToCount(query);
}

void Cache::MatchingAffinityTerms(const api::Pod& pod, const api::StringMap& namespace_labels,
                                  AffinityTermKinds kinds,
                                  std::vector<AffinityTermCounts>& out) const {
  BERTH_ON_THREAD(owner_);
  affinity_terms_.AddMatching(pod, namespace_labels, kinds, out);
}

void Cache::CountAcrossNodes(NodeRow row, const PodInfo& pod, int32_t delta) {
  pod_counts_.Count(row, pod.pod, delta);
  if (pod.affinity != nullptr) affinity_terms_.Count(row, *pod.affinity, delta);
}

void Cache::LabelsChanged(NodeRow row, const api::StringMap& before, const api::StringMap& now) {
  label_keys_.Update(before, now);
  labels_.Update(row, before, now);
  if (!topologies_.Moves(before, now)) return;
  // The pods leave the domains that the node leaves, and join those that it joins.
  for (const PodInfo* pod : pods_.pods(row)) CountAcrossNodes(row, *pod, -1);
  topologies_.Update(row, before, now);
  for (const PodInfo* pod : pods_.pods(row)) CountAcrossNodes(row, *pod, 1);
}

}  // namespace berth::cache
