// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "berth/api/pod.h"

namespace berth::inline in_tree {

// The name of the pod group that the pod belongs to, in its own namespace; nullptr: to none.
inline const std::string* PodGroupNameOf(const api::Pod& pod) {
  const auto& group = pod.spec.scheduling_group;
  return group && group->pod_group_name ? &*group->pod_group_name : nullptr;
}

// The pods that name one pod group in spec.schedulingGroup: those of our profiles that have no node
// yet, and those of every scheduler that have one, or are assumed on one.
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

}  // namespace berth::inline in_tree
