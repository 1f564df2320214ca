// SPDX-License-Identifier: Apache-2.0
#include "src/queue/nominator.h"

#include <algorithm>
#include <utility>

namespace berth::queue {

void Nominator::Remove(const std::string& uid) {
  auto found = node_of_.find(uid);
  if (found == node_of_.end()) return;
  auto node = pods_on_.find(found->second);
  std::erase_if(node->second, [&](const PodInfoPtr& pod) { return pod->pod->metadata.uid == uid; });
  if (node->second.empty()) pods_on_.erase(node);
  node_of_.erase(found);
  ++generation_;
}

void Nominator::AddNominatedPod(PodInfoPtr pod, const NominatingInfo& info) {
  const std::string& uid = pod->pod->metadata.uid;
  const std::string& node = info.mode == NominatingMode::kOverride
                                ? info.nominated_node_name
                                : pod->pod->status.nominated_node_name;
  Remove(uid);
  if (node.empty() || (is_pending_ && !is_pending_(*pod->pod))) return;
  node_of_[uid] = node;
  pods_on_[node].push_back(std::move(pod));
  ++generation_;
}

void Nominator::UpdateNominatedPod(const api::Pod& old_pod, PodInfoPtr new_pod) {
  NominatingInfo info;
  if (old_pod.status.nominated_node_name.empty() &&
      new_pod->pod->status.nominated_node_name.empty()) {
    const std::string_view kept = NominatedNode(old_pod.metadata.uid);
    if (kept.empty()) return;
    info = {NominatingMode::kOverride, std::string(kept)};
  }
  Remove(old_pod.metadata.uid);
  AddNominatedPod(std::move(new_pod), info);
}

void Nominator::DeleteNominatedPodIfExists(const api::Pod& pod) { Remove(pod.metadata.uid); }

std::span<const PodInfoPtr> Nominator::NominatedPodsForNode(std::string_view node_name) const {
  auto found = pods_on_.find(node_name);
  if (found == pods_on_.end()) return {};
  return found->second;
}

std::string_view Nominator::NominatedNode(std::string_view uid) const {
  auto found = node_of_.find(uid);
  if (found == node_of_.end()) return {};
  return found->second;
}

}  // namespace berth::queue
