// SPDX-License-Identifier: Apache-2.0
#include "plugins/pod_topology_spread/pre_score_state.h"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>

#include "plugins/shared/natural_log.h"
#include "plugins/shared/touch_domain.h"

namespace berth::plugins {
namespace {

constexpr std::string_view kHostnameLabel = "kubernetes.io/hostname";
// More matching pods on a node are not looked for in groups.
constexpr size_t kPodsPerNode = 128;
constexpr size_t kMaxGroups = 2048;

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
    auto counts = topologies[i]->num_domains == 0
                      ? nullptr
                      : CountPods(snapshot, constraints[i], pod.metadata.namespace_);
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
    // Without a "" domain the counts of nodes that lack the key are never read.
    if (made.blank == kNoDomain) counted &= topologies[i]->nodes;
    made.pods =
        DomainPods(std::move(topologies[i]), std::move(counts), std::move(counted), made.blank);
  }
  SetFeasible(feasible, *content_);
  MakeGroups(*content_, snapshot.num_rows());
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

size_t SpreadPreScoreState::bytes() const {
  const Content& content = *content_;
  size_t bytes = sizeof(content) + content.groups.bytes();
  for (const NodeSet* set : {&content.scope, &content.feasible, &content.ignored}) {
    bytes += set->words().size_bytes();
  }
  for (const Soft& soft : content.soft) {
    bytes += sizeof(soft) + soft.pods.bytes();
    if (soft.node_pods != nullptr)
      bytes += ShareOf(soft.node_pods, soft.node_pods->by_row().bytes());
  }
  return bytes;
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
  const Content& content = *content_;
  if (content.groups.empty()) {
    for (size_t i = 0; i < rows.size(); ++i) scores[i] = Score(rows[i]);
  } else {
    const std::span<const int64_t> by_group = content.groups.scores();
    for (size_t i = 0; i < rows.size(); ++i) scores[i] = by_group[content.groups.of_row()[rows[i]]];
  }
}

std::optional<ScoreGroups> SpreadPreScoreState::Groups() const {
  if (content_->groups.empty()) return std::nullopt;
  return ScoreGroups{content_->groups.of_row(), content_->groups.scores()};
}

// At most one constraint over domains and one over nodes, and every node gets a score.
void SpreadPreScoreState::MakeGroups(Content& content, size_t rows) {
  size_t domains = 1;
  size_t by_node = 0;
  size_t by_domain = 0;
  for (const Soft& soft : content.soft) {
    ++(soft.by_node ? by_node : by_domain);
    if (!soft.by_node) domains = soft.pods.topology().values.size() + 1;
  }
  const size_t pods = by_node == 0 ? 1 : kPodsPerNode + 1;
  if (by_node > 1 || by_domain > 1 || domains * pods > kMaxGroups || !content.ignored.Empty()) {
    return;
  }
  content.groups.Reset(rows, domains, pods);
  bool all = true;
  content.scope.ForEach([&](NodeRow row) {
    const auto place = PlaceOf(content, row);
    all = all && place.has_value();
    if (all) content.groups.Put(row, place->domain, place->pods);
  });
  if (all) {
    ScoreEachGroup(content);
  } else {
    content.groups.Clear();
  }
}

std::optional<SpreadPreScoreState::Place> SpreadPreScoreState::PlaceOf(const Content& content,
                                                                       NodeRow row) {
  Place place;
  for (const Soft& soft : content.soft) {
    const Topology& topology = soft.pods.topology();
    const DomainId own = topology.domain_of[row];
    if (!soft.by_node) {
      place.domain = own == kNoDomain ? topology.values.size() : own;
      continue;
    }
    place.pods = own == kNoDomain ? kPodsPerNode : static_cast<size_t>(Pods(soft, row, own));
    if (own != kNoDomain && place.pods >= kPodsPerNode) return std::nullopt;
  }
  return place;
}

void SpreadPreScoreState::ScoreEachGroup(Content& content) {
  content.groups.Score([&content](size_t domain, size_t pods) {
    double score = 0;
    for (const Soft& soft : content.soft) {
      if (soft.by_node) {
        if (pods == kPodsPerNode) continue;
        score = Add(score, static_cast<int32_t>(pods), soft.weight, soft.tolerance);
      } else if (domain < soft.pods.topology().values.size()) {
        const int32_t counted = soft.pods.Get(static_cast<DomainId>(domain));
        score = Add(score, counted, soft.weight, soft.tolerance);
      }
    }
    return Rounded(score);
  });
}

bool SpreadPreScoreState::Update(std::span<const NodeRow> rows, const NodeSet& feasible,
                                 NodeSet& touched) {
  Content& content = *content_;
  const bool grouped = !content.groups.empty();
  if (!(content.feasible == feasible)) {
    const bool any_ignored = !content.ignored.Empty();
    const bool differs = SetFeasible(feasible, content);
    if (any_ignored || !content.ignored.Empty()) return false;
    if (differs && !grouped) touched.Assign(touched.size(), true);
  }
  if (!grouped) {
    UpdateRows(rows, content, touched);
    return true;
  }
  for (const NodeRow row : rows) {
    for (Soft& soft : content.soft) {
      if (!soft.by_node) soft.pods.Update(row);
    }
    if (!content.scope.Test(row)) continue;
    const auto place = PlaceOf(content, row);
    if (!place) return false;
    if (content.groups.Put(row, place->domain, place->pods)) touched.Set(row);
  }
  ScoreEachGroup(content);
  return true;
}

void SpreadPreScoreState::UpdateRows(std::span<const NodeRow> rows, Content& content,
                                     NodeSet& touched) {
  for (Soft& soft : content.soft) {
    const Topology& topology = soft.pods.topology();
    for (const NodeRow row : rows) {
      const DomainId domain = topology.domain_of[row];
      if (soft.by_node) {
        touched.Set(row);
      } else if (domain == kNoDomain) {
        // Nodes without the key count in the "" domain, but score nothing for it.
        soft.pods.Update(row);
        if (soft.blank != kNoDomain) touched.Assign(touched.size(), true);
      } else {
        const int32_t before = soft.pods.Get(domain);
        soft.pods.Update(row);
        if (soft.pods.Get(domain) != before) TouchDomain(topology, domain, row, touched);
      }
    }
  }
}

void SpreadGroups::Reset(size_t rows, size_t domains, size_t pods) {
  pods_ = pods;
  number_.assign(domains * pods, kNone);
  of_row_.assign(rows, kNone);
  groups_.clear();
  scores_.clear();
  unused_.clear();
}

bool SpreadGroups::Put(NodeRow row, size_t domain, size_t pods) {
  if (of_row_[row] != kNone) {
    Group& old = groups_[of_row_[row]];
    if (old.domain == domain && old.pods == pods) return false;
    if (--old.nodes == 0) {
      number_[old.domain * pods_ + old.pods] = kNone;
      unused_.push_back(of_row_[row]);
    }
  }
  const uint16_t number = NumberOf(domain, pods);
  ++groups_[number].nodes;
  of_row_[row] = number;
  return true;
}

uint16_t SpreadGroups::NumberOf(size_t domain, size_t pods) {
  uint16_t& number = number_[domain * pods_ + pods];
  if (number != kNone) return number;
  if (unused_.empty()) {
    number = static_cast<uint16_t>(groups_.size());
    groups_.emplace_back();
    scores_.push_back(0);
  } else {
    number = unused_.back();
    unused_.pop_back();
  }
  groups_[number] = {static_cast<uint32_t>(domain), static_cast<uint32_t>(pods), 0};
  return number;
}

size_t SpreadGroups::bytes() const {
  return (number_.capacity() + of_row_.capacity() + unused_.capacity()) * sizeof(number_[0]) +
         groups_.capacity() * sizeof(groups_[0]) + scores_.capacity() * sizeof(scores_[0]);
}

}  // namespace berth::plugins
