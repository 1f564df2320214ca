// SPDX-License-Identifier: Apache-2.0
#include "src/cache/pod_group_states.h"

#include <string>

#include "berth/api/meta.h"

namespace berth::cache {
namespace {

std::string GroupKey(const api::Pod& pod) {
  return api::NamespacedKey(pod.metadata.namespace_, *PodGroupNameOf(pod));
}

}  // namespace

const PodGroupState* PodGroupStates::Find(std::string_view namespace_,
                                          std::string_view name) const {
  const auto found = groups_.find(api::NamespacedKey(namespace_, name));
  return found == groups_.end() ? nullptr : &found->second;
}

void PodGroupStates::SetPending(const std::shared_ptr<const api::Pod>& pod) {
  if (PodGroupNameOf(*pod) == nullptr) return;
  PodGroupState::Member& member = groups_[GroupKey(*pod)].members[pod->metadata.uid];
  member.pending = true;
  member.pod = pod;
}

void PodGroupStates::RemovePending(const api::Pod& pod) {
  if (PodGroupNameOf(pod) == nullptr) return;
  const auto group = groups_.find(GroupKey(pod));
  if (group == groups_.end()) return;
  const auto member = group->second.members.find(pod.metadata.uid);
  if (member == group->second.members.end()) return;
  member->second.pending = false;
  Sweep(group, pod.metadata.uid);
}

void PodGroupStates::Place(const std::shared_ptr<const api::Pod>& pod, std::string_view node_name,
                           bool assumed) {
  PodGroupState& group = groups_[GroupKey(*pod)];
  PodGroupState::Member& member = group.members[pod->metadata.uid];
  if (!member.placed) ++group.scheduled;
  member.placed = true;
  member.node_name = node_name;
  member.assumed = assumed;
  if (!assumed || member.pod == nullptr) member.pod = pod;
}

void PodGroupStates::Unplace(const api::Pod& pod) {
  const auto group = groups_.find(GroupKey(pod));
  if (group == groups_.end()) return;
  const auto member = group->second.members.find(pod.metadata.uid);
  if (member == group->second.members.end() || !member->second.placed) return;
  member->second.placed = member->second.assumed = false;
  --group->second.scheduled;
  Sweep(group, pod.metadata.uid);
}

void PodGroupStates::Sweep(base::StringMap<PodGroupState>::iterator group, std::string_view uid) {
  const auto member = group->second.members.find(uid);
  if (member->second.pending || member->second.placed) return;
  group->second.members.erase(member);
  if (group->second.members.empty()) groups_.erase(group);
}

}  // namespace berth::cache
