// SPDX-License-Identifier: Apache-2.0
#include "src/cache/pod_group_states.h"

#include <string>
#include <utility>

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

base::StringMap<PodGroupState>::iterator PodGroupStates::GroupOf(const api::Pod& pod) {
  const auto key = group_of_.find(pod.metadata.uid);
  return key == group_of_.end() ? groups_.end() : groups_.find(key->second);
}

PodGroupState::Member* PodGroupStates::Follow(const api::Pod& pod) {
  const std::string& uid = pod.metadata.uid;
  const std::string key = PodGroupNameOf(pod) == nullptr ? "" : GroupKey(pod);
  PodGroupState::Member moved;
  if (const auto group = GroupOf(pod); group != groups_.end() && group->first != key) {
    PodGroupState::Member& member = group->second.members.find(uid)->second;
    moved = std::move(member);
    if (moved.placed) --group->second.scheduled;
    member = {};
    Sweep(group, uid);
  }
  if (key.empty()) return nullptr;
  PodGroupState& group = groups_[key];
  const auto [member, is_new] = group.members.try_emplace(uid, std::move(moved));
  if (is_new) {
    if (member->second.placed) ++group.scheduled;
    group_of_[uid] = key;
  }
  return &member->second;
}

void PodGroupStates::SetPending(const std::shared_ptr<const api::Pod>& pod) {
  if (!MayBeMember(*pod)) return;
  PodGroupState::Member* const member = Follow(*pod);
  if (member == nullptr) return;
  member->pending = true;
  member->pod = pod;
}

void PodGroupStates::RemovePending(const api::Pod& pod) {
  if (!MayBeMember(pod)) return;
  const auto group = GroupOf(pod);
  if (group == groups_.end()) return;
  group->second.members.find(pod.metadata.uid)->second.pending = false;
  Sweep(group, pod.metadata.uid);
}

void PodGroupStates::Place(const std::shared_ptr<const api::Pod>& pod, std::string_view node_name,
                           bool assumed) {
  auto group = GroupOf(*pod);
  if (!assumed || group == groups_.end()) {
    if (Follow(*pod) == nullptr) return;
    group = GroupOf(*pod);
  }
  PodGroupState::Member& member = group->second.members.find(pod->metadata.uid)->second;
  if (!member.placed) ++group->second.scheduled;
  member.placed = true;
  member.node_name = node_name;
  member.assumed = assumed;
  if (!assumed || member.pod == nullptr) member.pod = pod;
}

void PodGroupStates::Unplace(const api::Pod& pod) {
  const auto group = GroupOf(pod);
  if (group == groups_.end()) return;
  PodGroupState::Member& member = group->second.members.find(pod.metadata.uid)->second;
  if (!member.placed) return;
  member.placed = member.assumed = false;
  --group->second.scheduled;
  Sweep(group, pod.metadata.uid);
}

void PodGroupStates::Sweep(base::StringMap<PodGroupState>::iterator group, std::string_view uid) {
  const auto member = group->second.members.find(uid);
  if (member->second.pending || member->second.placed) return;
  group->second.members.erase(member);
  group_of_.erase(uid);
  if (group->second.members.empty()) groups_.erase(group);
}

}  // namespace berth::cache
