// SPDX-License-Identifier: Apache-2.0
#include "plugins/default_preemption/disruption_budgets.h"

#include <algorithm>
#include <utility>

namespace berth::plugins {

void DisruptionBudgets::Restart() { ++round_; }

std::vector<DisruptionBudgets::Budget>& DisruptionBudgets::InNamespace(
    const std::string& namespace_) {
  const auto [it, added] = by_namespace_.try_emplace(namespace_);
  if (!added) return it->second;
  std::vector<Budget>& budgets = it->second;
  listers_.ForEachPodDisruptionBudget(namespace_, [&](const api::PodDisruptionBudget& object) {
    auto selector = LabelSelectorMatcher::Make(object.spec.selector);
    if (!selector || selector->nothing() || selector->everything()) return;
    budgets.push_back({&object, std::move(*selector), 0, 0});
  });
  return budgets;
}

bool DisruptionBudgets::Violates(const PodInfo& pod) {
  const api::ObjectMeta& metadata = pod.pod->metadata;
  if (metadata.labels.empty()) return false;
  for (Budget& budget : InNamespace(metadata.namespace_)) {
    if (!budget.selector.Matches(metadata.labels)) continue;
    const api::PodDisruptionBudgetStatus& status = budget.object->status;
    // The API server has granted this eviction already and taken it off the budget.
    if (std::any_of(status.disrupted_pods.begin(), status.disrupted_pods.end(),
                    [&](const auto& disrupted) { return disrupted.first == metadata.name; })) {
      continue;
    }
    if (std::exchange(budget.round, round_) != round_) budget.allowed = status.disruptions_allowed;
    if (--budget.allowed < 0) return true;
  }
  return false;
}

}  // namespace berth::plugins
