// SPDX-License-Identifier: Apache-2.0
#include "src/questions/scaled_budgets.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "berth/in_tree/eviction.h"
#include "berth/label_selector.h"

namespace berth::questions {
namespace {

using informers::Kind;

// So many of `total`, of a percentage rounded up. nullopt: it is neither a number nor a percentage.
std::optional<int64_t> PodsOfShare(const api::IntOrString& share, int64_t total) {
  if (const auto* number = std::get_if<int32_t>(&share)) return *number;
  const std::string_view text = std::get<std::string>(share);
  int32_t percent = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), percent);
  if (error != std::errc() || std::string_view(end, text.data() + text.size()) != "%") {
    return std::nullopt;
  }
  const int64_t parts = int64_t{percent} * total;
  return parts / 100 + (parts % 100 > 0 ? 1 : 0);
}

}  // namespace

ScaledBudgets::ScaledBudgets(std::string namespace_name, const simulator::Simulation& simulation)
    : namespace_(std::move(namespace_name)) {
  const std::vector<PodPtr> pods = Pods(simulation);
  simulation.api().ForEach(Kind::kPodDisruptionBudget, [&](const api::ObjectPtr& object) {
    const auto& budget = *api::As<api::PodDisruptionBudget>(object);
    if (budget.metadata.namespace_ == namespace_) {
      before_.emplace(budget.metadata.name, Count(budget, pods));
    }
  });
}

ScaledBudgets::Selected ScaledBudgets::Count(const api::PodDisruptionBudget& budget,
                                             const std::vector<PodPtr>& pods) {
  Selected selected;
  const auto selector = LabelSelectorMatcher::Make(budget.spec.selector);
  if (!selector) return selected;
  for (const PodPtr& pod : pods) {
    if (!selector->Matches(pod->metadata.labels)) continue;
    ++selected.pods;
    if (pod->metadata.deletion_timestamp) continue;
    if (ControllerOf(pod->metadata) != nullptr) ++selected.controlled;
    if (IsReady(*pod)) ++selected.healthy;
  }
  return selected;
}

std::vector<PodPtr> ScaledBudgets::Pods(const simulator::Simulation& simulation) const {
  std::vector<PodPtr> pods;
  simulation.api().ForEachUnsorted(Kind::kPod, [&](const api::ObjectPtr& object) {
    const auto& pod = std::get<PodPtr>(object);
    if (pod->metadata.namespace_ == namespace_) pods.push_back(pod);
  });
  return pods;
}

api::PodDisruptionBudget ScaledBudgets::Scaled(api::PodDisruptionBudget budget,
                                               const Selected& before, const Selected& now) {
  api::PodDisruptionBudgetStatus& status = budget.status;
  const auto& most_gone = budget.spec.max_unavailable;
  const auto& fewest = budget.spec.min_available;
  int64_t expected = now.controlled;
  std::optional<int64_t> desired;
  if (most_gone) {
    desired = PodsOfShare(*most_gone, expected);
    if (desired) desired = std::max<int64_t>(expected - *desired, 0);
  } else if (fewest) {
    if (std::holds_alternative<int32_t>(*fewest)) expected = now.pods;
    desired = PodsOfShare(*fewest, expected);
  }
  if (!desired) return budget;  // what it says is for the controller alone to know
  const int64_t healthy =
      std::max<int64_t>(status.current_healthy - (before.healthy - now.healthy), 0);
  const int64_t allowed = expected > 0 ? std::max<int64_t>(healthy - *desired, 0) : 0;
  status.current_healthy = static_cast<int32_t>(healthy);
  status.desired_healthy = static_cast<int32_t>(std::min<int64_t>(*desired, INT32_MAX));
  status.disruptions_allowed = static_cast<int32_t>(allowed);
  return budget;
}

void ScaledBudgets::Update(simulator::Simulation& simulation, Disruptions& disruptions) const {
  const std::vector<PodPtr> pods = Pods(simulation);
  std::vector<std::pair<api::PodDisruptionBudget, api::PodDisruptionBudget>> changed;
  simulation.api().ForEach(Kind::kPodDisruptionBudget, [&](const api::ObjectPtr& object) {
    const auto& budget = *api::As<api::PodDisruptionBudget>(object);
    if (budget.metadata.namespace_ != namespace_) return;
    const auto before = before_.find(budget.metadata.name);
    if (before == before_.end()) return;
    const Selected now = Count(budget, pods);
    if (now.pods >= before->second.pods) return;
    changed.emplace_back(budget, Scaled(budget, before->second, now));
  });
  for (auto& [before, after] : changed) {
    disruptions.Replace(before, after);
    simulation.Apply(std::make_shared<const api::PodDisruptionBudget>(std::move(after)));
  }
}

}  // namespace berth::questions
