// SPDX-License-Identifier: Apache-2.0
#include "src/questions/node_changes.h"

#include <algorithm>
#include <utility>

#include "src/questions/changes.h"
#include "src/simulator/picture.h"

namespace berth::questions {
namespace {

using informers::Kind;
using simulator::NoNode;
using simulator::PodsOn;
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

Result<void> Cordon(std::string_view name, Simulation& simulation) {
  const auto node = simulator::FindIn<api::Node>(simulation.api(), Kind::kNode, name);
  if (node == nullptr) return Fail(NoNode(name, simulation));
  simulation.Apply(simulator::Cordoned(*node));
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
  EvictionBudgets budgets = simulator::EvictionBudgetsOf(simulation);
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
