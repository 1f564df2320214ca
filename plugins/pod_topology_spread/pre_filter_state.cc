// SPDX-License-Identifier: Apache-2.0
#include "plugins/pod_topology_spread/pre_filter_state.h"

#include <algorithm>
#include <utility>

#include "plugins/shared/touch_domain.h"

namespace berth::plugins {

SpreadPreFilterState::SpreadPreFilterState(const api::Pod& pod, const Snapshot& snapshot,
                                           SpreadConstraints constraints, bool comparison_operators)
    : hard_(std::make_shared<std::vector<Hard>>(constraints.size())) {
  NodeSet with_all_keys = snapshot.nodes();
  std::vector<std::shared_ptr<const Topology>> topologies;
  for (const SpreadConstraint& constraint : constraints) {
    topologies.push_back(snapshot.GetTopology(constraint.topology_key));
    with_all_keys &= topologies.back()->nodes;
  }
  NodeInclusion inclusion(pod, snapshot, comparison_operators);
  for (size_t i = 0; i < constraints.size(); ++i) {
    Hard& made = (*hard_)[i];
    made.constraint = std::move(constraints[i]);
    made.selects_itself = made.constraint.selector.Matches(pod.metadata.labels);
    NodeSet nodes = with_all_keys;
    inclusion.Apply(made.constraint, nodes);
    auto counts = topologies[i]->num_domains == 0
                      ? nullptr
                      : CountPods(snapshot, made.constraint, pod.metadata.namespace_);
    made.pods = DomainPods(std::move(topologies[i]), std::move(counts), std::move(nodes));
    made.domains = made.pods.Domains();
    paths_.push_back(Summarize(made.pods, made.domains));
  }
}

int32_t SpreadPreFilterState::Pods(size_t constraint, DomainId domain) const {
  const int32_t pods = (*hard_)[constraint].pods.Get(domain);
  return changes_.empty() ? pods : pods + changes_[constraint].Get(domain);
}

int64_t SpreadPreFilterState::Minimum(size_t constraint) const {
  const Hard& hard = (*hard_)[constraint];
  const bool enough_domains =
      static_cast<int64_t>(hard.domains.size()) >= hard.constraint.min_domains;
  return enough_domains ? paths_[constraint].minimum() : 0;
}

bool SpreadPreFilterState::TooSkewed(size_t constraint, int64_t pods, int64_t minimum) const {
  const Hard& hard = (*hard_)[constraint];
  return pods + int64_t{hard.selects_itself} - minimum > hard.constraint.max_skew;
}

size_t SpreadPreFilterState::bytes() const {
  size_t bytes = 0;
  for (const Hard& hard : *hard_) {
    bytes += sizeof(hard) + hard.pods.bytes() + hard.domains.capacity() * sizeof(DomainId);
  }
  return bytes;
}

SpreadPreFilterState::Verdict SpreadPreFilterState::Judge(NodeRow row) const {
  for (size_t i = 0; i < hard_->size(); ++i) {
    const DomainId domain = (*hard_)[i].pods.topology().domain_of[row];
    if (domain == kNoDomain) return Verdict::kMissingLabel;
    if (TooSkewed(i, Pods(i, domain), Minimum(i))) return Verdict::kTooSkewed;
  }
  return Verdict::kPass;
}

void SpreadPreFilterState::FilterNodes(NodeSet& nodes) const {
  std::vector<uint8_t> fine;  // by domain
  for (size_t i = 0; i < hard_->size(); ++i) {
    const Topology& topology = (*hard_)[i].pods.topology();
    const int64_t minimum = Minimum(i);
    fine.resize(topology.values.size());
    for (DomainId domain = 0; domain < fine.size(); ++domain) {
      fine[domain] = !TooSkewed(i, Pods(i, domain), minimum);
    }
    nodes &= topology.nodes;
    nodes.Filter([&, domain_of = topology.domain_of.data()](NodeRow row) {
      return fine[domain_of[row]] != 0;
    });
  }
}

void SpreadPreFilterState::Count(const api::Pod& pod, NodeRow row, int32_t delta) {
  changes_.resize(hard_->size());
  for (size_t i = 0; i < hard_->size(); ++i) {
    const Hard& hard = (*hard_)[i];
    // Other than the counts of PreFilter: terminating pods count, and so does every pod where the
    // selector has no requirements.
    if (!hard.pods.nodes().Test(row) || !hard.constraint.selector.Matches(pod.metadata.labels)) {
      continue;
    }
    const DomainId domain = hard.pods.topology().domain_of[row];
    changes_[i].Add(domain, delta);
    paths_[i].Update(domain, Pods(i, domain));
  }
}

void SpreadPreFilterState::Update(std::span<const NodeRow> rows, NodeSet& touched) {
  for (size_t i = 0; i < hard_->size(); ++i) {
    Hard& hard = (*hard_)[i];
    const Topology& topology = hard.pods.topology();
    const int64_t minimum = Minimum(i);
    bool minimum_may_differ = false;
    for (const NodeRow row : rows) {
      const DomainId domain = topology.domain_of[row];
      if (domain == kNoDomain) continue;
      const int32_t before = hard.pods.Get(domain);
      hard.pods.Update(row);
      const int32_t now = hard.pods.Get(domain);
      if (now == before) continue;
      minimum_may_differ = minimum_may_differ || before <= minimum || now < minimum;
      if (TooSkewed(i, before, minimum) != TooSkewed(i, now, minimum)) {
        TouchDomain(topology, domain, row, touched);
      }
    }
    if (!minimum_may_differ) continue;
    paths_[i] = Summarize(hard.pods, hard.domains);
    const int64_t new_minimum = Minimum(i);
    if (new_minimum == minimum) continue;
    std::vector<uint8_t> differs(topology.values.size(), 0);
    for (DomainId domain = 0; domain < differs.size(); ++domain) {
      const int32_t pods = hard.pods.Get(domain);
      differs[domain] = TooSkewed(i, pods, minimum) != TooSkewed(i, pods, new_minimum);
    }
    if (std::ranges::find(differs, 1) == differs.end()) continue;
    topology.nodes.ForEach([&, domain_of = topology.domain_of.data()](NodeRow row) {
      if (differs[domain_of[row]] != 0) touched.Set(row);
    });
  }
}

}  // namespace berth::plugins
