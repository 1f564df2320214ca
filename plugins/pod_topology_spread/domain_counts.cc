// SPDX-License-Identifier: Apache-2.0
#include "plugins/pod_topology_spread/domain_counts.h"

#include <utility>

#include "plugins/shared/tolerated_taints.h"

namespace berth::plugins {
namespace {

constexpr uint64_t kStepsPerConstraint = 20;
constexpr uint64_t kBytesPerConstraint = 1024;
constexpr uint64_t kBytesPerDomain = 2 * sizeof(DomainId);

PodQuery QueryOf(const SpreadConstraint& constraint, const std::string& namespace_) {
  PodTerm term;
  term.namespaces = {namespace_};
  term.selector = constraint.selector;
  PodQuery query;
  query.all_of.push_back(std::move(term));
  query.skip_terminating = true;
  return query;
}

}  // namespace

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

bool SpendOn(const SpreadConstraints& constraints, const Snapshot& snapshot,
             const std::string& namespace_, CycleBudget& budget) {
  const uint64_t rows = snapshot.num_rows();
  for (const SpreadConstraint& constraint : constraints) {
    const std::shared_ptr<const Topology> topology = snapshot.GetTopology(constraint.topology_key);
    uint64_t steps = kStepsPerConstraint + rows;
    uint64_t bytes = kBytesPerConstraint + rows / 4;
    // Of a key that no node has there are no counts.
    if (topology->num_domains > 0) {
      bytes += rows * sizeof(int32_t) + topology->values.size() * kBytesPerDomain;
      if (constraint.counts_pods())
        steps += snapshot.StepsToCountPods(QueryOf(constraint, namespace_));
    }
    if (!budget.Spend(steps, bytes)) return false;
  }
  return true;
}

std::shared_ptr<const PodCounts> CountPods(const Snapshot& snapshot,
                                           const SpreadConstraint& constraint,
                                           const std::string& namespace_) {
  return constraint.counts_pods() ? snapshot.CountPods(QueryOf(constraint, namespace_)) : nullptr;
}

DomainPods::DomainPods(std::shared_ptr<const Topology> topology,
                       std::shared_ptr<const PodCounts> counts, NodeSet nodes, DomainId blank)
    : topology_(std::move(topology)),
      counts_(std::move(counts)),
      nodes_(std::move(nodes)),
      blank_(blank),
      all_nodes_(topology_->num_domains == 0 || nodes_ == topology_->nodes),
      pods_(topology_->values.size()) {
  if (counts_ == nullptr) return;
  if (all_nodes_) {
    counts_->by_domain(*topology_).ForEach([&](DomainId domain, int32_t count) {
      pods_[domain] = count;
    });
    return;
  }
  by_row_.resize(topology_->domain_of.size());
  counts_->by_row().ForEach([&](NodeRow row, int32_t count) {
    if (!nodes_.Test(row)) return;
    const DomainId domain = DomainOf(row);
    if (domain == kNoDomain) return;
    pods_[domain] += count;
    by_row_[row] = count;
  });
}

std::vector<DomainId> DomainPods::Domains() const {
  std::vector<uint8_t> present(pods_.size(), 0);
  nodes_.ForEach([&](NodeRow row) { present[topology_->domain_of[row]] = 1; });
  std::vector<DomainId> domains;
  for (DomainId domain = 0; domain < present.size(); ++domain) {
    if (present[domain] != 0) domains.push_back(domain);
  }
  return domains;
}

size_t DomainPods::bytes() const {
  size_t bytes = nodes_.words().size_bytes() + pods_.capacity() * sizeof(pods_[0]) +
                 by_row_.capacity() * sizeof(by_row_[0]) + ShareOf(topology_, topology_->bytes());
  if (counts_ != nullptr) bytes += ShareOf(counts_, counts_->by_row().bytes());
  return bytes;
}

void DomainPods::Update(NodeRow row) {
  if (counts_ == nullptr || !nodes_.Test(row)) return;
  const DomainId domain = DomainOf(row);
  if (domain == kNoDomain) return;
  if (all_nodes_) {
    pods_[domain] = counts_->by_domain(*topology_).Get(domain);
    return;
  }
  const int32_t count = counts_->by_row().Get(row);
  pods_[domain] += count - std::exchange(by_row_[row], count);
}

CriticalPaths Summarize(const DomainPods& pods, std::span<const DomainId> domains) {
  CriticalPaths paths;
  for (const DomainId domain : domains) {
    paths.Update(domain, pods.Get(domain));
    if (paths.settled()) break;
  }
  return paths;
}

}  // namespace berth::plugins
