// SPDX-License-Identifier: Apache-2.0
#include "src/simulator/picture.h"

#include <algorithm>
#include <string>

#include "src/base/suggestion.h"
#include "src/informers/kinds.h"

namespace berth::simulator {

using informers::Kind;

std::vector<std::shared_ptr<const api::Pod>> PodsOn(const Simulation& simulation,
                                                    std::string_view node) {
  std::vector<std::shared_ptr<const api::Pod>> pods;
  simulation.api().ForEachPodOn(
      node, [&](const std::shared_ptr<const api::Pod>& pod) { pods.push_back(pod); });
  return pods;
}

EvictionBudgets EvictionBudgetsOf(const Simulation& simulation) {
  EvictionBudgets budgets;
  simulation.api().ForEach(Kind::kPodDisruptionBudget, [&budgets](const api::ObjectPtr& object) {
    budgets.Add(*api::As<api::PodDisruptionBudget>(object));
  });
  return budgets;
}

Error NoNode(std::string_view name, const Simulation& simulation) {
  base::Suggestion meant(name);
  simulation.api().ForEach(Kind::kNode, [&meant](const api::ObjectPtr& object) {
    meant.Try(api::As<api::Node>(object)->metadata.name);
  });
  return {"the cluster has no node " + std::string(name) + meant.ToString()};
}

std::shared_ptr<const api::Node> Cordoned(const api::Node& node) {
  auto cordoned = std::make_shared<api::Node>(node);
  cordoned->spec.unschedulable = true;
  const api::Taint taint{std::string(kUnschedulableTaint), "", "NoSchedule"};
  const auto is_it = [&taint](const api::Taint& other) {
    return other.key == taint.key && other.effect == taint.effect;
  };
  if (std::ranges::none_of(cordoned->spec.taints, is_it)) cordoned->spec.taints.push_back(taint);
  return cordoned;
}

}  // namespace berth::simulator
