// SPDX-License-Identifier: Apache-2.0
#include "plugins/weighted_topology_spread/value_counts.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "berth/check.h"
#include "berth/in_tree/cycle_state.h"
#include "berth/in_tree/points.h"

namespace berth::plugins {

PodQuery ValueCounts::QueryOf(const WeightedConstraint& constraint, const api::Pod& pod) {
  PodTerm term;
  term.namespaces = {pod.metadata.namespace_};
  term.selector = constraint.selector;
  for (const std::string& key : constraint.match_label_keys) {
    const std::string* value = api::Find(pod.metadata.labels, key);
    if (value != nullptr) term.selector.Require(key, *value);
  }
  PodQuery query;
  query.all_of.push_back(std::move(term));
  // What replaces a pod that is on its way out should take the place that it leaves.
  query.skip_terminating = true;
  return query;
}

ValueCounts::ValueCounts(std::shared_ptr<const WeightedConstraint> constraint, const api::Pod& pod,
                         const Snapshot& snapshot) {
  auto fixed = std::make_shared<Fixed>();
  fixed->constraint = std::move(constraint);
  const WeightedConstraint& held = *fixed->constraint;
  fixed->query = QueryOf(held, pod);
  fixed->topology = snapshot.GetTopology(held.topology_key);
  fixed->value_of.assign(fixed->topology->values.size(), static_cast<uint32_t>(held.values.size()));
  for (size_t i = 0; i < held.values.size(); ++i) {
    const DomainId domain = fixed->topology->Find(held.values[i]);
    fixed->domain_of.push_back(domain);
    if (domain != kNoDomain) fixed->value_of[domain] = static_cast<uint32_t>(i);
  }
  if (!held.ordered()) {
    fixed->sum_of_weights = std::accumulate(held.weights.begin(), held.weights.end(), int64_t{0});
    pods_.resize(held.values.size());
    if (fixed->topology->num_domains > 0) fixed->counts = snapshot.CountPods(fixed->query);
  }
  fixed_ = std::move(fixed);
  Update();
}

bool ValueCounts::Exceeds(size_t value) const {
  BERTH_CHECK(!constraint().ordered(), "values in order have no shares");
  const int64_t sum = fixed_->sum_of_weights;
  // (pods + 1) - (total + 1) * weight / sum, times sum.
  const int64_t above = (pods_[value] + 1) * sum - (total_ + 1) * constraint().weights[value];
  return above > constraint().max_skew * sum;
}

std::vector<int64_t> ValueCounts::Preferences() const {
  const size_t count = num_values();
  std::vector<size_t> by_pressure(count);
  std::iota(by_pressure.begin(), by_pressure.end(), size_t{0});
  const std::vector<int64_t>& weights = constraint().weights;
  // (pods + 1/2) / weight of a, below that of b.
  const auto less = [&](size_t a, size_t b) {
    return (2 * pods_[a] + 1) * weights[b] < (2 * pods_[b] + 1) * weights[a];
  };
  if (!constraint().ordered()) std::ranges::sort(by_pressure, less);
  std::vector<int64_t> preferences(count + 1);
  size_t before = 0;
  for (size_t i = 0; i < count; ++i) {
    const bool alike =
        !constraint().ordered() && i > 0 && !less(by_pressure[i - 1], by_pressure[i]);
    if (!alike) before = i;
    preferences[by_pressure[i]] =
        kMaxNodeScore * static_cast<int64_t>(count - before) / static_cast<int64_t>(count);
  }
  return preferences;
}

bool ValueCounts::Update() {
  if (fixed_->counts == nullptr) return false;
  const Counts& by_domain = fixed_->counts->by_domain(*fixed_->topology);
  bool differs = false;
  for (size_t i = 0; i < pods_.size(); ++i) {
    const DomainId domain = fixed_->domain_of[i];
    if (domain == kNoDomain) continue;
    const int64_t before = std::exchange(pods_[i], by_domain.Get(domain));
    differs = differs || before != pods_[i];
    total_ += pods_[i] - before;
  }
  return differs;
}

void ValueCounts::Count(const api::Pod& pod, NodeRow row, int32_t delta) {
  const size_t value = ValueOf(row);
  if (value >= pods_.size() || !fixed_->query.Matches(pod)) return;
  pods_[value] += delta;
  total_ += delta;
}

size_t ValueCounts::bytes() const {
  size_t shared = sizeof(Fixed) + fixed_->domain_of.capacity() * sizeof(DomainId) +
                  fixed_->value_of.capacity() * sizeof(uint32_t) +
                  ShareOf(fixed_->topology, fixed_->topology->bytes());
  if (fixed_->counts != nullptr)
    shared += ShareOf(fixed_->counts, fixed_->counts->by_row().bytes());
  return ShareOf(fixed_, shared) + pods_.capacity() * sizeof(pods_[0]);
}

}  // namespace berth::plugins
