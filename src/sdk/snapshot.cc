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
  requested_.milli_cpu = 0;
  requested_.memory = 0;
  requested_.ephemeral_storage = 0;
  requested_.scalars.clear();
  non_zero_milli_cpu_ = 0;
  non_zero_memory_ = 0;
}

void Overlay::Count(const PodInfo& pod, int64_t sign) {
  const Resources& placed = pod.placed;
  requested_.milli_cpu += sign * placed.milli_cpu;
  requested_.memory += sign * placed.memory;
  requested_.ephemeral_storage += sign * placed.ephemeral_storage;
  for (const auto& [id, amount] : placed.scalars) requested_.Add(id, sign * amount);
  non_zero_milli_cpu_ += sign * pod.non_zero_milli_cpu;
  non_zero_memory_ += sign * pod.non_zero_memory;
}

}  // namespace berth
