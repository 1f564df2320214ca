// SPDX-License-Identifier: Apache-2.0
#include "src/cache/nominator.h"

#include <algorithm>

namespace berth::cache {
namespace {

constexpr std::string_view kHeldPrefix = "held/";

}  // namespace

std::string HeldPlaceUid(std::string_view leaving_uid) {
  return std::string(kHeldPrefix) + std::string(leaving_uid);
}

bool IsHeldPlace(const api::Pod& pod) { return pod.metadata.uid.starts_with(kHeldPrefix); }

void Nominator::Note(const std::string& node_name) {
  ++generation_;
  if (changes_.empty()) changes_.resize(kChangesRemembered);
  changes_[generation_ % kChangesRemembered] = node_name;
}

bool Nominator::NodesChangedSince(uint64_t generation, std::vector<std::string>& nodes) const {
  if (generation < all_changed_ || generation > generation_ ||
      generation_ - generation > kChangesRemembered) {
    return false;
  }
  for (uint64_t g = generation + 1; g <= generation_; ++g) {
    nodes.push_back(changes_[g % kChangesRemembered]);
  }
  return true;
}

void Nominator::Remove(const std::string& uid) {
  if (place_of_.empty()) return;  // as mostly: not even the name is hashed
  auto found = place_of_.find(uid);
  if (found == place_of_.end()) return;
  auto node = pods_on_.find(found->second.node);
  const auto pod = std::ranges::find_if(
      node->second, [&](const PodInfoPtr& other) { return other->pod->metadata.uid == uid; });
  ended_.push_back({std::move(*pod), found->second.node});
  node->second.erase(pod);
  if (node->second.empty()) pods_on_.erase(node);
  Note(found->second.node);
  place_of_.erase(found);
}

void Nominator::ForgetEnded(std::string_view uid) {
  std::erase_if(ended_, [&](const Ended& ended) { return ended.pod->pod->metadata.uid == uid; });
}

void Nominator::AddNominatedPod(PodInfoPtr pod, const NominatingInfo& info) {
  const std::string& uid = pod->pod->metadata.uid;
  const bool from_here = info.mode == NominatingMode::kOverride;
  const std::string& node =
      from_here ? info.nominated_node_name : pod->pod->status.nominated_node_name;
  if (node.empty() || (is_pending_ && !is_pending_(*pod->pod))) {
    Remove(uid);
    return;
  }
  Put(std::move(pod), node, from_here);
}

void Nominator::Hold(PodInfoPtr pod, const std::string& node_name) {
  Put(std::move(pod), node_name, /*from_here=*/false);
}

void Nominator::SetHeldAside(bool aside) {
  if (aside == held_aside_) return;
  held_aside_ = aside;
  all_changed_ = ++generation_;
}

// `node` may be of the pod.
void Nominator::Put(PodInfoPtr pod, const std::string& node, bool from_here) {
  const std::string uid = pod->pod->metadata.uid;
  Note(node);
  if (const auto known = place_of_.find(uid);
      known != place_of_.end() && known->second.node == node) {
    known->second.from_here = known->second.from_here || from_here;
    for (PodInfoPtr& nominated : pods_on_.find(node)->second) {
      if (nominated->pod->metadata.uid != uid) continue;
      nominated = std::move(pod);
      return;
    }
  }
  Remove(uid);
  place_of_[uid] = Place{node, ++last_number_, from_here};
  pods_on_[node].push_back(std::move(pod));
}

std::optional<Nominator::Place> Nominator::PlaceOf(std::string_view uid) const {
  const auto place = place_of_.find(uid);
  if (place == place_of_.end()) return std::nullopt;
  return place->second;
}

void Nominator::Restore(PodInfoPtr pod, const Place& place) {
  const std::string uid = pod->pod->metadata.uid;
  Remove(uid);
  if (is_pending_ && !is_pending_(*pod->pod)) return;
  Note(place.node);
  std::vector<PodInfoPtr>& pods = pods_on_[place.node];
  const auto later = std::ranges::find_if(pods, [&](const PodInfoPtr& other) {
    return place_of_.find(other->pod->metadata.uid)->second.number > place.number;
  });
  pods.insert(later, std::move(pod));
  place_of_[uid] = place;
}

void Nominator::UpdateNominatedPod(const api::Pod& old_pod, PodInfoPtr new_pod) {
  NominatingInfo info;
  if (old_pod.status.nominated_node_name.empty() &&
      new_pod->pod->status.nominated_node_name.empty()) {
    const std::string_view kept = NominatedNode(old_pod.metadata.uid);
    if (kept.empty()) return;
    info = {NominatingMode::kOverride, std::string(kept)};
  }
  if (old_pod.metadata.uid != new_pod->pod->metadata.uid) Remove(old_pod.metadata.uid);
  AddNominatedPod(std::move(new_pod), info);
}

bool Nominator::Counts(const PodInfo& pod, const PodInfo& nominated) const {
  if (!set_aside_.empty() && set_aside_.contains(nominated.pod->metadata.uid)) return false;
  if (held_aside_ && IsHeldPlace(*nominated.pod)) return false;
  if (nominated.priority() != pod.priority()) return nominated.priority() > pod.priority();
  const std::string& uid = pod.pod->metadata.uid;
  const std::string& nominated_uid = nominated.pod->metadata.uid;
  return nominated_uid != uid && !GoesBefore(uid, nominated_uid);
}

bool Nominator::Matter(const PodInfo& pod) const {
  return std::ranges::any_of(pods_on_, [&](const auto& on_node) {
    return std::ranges::any_of(
        on_node.second, [&](const PodInfoPtr& nominated) { return Counts(pod, *nominated); });
  });
}

void Nominator::SetAside(const std::vector<std::string>& uids) {
  const bool were_any = !set_aside_.empty();
  set_aside_.clear();
  for (const std::string& uid : uids) {
    if (place_of_.contains(uid)) set_aside_.insert(uid);
  }
  if (were_any || !set_aside_.empty()) all_changed_ = ++generation_;
}

bool Nominator::GoesBefore(std::string_view uid, std::string_view other_uid) const {
  const auto place = place_of_.find(uid);
  if (place == place_of_.end() || !place->second.from_here) return false;
  const auto other = place_of_.find(other_uid);
  return other != place_of_.end() && place->second.node == other->second.node &&
         place->second.number < other->second.number;
}

std::span<const PodInfoPtr> Nominator::NominatedPodsForNode(std::string_view node_name) const {
  auto found = pods_on_.find(node_name);
  if (found == pods_on_.end()) return {};
  return found->second;
}

std::string_view Nominator::NominatedNode(std::string_view uid) const {
  if (place_of_.empty()) return {};
  auto found = place_of_.find(uid);
  if (found == place_of_.end()) return {};
  return found->second.node;
}

}  // namespace berth::cache
