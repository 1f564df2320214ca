// SPDX-License-Identifier: Apache-2.0
#include "plugins/pod_topology_spread/pre_filter_state.h"

#include <algorithm>
#include <utility>

namespace berth::plugins {

SpreadPreFilterState::SpreadPreFilterState(const api::Pod& pod, const Snapshot& snapshot,
                                           SpreadConstraints constraints,
                                           bool comparison_operators) {
  auto hard = std::make_shared<std::vector<Hard>>(constraints.size());
  NodeSet with_all_keys = snapshot.nodes();
  for (size_t i = 0; i < constraints.size(); ++i) {
    Hard& made = (*hard)[i];
    made.constraint = std::move(constraints[i]);
    made.topology = snapshot.GetTopology(made.constraint.topology_key);
    made.selects_itself = made.constraint.selector.Matches(pod.metadata.labels);
    with_all_keys &= made.topology->nodes;
  }
  NodeInclusion inclusion(pod, snapshot, comparison_operators);
  for (Hard& made : *hard) {
    made.nodes = with_all_keys;
    inclusion.Apply(made.constraint, made.nodes);
    const auto counts = CountPods(snapshot, made.constraint, pod.metadata.namespace_);
    made.pods = PodsByDomain(*made.topology, counts.get(), made.nodes);
    const DomainSummary summary = Summarize(*made.topology, made.pods, made.nodes);
    made.num_domains = summary.num_domains;
    paths_.push_back(summary.paths);
  }
  hard_ = std::move(hard);
}

int32_t SpreadPreFilterState::Pods(size_t constraint, DomainId domain) const {
  int32_t pods = (*hard_)[constraint].pods[domain];
  for (const Change& change : changes_) {
    if (change.constraint == constraint && change.domain == domain) pods += change.delta;
  }
  return pods;
}

SpreadPreFilterState::Verdict SpreadPreFilterState::Judge(NodeRow row) const {
  for (size_t i = 0; i < hard_->size(); ++i) {
    const Hard& hard = (*hard_)[i];
    const DomainId domain = hard.topology->domain_of[row];
    if (domain == kNoDomain) return Verdict::kMissingLabel;
    const bool enough_domains =
        static_cast<int64_t>(hard.num_domains) >= hard.constraint.min_domains;
    const int64_t minimum = enough_domains ? paths_[i].minimum() : 0;
    const int64_t skew = Pods(i, domain) + int64_t{hard.selects_itself} - minimum;
    if (skew > hard.constraint.max_skew) return Verdict::kTooSkewed;
  }
  return Verdict::kPass;
}

void SpreadPreFilterState::Count(const api::Pod& pod, NodeRow row, int32_t delta) {
  for (size_t i = 0; i < hard_->size(); ++i) {
    const Hard& hard = (*hard_)[i];
    // Other than the counts of PreFilter: terminating pods count, and so does every pod where the
    // selector has no requirements.
    if (!hard.nodes.Test(row) || !hard.constraint.selector.Matches(pod.metadata.labels)) continue;
    const DomainId domain = hard.topology->domain_of[row];
    const auto known = std::ranges::find_if(changes_, [&](const Change& change) {
      return change.constraint == i && change.domain == domain;
    });
    if (known == changes_.end()) {
      changes_.push_back({i, domain, delta});
    } else {
      known->delta += delta;
    }
    paths_[i].Update(domain, Pods(i, domain));
  }
}

}  // namespace berth::plugins
