// SPDX-License-Identifier: Apache-2.0
#include "src/questions/node_changes.h"

#include <algorithm>
#include <utility>

#include "src/base/suggestion.h"
#include "src/questions/changes.h"

namespace berth::questions {
namespace {

using informers::Kind;

}  // namespace

EvictionBudgets EvictionBudgetsOf(const simulator::Simulation& simulation) {
  EvictionBudgets budgets;
  simulation.api().ForEach(Kind::kPodDisruptionBudget, [&budgets](const api::ObjectPtr& object) {
    budgets.Add(*api::As<api::PodDisruptionBudget>(object));
  });
  return budgets;
}

namespace {

using informers::Kind;
using simulator::Simulation;

bool HasEmptyDir(const api::Pod& pod) {
  return std::ranges::any_of(
      pod.spec.volumes, [](const api::Volume& volume) { return volume.empty_dir.has_value(); });
}

// The pod goes and, where a controller has it, comes back; whether it has a node then.
bool Evict(const api::Pod& pod, Simulation& simulation) {
  simulation.Delete(Kind::kPod, pod.metadata.Key());
  if (ComesBack(pod)) simulation.Apply(PendingCopy(pod, pod.metadata.name));
  Settle(simulation);
  const auto successor = simulation.FindPod(pod.metadata.Key());
  return successor != nullptr && !successor->spec.node_name.empty();
}

}  // namespace

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

Result<void> Cordon(std::string_view name, Simulation& simulation) {
  const auto node = simulator::FindIn<api::Node>(simulation.api(), Kind::kNode, name);
  if (node == nullptr) return Fail(NoNode(name, simulation));
  simulation.Apply(Cordoned(*node));
  return {};
}

Result<void> AddNodes(size_t count, std::string_view like, Simulation& simulation) {
  for (size_t i = 0; i < count && !simulation.interrupted(); ++i) {
    auto delta = NodeLike(like, simulation.api());
    if (!delta) return Fail(NoNode(like, simulation));
    for (api::ObjectPtr& object : delta->put) simulation.Apply(std::move(object));
  }
  Settle(simulation);
  return {};
}

Result<void> RemoveNode(std::string_view name, Simulation& simulation) {
  const std::vector<PodPtr> pods = PodsOn(simulation, name);
  if (!simulation.Delete(Kind::kNode, name)) return Fail(NoNode(name, simulation));
  for (const PodPtr& pod : pods) simulation.Delete(Kind::kPod, pod->metadata.Key());
  for (const PodPtr& pod : pods) {
    if (ComesBack(*pod)) simulation.Apply(PendingCopy(*pod, pod->metadata.name));
  }
  Settle(simulation);
  return {};
}

Result<Drained> Drain(std::string_view name, Simulation& simulation) {
  if (auto cordoned = Cordon(name, simulation); !cordoned) return Fail(cordoned.error());
  simulation.RunDue();
  Drained drained;
  drained.node = name;
  EvictionBudgets budgets = EvictionBudgetsOf(simulation);
  std::vector<PodPtr> left = PodsOn(simulation, name);
  std::erase_if(left, [](const PodPtr& pod) { return IsDaemon(*pod) || IsMirror(*pod); });
  for (size_t before = left.size() + 1; left.size() < before;) {
    before = left.size();
    std::erase_if(left, [&](const PodPtr& pod) {
      const Leave leave = budgets.Ask(*pod);
      if (leave == Leave::kRefused) return false;
      if (leave == Leave::kCounted) budgets.Count(*pod, -1);
      const bool placed = Evict(*pod, simulation);
      if (leave == Leave::kCounted && placed) budgets.Count(*pod, 1);
      if (pod->metadata.deletion_timestamp && !ComesBack(*pod)) return true;
      if (HasEmptyDir(*pod)) drained.with_empty_dir.push_back(pod->metadata.Key());
      (!ComesBack(*pod) ? drained.unmanaged
       : placed         ? drained.moved
                        : drained.homeless)
          .push_back(pod->metadata.Key());
      return true;
    });
  }
  for (const PodPtr& pod : left) {
    drained.stopped.push_back({pod->metadata.Key(), budgets.Of(*pod)});
  }
  return drained;
}

}  // namespace berth::questions
