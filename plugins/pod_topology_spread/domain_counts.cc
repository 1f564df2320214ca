// SPDX-License-Identifier: Apache-2.0
#include "plugins/pod_topology_spread/domain_counts.h"

#include <utility>

#include "plugins/shared/tolerated_taints.h"

namespace berth::plugins {

void CriticalPaths::Update(DomainId domain, int32_t pods) {
  for (Path& path : least_) {
    if (path.domain != domain) continue;
    path.pods = pods;
    if (least_[0].pods > least_[1].pods) std::swap(least_[0], least_[1]);
    return;
  }
  if (pods < least_[0].pods) {
    least_[1] = std::exchange(least_[0], {domain, pods});
  } else if (pods < least_[1].pods) {
    least_[1] = {domain, pods};
  }
}

NodeInclusion::NodeInclusion(const api::Pod& pod, const Snapshot& snapshot,
                             bool comparison_operators)
    : pod_(pod),
      snapshot_(snapshot),
      comparison_operators_(comparison_operators),
      affinity_(RequiredNodeAffinity::Make(pod)) {}

void NodeInclusion::Apply(const SpreadConstraint& constraint, NodeSet& nodes) {
  if (constraint.honors_node_affinity && !affinity_.empty()) nodes &= WithAffinity();
  if (constraint.honors_node_taints) nodes &= WithTolerated();
}

const NodeSet& NodeInclusion::WithAffinity() {
  if (!with_affinity_) {
    with_affinity_ = snapshot_.nodes();
    affinity_.FilterNodes(snapshot_, *with_affinity_);
  }
  return *with_affinity_;
}

const NodeSet& NodeInclusion::WithTolerated() {
  if (!with_tolerated_) {
    with_tolerated_ = snapshot_.nodes();
    FilterTolerated(pod_.spec.tolerations, comparison_operators_, snapshot_, *with_tolerated_);
  }
  return *with_tolerated_;
}

std::shared_ptr<const PodCounts> CountPods(const Snapshot& snapshot,
                                           const SpreadConstraint& constraint,
                                           const std::string& namespace_) {
  if (!constraint.counts_pods()) return nullptr;
  PodTerm term;
  term.namespaces = {namespace_};
  term.selector = constraint.selector;
  PodQuery query;
  query.all_of.push_back(std::move(term));
  query.skip_terminating = true;
  return snapshot.CountPods(query);
}

std::vector<int32_t> PodsByDomain(const Topology& topology, const PodCounts* counts,
                                  const NodeSet& nodes, DomainId blank) {
  std::vector<int32_t> pods(topology.values.size());
  if (counts == nullptr) return pods;
  if (nodes == topology.nodes) {
    counts->by_domain(topology).ForEach(
        [&](DomainId domain, int32_t count) { pods[domain] = count; });
    return pods;
  }
  counts->by_row().ForEach([&](NodeRow row, int32_t count) {
    if (!nodes.Test(row)) return;
    const DomainId own = topology.domain_of[row];
    const DomainId domain = own == kNoDomain ? blank : own;
    if (domain != kNoDomain) pods[domain] += count;
  });
  return pods;
}

DomainSummary Summarize(const Topology& topology, const std::vector<int32_t>& pods_by_domain,
                        const NodeSet& nodes) {
  DomainSummary summary;
  const auto add = [&](DomainId domain) {
    summary.paths.Update(domain, pods_by_domain[domain]);
    return !summary.paths.settled();
  };
  const auto end = static_cast<DomainId>(pods_by_domain.size());
  if (nodes == topology.nodes) {
    summary.num_domains = topology.num_domains;
    for (DomainId domain = 0; domain < end; ++domain) {
      if (topology.num_nodes[domain] > 0 && !add(domain)) break;
    }
    return summary;
  }
  std::vector<bool> present(end);
  nodes.ForEach([&](NodeRow row) {
    std::vector<bool>::reference seen = present[topology.domain_of[row]];
    if (!seen) ++summary.num_domains;
    seen = true;
  });
  for (DomainId domain = 0; domain < end; ++domain) {
    if (present[domain] && !add(domain)) break;
  }
  return summary;
}

}  // namespace berth::plugins
