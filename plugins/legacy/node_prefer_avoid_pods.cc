// SPDX-License-Identifier: Apache-2.0
#include "plugins/legacy/node_prefer_avoid_pods.h"

#include <algorithm>

#include "plugins/legacy/json_text.h"

namespace berth::plugins {
namespace {

// nullptr: nothing that a node could avoid.
const api::OwnerReference* ControllerOf(const api::Pod& pod) {
  const auto& owners = pod.metadata.owner_references;
  const auto owner = std::ranges::find_if(owners, [](const auto& o) { return o.controller; });
  if (owner == owners.end()) return nullptr;
  const bool known = owner->kind == "ReplicationController" || owner->kind == "ReplicaSet";
  return known ? &*owner : nullptr;
}

// A member that must be an object or text, "" and {} where it is not there.
template <typename T>
bool ReadMember(const ConfigValue& value, std::string_view name,
                const T* (ConfigValue::*as)() const, const ConfigValue** member) {
  *member = FindMember(value, name);
  return *member == nullptr || ((**member).*as)() != nullptr;
}

// Whether the text is in order and names the controller.
bool Names(std::string_view annotation, const api::OwnerReference& controller) {
  const auto document = ParseJson(annotation);
  if (!document) return false;
  const ConfigValue* list = nullptr;
  if (document->is_null()) return false;
  if (document->map() == nullptr ||
      !ReadMember(*document, "preferAvoidPods", &ConfigValue::list, &list) || list == nullptr) {
    return false;
  }
  bool named = false;
  for (const ConfigValue& entry : *list->list()) {
    if (entry.is_null()) continue;
    const ConfigValue* signature = nullptr;
    const ConfigValue* owner = nullptr;
    const ConfigValue* kind = nullptr;
    const ConfigValue* uid = nullptr;
    if (entry.map() == nullptr ||
        !ReadMember(entry, "podSignature", &ConfigValue::map, &signature)) {
      return false;
    }
    if (signature == nullptr) continue;
    if (!ReadMember(*signature, "podController", &ConfigValue::map, &owner)) return false;
    if (owner == nullptr) continue;
    if (!ReadMember(*owner, "kind", &ConfigValue::string, &kind) ||
        !ReadMember(*owner, "uid", &ConfigValue::string, &uid)) {
      return false;
    }
    named = named || (kind != nullptr && uid != nullptr && *kind->string() == controller.kind &&
                      *uid->string() == controller.uid);
  }
  return named;
}

int64_t ScoreOf(const api::OwnerReference* controller, const api::Node& node) {
  if (controller == nullptr) return kMaxNodeScore;
  const std::string* annotation =
      api::Find(node.metadata.annotations, NodePreferAvoidPods::kAnnotation);
  return annotation != nullptr && Names(*annotation, *controller) ? 0 : kMaxNodeScore;
}

}  // namespace

ScoreResult NodePreferAvoidPods::Score(const CycleState&, const PodInfo& pod,
                                       const NodeView& node) const {
  return {ScoreOf(ControllerOf(*pod.pod), node.node())};
}

void NodePreferAvoidPods::ScoreNodes(const CycleState&, const PodInfo& pod,
                                     const Snapshot& snapshot, std::span<const NodeRow> nodes,
                                     std::span<int64_t> scores) const {
  const api::OwnerReference* controller = ControllerOf(*pod.pod);
  for (size_t i = 0; i < nodes.size(); ++i) {
    scores[i] = ScoreOf(controller, snapshot.node(nodes[i]));
  }
}

}  // namespace berth::plugins
