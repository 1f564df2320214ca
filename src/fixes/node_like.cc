// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <memory>

#include "src/fixes/apply.h"

namespace berth::fixes {
namespace {

using informers::Kind;

constexpr std::string_view kHostname = "kubernetes.io/hostname";

// Taints that tell of a node's state, which a new node does not have.
bool TellsOfState(const api::Taint& taint) {
  return taint.key.starts_with("node.kubernetes.io/") ||
         taint.key.starts_with("node.cloudprovider.kubernetes.io/");
}

std::string NewName(std::string_view like, const simulator::MemoryApi& objects) {
  for (size_t i = 1;; ++i) {
    std::string name = std::string(like) + "-like-" + std::to_string(i);
    if (objects.Find(Kind::kNode, name).index() == 0) return name;
  }
}

template <typename T>
std::shared_ptr<T> Copy(const T& object, const std::string& name) {
  auto copy = std::make_shared<T>(object);
  copy->metadata.name = name;
  copy->metadata.uid += "/" + name;
  copy->metadata.resource_version.clear();
  return copy;
}

bool IsDaemon(const api::Pod& pod) {
  return std::ranges::any_of(pod.metadata.owner_references, [](const api::OwnerReference& owner) {
    return owner.controller && owner.kind == "DaemonSet";
  });
}

std::shared_ptr<const api::Node> NewNode(const api::Node& like, const std::string& name) {
  auto node = Copy(like, name);
  for (auto& [key, value] : node->metadata.labels) {
    if (key == kHostname) value = name;
  }
  node->spec.unschedulable = false;
  std::erase_if(node->spec.taints, TellsOfState);
  node->status.images.clear();
  return node;
}

}  // namespace

std::optional<Delta> NodeLike(std::string_view like, const simulator::MemoryApi& objects) {
  const auto node = simulator::FindIn<api::Node>(objects, Kind::kNode, like);
  if (node == nullptr) return std::nullopt;
  const std::string name = NewName(like, objects);
  Delta delta;
  delta.put.emplace_back(NewNode(*node, name));
  if (const auto csi = simulator::FindIn<api::CSINode>(objects, Kind::kCsiNode, like)) {
    delta.put.emplace_back(std::shared_ptr<const api::CSINode>(Copy(*csi, name)));
  }
  objects.ForEach(Kind::kResourceSlice, [&](const api::ObjectPtr& object) {
    const api::ResourceSlice& slice = *api::As<api::ResourceSlice>(object);
    if (slice.spec.node_name != like) return;
    auto copy = Copy(slice, slice.metadata.name + "-" + name);
    copy->spec.node_name = name;
    copy->spec.pool.name += "-" + name;
    delta.put.emplace_back(std::shared_ptr<const api::ResourceSlice>(std::move(copy)));
  });
  objects.ForEach(Kind::kPod, [&](const api::ObjectPtr& object) {
    const api::Pod& pod = *api::As<api::Pod>(object);
    if (pod.spec.node_name != like || !IsDaemon(pod)) return;
    auto copy = Copy(pod, pod.metadata.name + "-" + name);
    copy->spec.node_name = name;
    delta.put.emplace_back(std::shared_ptr<const api::Pod>(std::move(copy)));
  });
  return delta;
}

}  // namespace berth::fixes
