// SPDX-License-Identifier: Apache-2.0
#include "berth/in_tree/eviction.h"

#include <algorithm>
#include <functional>
#include <ranges>
#include <utility>

#include "berth/in_tree/pod_groups.h"

namespace berth::inline in_tree {
namespace {

bool Says(const api::Pod& pod, std::string_view annotation, std::string_view wanted) {
  const std::string* value = api::Find(pod.metadata.annotations, annotation);
  return value != nullptr && *value == wanted;
}

bool HasLocalStorage(const api::Pod& pod) {
  return std::ranges::any_of(pod.spec.volumes, [](const api::Volume& volume) {
    return volume.empty_dir.has_value() && volume.empty_dir->medium != "Memory";
  });
}

}  // namespace

const api::OwnerReference* ControllerOf(const api::ObjectMeta& meta) {
  for (const api::OwnerReference& owner : meta.owner_references) {
    if (owner.controller) return &owner;
  }
  return nullptr;
}

bool IsDaemon(const api::Pod& pod) {
  const api::OwnerReference* controller = ControllerOf(pod.metadata);
  return controller != nullptr && controller->kind == "DaemonSet";
}

bool IsMirror(const api::Pod& pod) {
  if (api::Find(pod.metadata.annotations, "kubernetes.io/config.mirror") != nullptr) return true;
  // Not every dump keeps annotations.
  const api::OwnerReference* controller = ControllerOf(pod.metadata);
  return controller != nullptr && controller->kind == "Node";
}

bool IsTied(const api::Pod& pod) {
  const api::OwnerReference* controller = ControllerOf(pod.metadata);
  return controller != nullptr && (controller->kind == "DaemonSet" || controller->kind == "Node");
}

bool HasSuccessor(const api::Pod& pod) {
  const api::OwnerReference* controller = ControllerOf(pod.metadata);
  return pod.metadata.deletion_timestamp && controller != nullptr &&
         controller->kind != "StatefulSet";
}

bool ComesBack(const api::Pod& pod) {
  return ControllerOf(pod.metadata) != nullptr && !IsDaemon(pod) && !IsMirror(pod) &&
         !HasSuccessor(pod);
}

bool IsReady(const api::Pod& pod) {
  return std::ranges::any_of(pod.status.conditions, [](const api::PodCondition& condition) {
    return condition.type == "Ready" && condition.status == "True";
  });
}

bool IsLabelOfNode(std::string_view key) {
  return key == "topology.kubernetes.io/zone" || key == "topology.kubernetes.io/region";
}

std::shared_ptr<const api::Pod> PendingCopy(const api::Pod& pod, const std::string& name) {
  auto copy = std::make_shared<api::Pod>(pod);
  api::ObjectMeta& meta = copy->metadata;
  meta.uid += "/" + name + "/again";
  meta.name = name;
  meta.resource_version.clear();
  meta.creation_timestamp.reset();
  meta.deletion_timestamp.reset();
  // A template that has such a label itself loses it here: nothing tells the two cases apart.
  std::erase_if(meta.labels, [](const auto& label) { return IsLabelOfNode(label.first); });
  copy->spec.node_name.clear();
  copy->status = {};
  copy->status.phase = "Pending";
  return copy;
}

bool MayReplace(const api::Pod& gone, const api::Pod& pod) {
  const api::OwnerReference* owner = ControllerOf(gone.metadata);
  const api::OwnerReference* its = ControllerOf(pod.metadata);
  if (owner == nullptr || its == nullptr || owner->uid != its->uid) return false;
  if (gone.metadata.uid == pod.metadata.uid) return false;
  if (owner->kind == "StatefulSet" && gone.metadata.Key() != pod.metadata.Key()) return false;
  const auto same_requests = [](const api::Container& one, const api::Container& other) {
    return one.name == other.name && one.resources == other.resources;
  };
  const auto is_own = [](const auto& label) { return !IsLabelOfNode(label.first); };
  return std::ranges::equal(gone.metadata.labels | std::views::filter(is_own),
                            pod.metadata.labels | std::views::filter(is_own)) &&
         gone.spec.scheduler_name == pod.spec.scheduler_name &&
         gone.spec.priority == pod.spec.priority &&
         gone.spec.node_selector == pod.spec.node_selector &&
         std::ranges::equal(gone.spec.containers, pod.spec.containers, same_requests);
}

std::string_view WhyItStays(const api::Pod& pod) {
  if (IsDaemon(pod)) return "a DaemonSet's pod";
  if (IsMirror(pod)) return "its kubelet's own pod";
  if (pod.metadata.deletion_timestamp) return "it is being deleted";
  if (!ComesBack(pod)) return "no controller makes it again";
  if (PodGroupNameOf(pod) != nullptr) return "it is part of a pod group";
  if (!pod.spec.resource_claims.empty()) return "its resource claims are allocated on its node";
  constexpr std::string_view kSafe = "cluster-autoscaler.kubernetes.io/safe-to-evict";
  if (Says(pod, kSafe, "false")) {
    return "cluster-autoscaler.kubernetes.io/safe-to-evict is \"false\"";
  }
  if (Says(pod, "karpenter.sh/do-not-disrupt", "true")) {
    return "karpenter.sh/do-not-disrupt is \"true\"";
  }
  if (HasLocalStorage(pod) && !Says(pod, kSafe, "true")) return "it has local storage (emptyDir)";
  return "";
}

std::optional<size_t> FewestToGo(const Resources& asked, std::span<const PodInfo* const> pods,
                                 const Snapshot& snapshot, NodeRow row) {
  size_t fewest = 1;
  ForEachAmount(asked, [&](ResourceId id, int64_t wanted) {
    WideAmount room = WideAmount{snapshot.allocatable(id)[row]} - snapshot.requested(id)[row];
    if (room >= wanted) return;
    std::vector<int64_t> amounts;
    amounts.reserve(pods.size());
    for (const PodInfo* pod : pods) amounts.push_back(pod->placed.Get(id));
    std::ranges::sort(amounts, std::greater());
    size_t gone = 0;
    while (room < wanted && gone < amounts.size()) room += amounts[gone++];
    fewest = std::max(fewest, room < wanted ? pods.size() + 1 : gone);
  });
  return fewest <= pods.size() ? std::optional(fewest) : std::nullopt;
}

double LargestPart(const PodInfo& pod, const Resources& asked) {
  double largest = 0;
  ForEachAmount(asked, [&](ResourceId id, int64_t wanted) {
    const auto part = static_cast<double>(pod.placed.Get(id)) / static_cast<double>(wanted);
    largest = std::max(largest, part);
  });
  return largest;
}

void EvictionBudgets::Add(const api::PodDisruptionBudget& budget) {
  auto selector = LabelSelectorMatcher::Make(budget.spec.selector);
  if (!selector) return;
  by_namespace_[budget.metadata.namespace_].push_back(
      {.key = budget.metadata.Key(),
       .selector = *std::move(selector),
       .always_unhealthy = budget.spec.unhealthy_pod_eviction_policy == "AlwaysAllow",
       .allowed = budget.status.disruptions_allowed,
       .healthy = budget.status.current_healthy,
       .desired = budget.status.desired_healthy});
}

template <typename Visit>
void EvictionBudgets::ForEachOf(const api::Pod& pod, Visit visit) const {
  const auto found = by_namespace_.find(pod.metadata.namespace_);
  if (found == by_namespace_.end()) return;
  for (const Budget& budget : found->second) {
    if (budget.selector.Matches(pod.metadata.labels)) visit(budget);
  }
}

std::vector<std::string> EvictionBudgets::Of(const api::Pod& pod) const {
  std::vector<std::string> names;
  ForEachOf(pod, [&names](const Budget& budget) { names.push_back(budget.key); });
  return names;
}

Leave EvictionBudgets::Ask(const api::Pod& pod) const {
  if (pod.status.phase == "Pending" || pod.metadata.deletion_timestamp) return Leave::kFree;
  const Budget* only = nullptr;
  bool several = false;
  ForEachOf(pod, [&](const Budget& budget) {
    several = several || only != nullptr;
    only = &budget;
  });
  if (several) return Leave::kRefused;
  if (only == nullptr) return Leave::kFree;
  const bool healthy = only->desired > 0 && only->healthy >= only->desired;
  if (!IsReady(pod) && (only->always_unhealthy || healthy)) return Leave::kFree;
  return only->allowed > 0 ? Leave::kCounted : Leave::kRefused;
}

void EvictionBudgets::Count(const api::Pod& pod, int by) {
  const auto found = by_namespace_.find(pod.metadata.namespace_);
  if (found == by_namespace_.end()) return;
  for (Budget& budget : found->second) {
    if (!budget.selector.Matches(pod.metadata.labels)) continue;
    budget.allowed += by;
    if (IsReady(pod)) budget.healthy += by;
  }
}

void EvictionBudgets::Replace(const api::PodDisruptionBudget& before,
                              const api::PodDisruptionBudget& after) {
  const auto found = by_namespace_.find(before.metadata.namespace_);
  if (found == by_namespace_.end()) return;
  const std::string key = before.metadata.Key();
  for (Budget& budget : found->second) {
    if (budget.key != key) continue;
    budget.allowed += after.status.disruptions_allowed - before.status.disruptions_allowed;
    budget.healthy += after.status.current_healthy - before.status.current_healthy;
    budget.desired = after.status.desired_healthy;
  }
}

}  // namespace berth::inline in_tree
