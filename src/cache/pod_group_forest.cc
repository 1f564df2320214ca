// SPDX-License-Identifier: Apache-2.0
#include "src/cache/pod_group_forest.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "berth/api/meta.h"
#include "berth/check.h"

namespace berth::cache {
namespace {

bool TriedBefore(const PodGroupNode* a, const PodGroupNode* b) {
  const auto key = [](const PodGroupNode& node) {
    const api::ObjectMeta& metadata = node.object.metadata();
    return std::tuple(metadata.creation_timestamp.value_or(Time{}), std::string_view(metadata.name),
                      node.composite);
  };
  return key(*a) < key(*b);
}

}  // namespace

const PodGroupNode* PodGroupForest::Find(std::string_view namespace_, std::string_view name) const {
  const auto found = pod_groups_.find(api::NamespacedKey(namespace_, name));
  return found == pod_groups_.end() ? nullptr : found->second.get();
}

const PodGroupNode* PodGroupForest::FindComposite(std::string_view namespace_,
                                                  std::string_view name) const {
  const auto found = composites_.find(api::NamespacedKey(namespace_, name));
  return found == composites_.end() ? nullptr : found->second.get();
}

const PodGroupNode* PodGroupForest::Find(const AnyPodGroup& group) const {
  const api::ObjectMeta& metadata = group.metadata();
  return group.composite ? FindComposite(metadata.namespace_, metadata.name)
                         : Find(metadata.namespace_, metadata.name);
}

PodGroupNode& PodGroupForest::Get(bool composite, std::string_view namespace_,
                                  std::string_view name) {
  std::unique_ptr<PodGroupNode>& node = NodesOf(composite)[api::NamespacedKey(namespace_, name)];
  if (node == nullptr) {
    node = std::make_unique<PodGroupNode>();
    node->composite = composite;
  }
  return *node;
}

void PodGroupForest::Set(AnyPodGroup object) {
  const api::ObjectMeta& metadata = object.metadata();
  PodGroupNode& node = Get(object.composite != nullptr, metadata.namespace_, metadata.name);
  if (node.object) Unlink(node);
  node.object = std::move(object);
  Link(node);
}

void PodGroupForest::Remove(const AnyPodGroup& object) {
  const api::ObjectMeta& metadata = object.metadata();
  Nodes& nodes = NodesOf(object.composite != nullptr);
  const auto found = nodes.find(api::NamespacedKey(metadata.namespace_, metadata.name));
  if (found == nodes.end()) return;
  PodGroupNode& node = *found->second;
  if (node.object) Unlink(node);
  node.object = {};
  if (node.children.empty()) nodes.erase(found);
}

void PodGroupForest::Link(PodGroupNode& node) {
  const std::optional<std::string>& parent_name = node.object.parent();
  if (!composite_pod_groups_ || !parent_name) return;
  PodGroupNode& parent = Get(true, node.object.metadata().namespace_, *parent_name);
  node.parent = &parent;
  auto& children = parent.children;
  children.insert(std::ranges::upper_bound(children, &node, TriedBefore), &node);
}

void PodGroupForest::Unlink(PodGroupNode& node) {
  if (node.parent == nullptr) return;
  const api::ObjectMeta& metadata = node.object.metadata();
  const auto found =
      composites_.find(api::NamespacedKey(metadata.namespace_, *node.object.parent()));
  BERTH_CHECK(found != composites_.end(), "a pod group's parent has no node");
  PodGroupNode& parent = *found->second;
  std::erase(parent.children, &node);
  node.parent = nullptr;
  if (!parent.object && parent.children.empty()) composites_.erase(found);
}

}  // namespace berth::cache
