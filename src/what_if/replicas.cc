// SPDX-License-Identifier: Apache-2.0
#include "src/what_if/replicas.h"

#include <algorithm>

namespace berth::what_if {

using informers::Kind;

const api::OwnerReference* ControllerOf(const api::Pod& pod) {
  for (const api::OwnerReference& owner : pod.metadata.owner_references) {
    if (owner.controller) return &owner;
  }
  return nullptr;
}

bool IsDaemon(const api::Pod& pod) {
  const api::OwnerReference* controller = ControllerOf(pod);
  return controller != nullptr && controller->kind == "DaemonSet";
}

bool IsMirror(const api::Pod& pod) {
  return api::Find(pod.metadata.annotations, "kubernetes.io/config.mirror") != nullptr;
}

bool ComesBack(const api::Pod& pod) {
  return ControllerOf(pod) != nullptr && !IsDaemon(pod) && !IsMirror(pod);
}

PodPtr PendingCopy(const api::Pod& pod, const std::string& name) {
  auto copy = std::make_shared<api::Pod>(pod);
  api::ObjectMeta& meta = copy->metadata;
  meta.uid += "/" + name + "/again";
  meta.name = name;
  meta.resource_version.clear();
  meta.creation_timestamp.reset();
  meta.deletion_timestamp.reset();
  copy->spec.node_name.clear();
  copy->status = {};
  copy->status.phase = "Pending";
  return copy;
}

std::vector<PodPtr> PodsOn(const simulator::Simulation& simulation, std::string_view node) {
  std::vector<PodPtr> pods;
  simulation.api().ForEach(Kind::kPod, [&](const api::ObjectPtr& object) {
    const auto& pod = std::get<PodPtr>(object);
    if (pod->spec.node_name == node) pods.push_back(pod);
  });
  return pods;
}

std::string WhyPending(const api::Pod& pod) {
  for (const api::PodCondition& condition : pod.status.conditions) {
    if (condition.type == "PodScheduled") return condition.message;
  }
  return "";
}

void Reschedule(simulator::Simulation& simulation) {
  std::vector<PodPtr> pods;
  simulation.api().ForEach(Kind::kPod, [&](const api::ObjectPtr& object) {
    const auto& pod = std::get<PodPtr>(object);
    if (!pod->spec.node_name.empty() && ComesBack(*pod)) pods.push_back(pod);
  });
  std::ranges::stable_sort(pods, {}, [](const PodPtr& pod) {
    return pod->metadata.creation_timestamp.value_or(Time());
  });
  for (const PodPtr& pod : pods) simulation.Delete(Kind::kPod, pod->metadata.Key());
  for (const PodPtr& pod : pods) simulation.Apply(PendingCopy(*pod, pod->metadata.name));
  Settle(simulation);
}

void Settle(simulator::Simulation& simulation) {
  // Longer than anything may wait in a binding cycle.
  constexpr Duration kLimit = std::chrono::minutes(30);
  simulation.RunUntilQuiet(kLimit);
}

}  // namespace berth::what_if
