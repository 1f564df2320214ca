// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "berth/api/pod.h"
#include "berth/api/scheduling.h"

namespace berth::inline in_tree {

// The name of the pod group that the pod belongs to, in its own namespace; nullptr: to none. For
// pods as they count (scheduler::Counted()), not as the API server shows them: there the label that
// the plugin Coscheduling goes by is no spec.schedulingGroup.
inline const std::string* PodGroupNameOf(const api::Pod& pod) {
  const auto& group = pod.spec.scheduling_group;
  return group && group->pod_group_name ? &*group->pod_group_name : nullptr;
}

// The pods that name one pod group, in spec.schedulingGroup or, with the plugin Coscheduling, in
// the label scheduling.x-k8s.io/pod-group: those of our profiles that have no node yet, and those
// of every scheduler that have one, or are assumed on one.
struct PodGroupState {
  struct Member {
    std::shared_ptr<const api::Pod> pod;  // as the API server shows it
    bool pending = false;                 // shown without a node
    bool placed = false;                  // on a node, assumed ones included
    std::string node_name = {};           // placed
    bool assumed = false;
  };
  std::map<std::string, Member, std::less<>> members;  // by UID
  size_t scheduled = 0;                                // those that are placed
};

// What is known of the pods of each pod group.
//
// Thread safety: the scheduling thread. What Find() returns is good until a pod comes, goes or is
// assumed.
class PodGroupStates {
 public:
  virtual ~PodGroupStates() = default;
  // nullptr: no pod names it.
  virtual const PodGroupState* Find(std::string_view namespace_, std::string_view name) const = 0;
};

// A pod group, or a composite one, whose children are groups. At most one is set.
struct AnyPodGroup {
  std::shared_ptr<const api::PodGroup> pod_group = nullptr;
  std::shared_ptr<const api::CompositePodGroup> composite = nullptr;

  explicit operator bool() const { return pod_group != nullptr || composite != nullptr; }
  // These want a group.
  const api::ObjectMeta& metadata() const {
    return composite ? composite->metadata : pod_group->metadata;
  }
  int32_t priority() const {
    return (composite ? composite->spec.priority : pod_group->spec.priority).value_or(0);
  }
  const std::optional<std::string>& preemption_policy() const {
    return composite ? composite->spec.preemption_policy : pod_group->spec.preemption_policy;
  }
  const std::optional<api::PodGroupSchedulingConstraints>& scheduling_constraints() const {
    return composite ? composite->spec.scheduling_constraints
                     : pod_group->spec.scheduling_constraints;
  }
  // The composite group that it is part of; none: it is a root.
  const std::optional<std::string>& parent() const {
    return composite ? composite->spec.parent_composite_pod_group_name
                     : pod_group->spec.parent_composite_pod_group_name;
  }
};

// Whether it is a PodGroup of scheduling.x-k8s.io (plugin Coscheduling). Such a group is part of no
// other, and has no priority and no status of its own.
inline bool IsCoscheduled(const AnyPodGroup& group) {
  return group.pod_group != nullptr && group.pod_group->coscheduling.has_value();
}

// A group among those that it belongs to and those that belong to it.
struct PodGroupNode {
  AnyPodGroup object;  // none: only its children are known, which name it
  bool composite = false;
  // nullptr: it is a root, or its object is not known.
  const PodGroupNode* parent = nullptr;
  // Those whose objects are known, in the order in which they are tried: by creation, then by name.
  std::vector<const PodGroupNode*> children = {};
};

// How many groups there are at most from a root to a pod, as in the API.
inline constexpr int kMaxPodGroupTreeDepth = 4;

// The group's root, itself maybe; nullptr: a group on the way is not known, or there are too many,
// as there are where groups are parts of each other.
inline const PodGroupNode* RootOf(const PodGroupNode& group) {
  const PodGroupNode* node = &group;
  for (int depth = 1; depth <= kMaxPodGroupTreeDepth && node->object; ++depth) {
    if (node->parent == nullptr) return node;
    node = node->parent;
  }
  return nullptr;
}

// The pod groups by what they are part of. Without the gate CompositePodGroup each is a root.
//
// Thread safety: the scheduling thread. What is found is good until a group comes or goes.
class PodGroupForest {
 public:
  virtual ~PodGroupForest() = default;
  // nullptr: nothing is known of it.
  virtual const PodGroupNode* Find(std::string_view namespace_, std::string_view name) const = 0;
  virtual const PodGroupNode* FindComposite(std::string_view namespace_,
                                            std::string_view name) const = 0;
};

}  // namespace berth::inline in_tree
