// SPDX-License-Identifier: Apache-2.0
#include "plugins/inter_pod_affinity/score_state.h"

#include <algorithm>
#include <utility>

namespace berth::plugins {

void PodAffinityScoreState::Add(const Snapshot& snapshot, std::string_view key,
                                const Counts& by_domain, int64_t weight) {
  if (by_domain.empty()) return;
  auto at = std::find_if(keys_.begin(), keys_.end(),
                         [key](const Key& known) { return known.topology->key == key; });
  if (at == keys_.end()) {
    std::shared_ptr<const Topology> topology = snapshot.GetTopology(key);
    const size_t num_domains = topology->values.size();
    keys_.push_back({std::move(topology), std::vector<int64_t>(num_domains, 0)});
    at = std::prev(keys_.end());
  }
  by_domain.ForEach(
      [&](DomainId domain, int32_t count) { at->scores[domain] += weight * int64_t{count}; });
}

int64_t PodAffinityScoreState::Score(NodeRow row) const {
  int64_t score = 0;
  for (const Key& key : keys_) {
    const DomainId domain = key.topology->domain_of[row];
    if (domain != kNoDomain) score += key.scores[domain];
  }
  return score;
}

void PodAffinityScoreState::ScoreNodes(std::span<const NodeRow> nodes,
                                       std::span<int64_t> scores) const {
  std::fill(scores.begin(), scores.end(), 0);
  for (const Key& key : keys_) {
    const DomainId* domain_of = key.topology->domain_of.data();
    for (size_t i = 0; i < nodes.size(); ++i) {
      const DomainId domain = domain_of[nodes[i]];
      if (domain != kNoDomain) scores[i] += key.scores[domain];
    }
  }
}

}  // namespace berth::plugins
