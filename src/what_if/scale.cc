// SPDX-License-Identifier: Apache-2.0
#include "src/what_if/scale.h"

#include <algorithm>
#include <charconv>
#include <set>
#include <tuple>
#include <vector>

#include "src/what_if/replicas.h"

namespace berth::what_if {
namespace {

using informers::Kind;
using simulator::Simulation;

const api::OwnerReference* ControllerOf(const api::ObjectMeta& meta) {
  for (const api::OwnerReference& owner : meta.owner_references) {
    if (owner.controller) return &owner;
  }
  return nullptr;
}

// The names of the objects that own the pods: the controller or, of a Deployment, its ReplicaSets.
std::set<std::string> OwnersOf(const Scale& scale, const Simulation& simulation) {
  if (scale.kind != "Deployment") return {scale.name};
  std::set<std::string> names;
  simulation.api().ForEach(Kind::kReplicaSet, [&](const api::ObjectPtr& object) {
    const api::ObjectMeta& meta = api::As<api::ReplicaSet>(object)->metadata;
    const api::OwnerReference* owner = ControllerOf(meta);
    if (meta.namespace_ != scale.namespace_ || owner == nullptr) return;
    if (owner->kind == scale.kind && owner->name == scale.name) names.insert(meta.name);
  });
  return names;
}

// The number at the end of a StatefulSet's pod, or -1.
int64_t OrdinalOf(const api::Pod& pod) {
  const std::string& name = pod.metadata.name;
  const size_t dash = name.rfind('-');
  if (dash == std::string::npos) return -1;
  int64_t ordinal = -1;
  std::from_chars(name.data() + dash + 1, name.data() + name.size(), ordinal);
  return ordinal;
}

// In the order in which they stay.
std::vector<PodPtr> PodsOf(const Scale& scale, const Simulation& simulation) {
  const std::set<std::string> owners = OwnersOf(scale, simulation);
  const std::string owner_kind = scale.kind == "Deployment" ? "ReplicaSet" : scale.kind;
  std::vector<PodPtr> pods;
  simulation.api().ForEach(Kind::kPod, [&](const api::ObjectPtr& object) {
    const auto& pod = std::get<PodPtr>(object);
    const api::OwnerReference* owner = ControllerOf(pod->metadata);
    if (pod->metadata.namespace_ != scale.namespace_ || owner == nullptr) return;
    if (owner->kind == owner_kind && owners.contains(owner->name)) pods.push_back(pod);
  });
  const bool by_ordinal = scale.kind == "StatefulSet";
  std::ranges::stable_sort(pods, {}, [&](const PodPtr& pod) {
    return std::tuple(by_ordinal ? OrdinalOf(*pod) : 0, !by_ordinal && pod->spec.node_name.empty(),
                      pod->metadata.creation_timestamp.value_or(Time()));
  });
  return pods;
}

// `next`: the first number that may be free.
std::string NewName(const Scale& scale, size_t& next, const Simulation& simulation) {
  while (true) {
    std::string name =
        scale.name + (scale.kind == "StatefulSet" ? "-" : "-new-") + std::to_string(next++);
    if (simulation.FindPod(api::NamespacedKey(scale.namespace_, name)) == nullptr) return name;
  }
}

}  // namespace

Result<Scale> Scale::Parse(std::string_view text) {
  const Error form{"must be NAMESPACE/KIND/NAME=N"};
  const size_t equals = text.rfind('=');
  const size_t first = text.find('/');
  if (equals == std::string_view::npos || first >= equals) return Fail(form);
  const size_t second = text.find('/', first + 1);
  if (second >= equals) return Fail(form);
  Scale scale;
  scale.namespace_ = text.substr(0, first);
  scale.kind = text.substr(first + 1, second - first - 1);
  scale.name = text.substr(second + 1, equals - second - 1);
  const std::string_view number = text.substr(equals + 1);
  const auto [end, error] =
      std::from_chars(number.data(), number.data() + number.size(), scale.replicas);
  if (error != std::errc() || end != number.data() + number.size() || number.empty()) {
    return Fail(form);
  }
  if (scale.namespace_.empty() || scale.kind.empty() || scale.name.empty()) return Fail(form);
  if (scale.replicas > kMostReplicas) return Fail("at most 100000 replicas");
  return scale;
}

Result<void> Carry(const Scale& scale, Simulation& simulation) {
  const std::vector<PodPtr> pods = PodsOf(scale, simulation);
  if (pods.empty()) {
    return Fail("no pod of " + scale.kind + " " + scale.namespace_ + "/" + scale.name +
                " is there to be copied");
  }
  for (size_t i = pods.size(); i > scale.replicas; --i) {
    simulation.Delete(Kind::kPod, pods[i - 1]->metadata.Key());
  }
  size_t next = 0;
  for (size_t i = pods.size(); i < scale.replicas; ++i) {
    simulation.Apply(PendingCopy(*pods.front(), NewName(scale, next, simulation)));
  }
  Settle(simulation);
  return {};
}

}  // namespace berth::what_if
