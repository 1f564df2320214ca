// SPDX-License-Identifier: Apache-2.0
#include "plugins/pod_topology_spread/pre_score_state.h"

#include <cmath>
#include <string_view>
#include <utility>

#include "plugins/pod_topology_spread/domain_counts.h"
#include "plugins/shared/natural_log.h"

namespace berth::plugins {
namespace {

constexpr std::string_view kHostnameLabel = "kubernetes.io/hostname";

// How many values of the key the nodes have; lacking it is a value, the same as "".
size_t CountDomains(const Topology& topology, const NodeSet& nodes, DomainId blank) {
  if (nodes == topology.nodes) return topology.num_domains;
  std::vector<bool> seen(topology.values.size());
  bool lacks_key = false;
  size_t domains = 0;
  nodes.ForEach([&](NodeRow row) {
    const DomainId domain = topology.domain_of[row];
    if (domain == kNoDomain) {
      lacks_key = true;
    } else if (!seen[domain]) {
      seen[domain] = true;
      ++domains;
    }
  });
  const bool has_blank = blank != kNoDomain && seen[blank];
  return domains + (lacks_key && !has_blank ? 1 : 0);
}

}  // namespace

SpreadPreScoreState::SpreadPreScoreState(const api::Pod& pod, const Snapshot& snapshot,
                                         SpreadConstraints constraints, const NodeSet& feasible,
                                         bool require_all_keys, bool comparison_operators) {
  auto soft = std::make_shared<std::vector<Soft>>(constraints.size());
  NodeSet scope = snapshot.nodes();
  for (size_t i = 0; i < constraints.size(); ++i) {
    (*soft)[i].topology = snapshot.GetTopology(constraints[i].topology_key);
    if (require_all_keys) scope &= (*soft)[i].topology->nodes;
  }
  NodeSet scored = feasible;
  scored &= scope;
  auto ignored = std::make_shared<NodeSet>(feasible);
  *ignored -= scored;

  NodeInclusion inclusion(pod, snapshot, comparison_operators);
  for (size_t i = 0; i < constraints.size(); ++i) {
    Soft& made = (*soft)[i];
    const Topology& topology = *made.topology;
    auto counts = CountPods(snapshot, constraints[i], pod.metadata.namespace_);
    size_t domains = 0;
    if (constraints[i].topology_key == kHostnameLabel) {
      // Policies do not matter here: a node's own pods count.
      made.by_node = true;
      made.node_pods = std::move(counts);
      domains = scored.Count();
    } else {
      const DomainId blank = topology.Find("");
      NodeSet counted = scope;
      inclusion.Apply(constraints[i], counted);
      // Without a "" domain nobody reads what stands on nodes that lack the key.
      if (blank == kNoDomain) counted &= topology.nodes;
      made.pods = PodsByDomain(topology, counts.get(), counted, blank);
      domains = CountDomains(topology, scored, blank);
    }
    made.weight = NaturalLog(static_cast<double>(domains + 2));
    made.tolerance = static_cast<double>(int64_t{constraints[i].max_skew} - 1);
  }
  soft_ = std::move(soft);
  ignored_ = std::move(ignored);
}

int64_t SpreadPreScoreState::Score(NodeRow row) const {
  if (ignored_->Test(row)) return 0;
  double score = 0;
  for (const Soft& soft : *soft_) {
    const DomainId domain = soft.topology->domain_of[row];
    if (domain == kNoDomain) continue;
    // The order of these operations decides the last bit.
    score += static_cast<double>(Pods(soft, row, domain)) * soft.weight + soft.tolerance;
  }
  return static_cast<int64_t>(std::round(score));
}

}  // namespace berth::plugins
