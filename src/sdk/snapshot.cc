// SPDX-License-Identifier: Apache-2.0
#include "berth/snapshot.h"

#include <algorithm>

namespace berth {
namespace {

// Takes `pod` out of `pods`; false when it is not there.
bool Erase(std::vector<const PodInfo*>& pods, const PodInfo& pod) {
  const auto at = std::find(pods.begin(), pods.end(), &pod);
  if (at == pods.end()) return false;
  pods.erase(at);
  return true;
}

}  // namespace

int64_t Column::AmountOfFew(NodeRow row) const {
  const auto at = std::ranges::lower_bound(few, row, {}, &RowAmount::row);
  return at != few.end() && at->row == row ? at->amount : 0;
}

void Overlay::AddPod(const PodInfo& pod) {
  Count(pod, 1);
  if (!Erase(removed_, pod)) added_.push_back(&pod);
}

void Overlay::RemovePod(const PodInfo& pod) {
  Count(pod, -1);
  if (!Erase(added_, pod)) removed_.push_back(&pod);
}

void Overlay::Clear() {
  added_.clear();
  removed_.clear();
  requested_.fill(0);
  scalars_.clear();
  non_zero_milli_cpu_ = 0;
  non_zero_memory_ = 0;
}

void Overlay::Count(const PodInfo& pod, int64_t sign) {
  const Resources& placed = pod.placed;
  const WideAmount times = sign;
  requested_[kCpu] += times * placed.milli_cpu;
  requested_[kMemory] += times * placed.memory;
  requested_[kEphemeralStorage] += times * placed.ephemeral_storage;
  for (const auto& [id, amount] : placed.scalars) {
    const auto at = std::ranges::lower_bound(scalars_, id, {}, &ScalarAmount::first);
    if (at != scalars_.end() && at->first == id) {
      at->second += times * amount;
    } else {
      scalars_.emplace(at, id, times * amount);
    }
  }
  non_zero_milli_cpu_ += times * pod.non_zero_milli_cpu;
  non_zero_memory_ += times * pod.non_zero_memory;
}

WideAmount Overlay::requested(ResourceId id) const {
  if (id < kFirstScalar) return requested_[id];
  const auto at = std::ranges::lower_bound(scalars_, id, {}, &ScalarAmount::first);
  return at != scalars_.end() && at->first == id ? at->second : 0;
}

}  // namespace berth
