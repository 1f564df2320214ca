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

Disruptions::Disruptions(const Simulation& simulation)
    : simulation_(simulation), budgets_(simulator::EvictionBudgetsOf(simulation)) {}

Leave Disruptions::Ask(const api::Pod& pod) const {
  const auto before = replaced_.find(pod.metadata.Key());
  return budgets_.Ask(before == replaced_.end() ? pod : *before->second);
}

void Disruptions::Add(const PodPtr& pod) {
  if (Ask(*pod) == Leave::kFree) return;
  const auto before = replaced_.extract(pod->metadata.Key());
  const PodPtr& counted = lost_.emplace_back(before.empty() ? pod : before.mapped());
  budgets_.Count(*counted, -1);
}

void Disruptions::Update() {
  std::erase_if(lost_, [this](const PodPtr& pod) {
    const PodPtr successor = simulation_.FindPod(pod->metadata.Key());
    if (successor == nullptr || successor->spec.node_name.empty()) return false;
    budgets_.Count(*pod, 1);
    replaced_.insert_or_assign(pod->metadata.Key(), pod);
    return true;
  });
}

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

Result<void> RemoveNode(std::string_view name, Disruptions& disruptions, Simulation& simulation) {
  const std::vector<PodPtr> pods = PodsOn(simulation, name);
  if (!simulation.Delete(Kind::kNode, name)) return Fail(NoNode(name, simulation));
  for (const PodPtr& pod : pods) {
    disruptions.Add(pod);
    simulation.Delete(Kind::kPod, pod->metadata.Key());
  }
  for (const PodPtr& pod : pods) {
    if (ComesBack(*pod)) simulation.Apply(PendingCopy(*pod, pod->metadata.name));
  }
  Settle(simulation);
  return {};
}

Result<Drained> Drain(std::string_view name, Disruptions& disruptions, Simulation& simulation) {
  if (auto cordoned = Cordon(name, simulation); !cordoned) return Fail(cordoned.error());
  simulation.RunDue();
  Drained drained;
  drained.node = name;
  disruptions.Update();
  std::vector<PodPtr> left = PodsOn(simulation, name);
  std::erase_if(left, [](const PodPtr& pod) { return IsDaemon(*pod) || IsMirror(*pod); });
  for (size_t before = left.size() + 1; left.size() < before;) {
    before = left.size();
    std::erase_if(left, [&](const PodPtr& pod) {
      if (disruptions.Ask(*pod) == Leave::kRefused) return false;
      disruptions.Add(pod);
      const bool placed = Evict(*pod, simulation);
      disruptions.Update();
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
    drained.stopped.push_back({pod->metadata.Key(), disruptions.BudgetsOf(*pod)});
  }
  return drained;
}

}  // namespace berth::questions
