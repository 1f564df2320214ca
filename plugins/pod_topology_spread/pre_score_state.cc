// SPDX-License-Identifier: Apache-2.0
#include "plugins/pod_topology_spread/pre_score_state.h"

#include <cmath>
#include <limits>
#include <string_view>
#include <utility>

#include "plugins/shared/natural_log.h"
#include "plugins/shared/touch_domain.h"

namespace berth::plugins {
namespace {

constexpr std::string_view kHostnameLabel = "kubernetes.io/hostname";

// How many values of the key the nodes have; lacking it is a value, the same as "".
size_t CountDomains(const Topology& topology, const NodeSet& nodes, DomainId blank) {
  if (nodes == topology.nodes) return topology.num_domains;
  std::vector<uint8_t> seen(topology.values.size(), 0);
  bool lacks_key = false;
  size_t domains = 0;
  nodes.ForEach([&](NodeRow row) {
    const DomainId domain = topology.domain_of[row];
    if (domain == kNoDomain) {
      lacks_key = true;
    } else if (seen[domain] == 0) {
      seen[domain] = 1;
      ++domains;
    }
  });
  const bool has_blank = blank != kNoDomain && seen[blank] != 0;
  return domains + (lacks_key && !has_blank ? 1 : 0);
}

// The order of these operations decides the last bit.
double Add(double score, int32_t pods, double weight, double tolerance) {
  return score + (static_cast<double>(pods) * weight + tolerance);
}

int64_t Rounded(double score) { return static_cast<int64_t>(std::round(score)); }

}  // namespace

SpreadPreScoreState::SpreadPreScoreState(const api::Pod& pod, const Snapshot& snapshot,
                                         SpreadConstraints constraints, const NodeSet& feasible,
                                         bool require_all_keys, bool comparison_operators)
    : content_(std::make_shared<Content>()) {
  std::vector<std::shared_ptr<const Topology>> topologies;
  content_->scope = snapshot.nodes();
  for (const SpreadConstraint& constraint : constraints) {
    topologies.push_back(snapshot.GetTopology(constraint.topology_key));
    if (require_all_keys) content_->scope &= topologies.back()->nodes;
  }
  NodeInclusion inclusion(pod, snapshot, comparison_operators);
  for (size_t i = 0; i < constraints.size(); ++i) {
    Soft& made = content_->soft.emplace_back();
    auto counts = CountPods(snapshot, constraints[i], pod.metadata.namespace_);
    made.tolerance = static_cast<double>(int64_t{constraints[i].max_skew} - 1);
    if (constraints[i].topology_key == kHostnameLabel) {
      // Policies do not matter here: a node's own pods count.
      made.by_node = true;
      made.node_pods = std::move(counts);
      made.pods = DomainPods(std::move(topologies[i]), nullptr, NodeSet());
      continue;
    }
    made.blank = topologies[i]->Find("");
    NodeSet counted = content_->scope;
    inclusion.Apply(constraints[i], counted);
    // Without a "" domain nobody reads what stands on nodes that lack the key.
    if (made.blank == kNoDomain) counted &= topologies[i]->nodes;
    made.pods =
        DomainPods(std::move(topologies[i]), std::move(counts), std::move(counted), made.blank);
  }
  SetFeasible(feasible, *content_);
}

bool SpreadPreScoreState::SetFeasible(const NodeSet& feasible, Content& content) {
  content.feasible = feasible;
  NodeSet scored = feasible;
  scored &= content.scope;
  content.ignored = feasible;
  content.ignored -= scored;
  bool differs = false;
  for (Soft& soft : content.soft) {
    const size_t domains =
        soft.by_node ? scored.Count() : CountDomains(soft.pods.topology(), scored, soft.blank);
    const double weight = NaturalLog(static_cast<double>(domains + 2));
    differs = std::exchange(soft.weight, weight) != weight || differs;
  }
  return differs;
}

int64_t SpreadPreScoreState::Score(NodeRow row) const {
  if (ignored().Test(row)) return 0;
  double score = 0;
  for (const Soft& soft : content_->soft) {
    const DomainId domain = soft.pods.topology().domain_of[row];
    if (domain == kNoDomain) continue;
    score = Add(score, Pods(soft, row, domain), soft.weight, soft.tolerance);
  }
  return Rounded(score);
}

void SpreadPreScoreState::ScoreNodes(std::span<const NodeRow> rows,
                                     std::span<int64_t> scores) const {
  const Soft* domains = nullptr;
  const Soft* nodes = nullptr;
  bool simple = ignored().Empty();
  for (const Soft& soft : content_->soft) {
    const Soft*& place = soft.by_node ? nodes : domains;
    simple = simple && place == nullptr;
    place = &soft;
  }
  if (!simple || domains == nullptr) {
    for (size_t i = 0; i < rows.size(); ++i) scores[i] = Score(rows[i]);
    return;
  }
  // Nodes of one domain that have as many pods score alike; most have few.
  constexpr int64_t kUnknown = std::numeric_limits<int64_t>::min();
  constexpr size_t kFewPods = 8;
  const Topology& topology = domains->pods.topology();
  std::vector<int64_t> known(topology.values.size() * kFewPods, kUnknown);
  for (size_t i = 0; i < rows.size(); ++i) {
    const NodeRow row = rows[i];
    const DomainId domain = topology.domain_of[row];
    size_t pods = 0;
    if (nodes != nullptr) {
      const bool has_key = nodes->pods.topology().domain_of[row] != kNoDomain;
      pods = has_key ? static_cast<size_t>(Pods(*nodes, row, kNoDomain)) : kFewPods;
    }
    if (domain == kNoDomain || pods >= kFewPods) {
      scores[i] = Score(row);
      continue;
    }
    int64_t& score = known[domain * kFewPods + pods];
    if (score == kUnknown) score = Score(row);
    scores[i] = score;
  }
}

void SpreadPreScoreState::Update(std::span<const NodeRow> rows, const NodeSet& feasible,
                                 NodeSet& touched) {
  Content& content = *content_;
  if (!(content.feasible == feasible)) {
    const bool any_ignored = !content.ignored.Empty();
    if (SetFeasible(feasible, content) || any_ignored || !content.ignored.Empty()) {
      touched.Assign(touched.size(), true);
    }
  }
  for (Soft& soft : content.soft) {
    for (const NodeRow row : rows) {
      const DomainId domain = soft.pods.topology().domain_of[row];
      if (soft.by_node) {
        touched.Set(row);
        continue;
      }
      if (domain == kNoDomain) {
        // Nodes without the key count in the "" domain, but score nothing for it.
        soft.pods.Update(row);
        if (soft.blank != kNoDomain) touched.Assign(touched.size(), true);
        continue;
      }
      const int32_t before = soft.pods.Get(domain);
      soft.pods.Update(row);
      if (soft.pods.Get(domain) != before) {
        TouchDomain(soft.pods.topology(), domain, row, touched);
      }
    }
  }
}

}  // namespace berth::plugins
