// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string_view>

#include "berth/in_tree/pod_groups.h"
#include "src/base/string_map.h"

namespace berth::cache {

// Which pods each pod group has. The Cache reports the pods on nodes, trials and their
// rollback included; event handlers tell of those without a node. Pods without a schedulingGroup
// are passed over. A pod of scheduler-plugins' groups may change its group, by a label: it is in
// the one that its newest version from the watch names, whichever version other calls pass.
//
// Thread safety: the scheduling thread.
class PodGroupStates final : public berth::PodGroupStates {
 public:
  const PodGroupState* Find(std::string_view namespace_, std::string_view name) const override;

  // A pod without a node, or its newest version.
  void SetPending(const std::shared_ptr<const api::Pod>& pod);
  // It is gone, or has a node now.
  void RemovePending(const api::Pod& pod);

  // `assumed`: the pod as it was decided about; else its newest version.
  void SetPlaced(const std::shared_ptr<const api::Pod>& pod, std::string_view node_name,
                 bool assumed) {
    if (MayBeMember(*pod)) Place(pod, node_name, assumed);
  }
  void RemovePlaced(const api::Pod& pod) {
    if (MayBeMember(pod)) Unplace(pod);
  }

  size_t size() const { return groups_.size(); }

 private:
  // False: it names no group, and is in none. Most pods are such, and each is asked about often.
  bool MayBeMember(const api::Pod& pod) const {
    return PodGroupNameOf(pod) != nullptr ||
           (!group_of_.empty() && group_of_.contains(pod.metadata.uid));
  }
  void Place(const std::shared_ptr<const api::Pod>& pod, std::string_view node_name, bool assumed);
  void Unplace(const api::Pod& pod);
  // The group that the pod is a member of; end(): of none.
  base::StringMap<PodGroupState>::iterator GroupOf(const api::Pod& pod);
  // Moves a member to the group that this version names, and a new one into it; what it is there.
  // nullptr: it names none.
  PodGroupState::Member* Follow(const api::Pod& pod);
  // Drops a member that is neither pending nor placed, and a group without members.
  void Sweep(base::StringMap<PodGroupState>::iterator group, std::string_view uid);

  base::StringMap<PodGroupState> groups_;  // by "namespace/name"
  base::StringMap<std::string> group_of_;  // keys of groups_ by the UIDs of their members
};

}  // namespace berth::cache
