// SPDX-License-Identifier: Apache-2.0
#include "src/fixes/apply.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "src/fixes/pod_changes.h"

namespace berth::fixes {
namespace {

using informers::Kind;
using simulator::MemoryApi;

template <typename T>
Delta Put(T object) {
  Delta delta;
  delta.put.emplace_back(std::make_shared<const T>(std::move(object)));
  return delta;
}

// Carries a change out on a copy of the node; false: there is nothing that it could change.
bool ChangeNode(const explain::Uncordon&, api::Node& node) {
  node.spec.unschedulable = false;
  std::erase_if(node.spec.taints,
                [](const api::Taint& taint) { return taint.key == kUnschedulableTaint; });
  return true;
}
bool ChangeNode(const explain::RemoveTaint& change, api::Node& node) {
  return std::erase(node.spec.taints, change.taint) > 0;
}
bool ChangeNode(const explain::SetLabel& change, api::Node& node) {
  api::StringMap& labels = node.metadata.labels;
  std::erase_if(labels, [&](const auto& label) { return label.first == change.key; });
  const auto after = std::find_if(labels.begin(), labels.end(),
                                  [&](const auto& label) { return label.first > change.key; });
  labels.emplace(after, change.key, change.value);
  return true;
}

// What a change of several objects, or of others, comes to.
std::optional<Delta> ChangeObjects(const explain::AddNode& change, const MemoryApi& objects) {
  return NodeLike(change.like, objects);
}
std::optional<Delta> ChangeObjects(const explain::EvictPods& change, const MemoryApi& objects) {
  Delta delta;
  for (const std::string& pod : change.pods) {
    if (objects.FindPod(pod) == nullptr) return std::nullopt;
    delta.removed.emplace_back(Kind::kPod, pod);
  }
  return delta;
}
std::optional<Delta> ChangeObjects(const explain::UseStorageClass& change,
                                   const MemoryApi& objects) {
  const auto claim = simulator::FindIn<api::PersistentVolumeClaim>(
      objects, Kind::kPersistentVolumeClaim, change.claim);
  if (claim == nullptr) return std::nullopt;
  api::PersistentVolumeClaim changed = *claim;
  changed.spec.storage_class_name = change.to;
  return Put(std::move(changed));
}
std::optional<Delta> ChangeObjects(const explain::AllowAnyTopology& change,
                                   const MemoryApi& objects) {
  const auto storage_class =
      simulator::FindIn<api::StorageClass>(objects, Kind::kStorageClass, change.storage_class);
  if (storage_class == nullptr) return std::nullopt;
  api::StorageClass changed = *storage_class;
  changed.allowed_topologies.clear();
  return Put(std::move(changed));
}

}  // namespace

std::optional<Delta> Apply(const explain::Change& change, const api::Pod& pod,
                           const MemoryApi& objects) {
  return std::visit(
      [&](const auto& held) -> std::optional<Delta> {
        if constexpr (requires(api::Pod& changed) { ChangePod(held, changed); }) {
          api::Pod changed = pod;
          if (!ChangePod(held, changed)) return std::nullopt;
          return Put(std::move(changed));
        } else if constexpr (requires(api::Node& changed) { ChangeNode(held, changed); }) {
          const auto node = simulator::FindIn<api::Node>(objects, Kind::kNode, held.node);
          if (node == nullptr) return std::nullopt;
          api::Node changed = *node;
          if (!ChangeNode(held, changed)) return std::nullopt;
          return Put(std::move(changed));
        } else {
          return ChangeObjects(held, objects);
        }
      },
      change);
}

}  // namespace berth::fixes
