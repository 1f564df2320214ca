// SPDX-License-Identifier: Apache-2.0
#include "src/scheduler/held_places.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "berth/in_tree/eviction.h"

namespace berth::scheduler {
namespace {

// A ReplicaSet makes the next pod at once, a StatefulSet when the last one has gone.
constexpr Duration kHeldAfterEnd = std::chrono::minutes(2);
constexpr Duration kLongestHeld = std::chrono::minutes(10);

}  // namespace

void HeldPlaces::Hold(std::shared_ptr<const api::Pod> leaving, std::string_view node_name,
                      Time now) {
  GiveBack(leaving->metadata.uid);
  auto next = std::make_shared<api::Pod>(*PendingCopy(*leaving, leaving->metadata.name));
  next->metadata.uid = cache::HeldPlaceUid(leaving->metadata.uid);
  const PodInfoPtr info = cache_.MakePodInfo(std::move(next));
  nominator_.Hold(info, std::string(node_name));
  held_.push_back({std::move(leaving), info, std::string(node_name), now, now + kHeldAfterEnd});
}

void HeldPlaces::Release(std::vector<Held>::iterator held) {
  nominator_.Release(cache::HeldPlaceUid(held->leaving->metadata.uid));
  held_.erase(held);
}

void HeldPlaces::GiveBack(std::string_view leaving_uid) {
  const auto held = std::ranges::find_if(
      held_, [&](const Held& one) { return one.leaving->metadata.uid == leaving_uid; });
  if (held != held_.end()) Release(held);
}

std::string HeldPlaces::Take(const api::Pod& pod) {
  if (held_.empty() || !pod.status.nominated_node_name.empty() || pod.metadata.deletion_timestamp) {
    return "";
  }
  const auto held =
      std::ranges::find_if(held_, [&](const Held& one) { return MayReplace(*one.leaving, pod); });
  if (held == held_.end()) return "";
  std::string node_name = held->node_name;
  const std::string uid = cache::HeldPlaceUid(held->leaving->metadata.uid);
  Release(held);
  // The room is given to this pod: no other need be tried for it.
  nominator_.ForgetEnded(uid);
  return node_name;
}

void HeldPlaces::Expire(Time now) {
  for (auto held = held_.begin(); held != held_.end();) {
    if (now < held->until) {
      ++held;
      continue;
    }
    const bool is_there = cache_.FindPod(held->leaving->metadata.uid).has_value();
    if (is_there && now < held->since + kLongestHeld) {
      held->until = std::min(now + kHeldAfterEnd, held->since + kLongestHeld);
      ++held;
      continue;
    }
    const auto next = held - held_.begin();
    Release(held);
    held = held_.begin() + next;
  }
}

std::optional<Time> HeldPlaces::NextExpiry() const {
  if (held_.empty()) return std::nullopt;
  return std::ranges::min_element(held_, {}, &Held::until)->until;
}

}  // namespace berth::scheduler
