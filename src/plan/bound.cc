// SPDX-License-Identifier: Apache-2.0
#include "src/plan/bound.h"

#include <algorithm>
#include <array>

#include "berth/pod_info.h"
#include "berth/resources.h"

namespace berth::plan {
namespace {

constexpr std::array kParts = {&Ask::milli_cpu, &Ask::memory, &Ask::slots};
using Room = std::array<WideAmount, kParts.size()>;

// What the pod takes at least of a node, where it is and where it may be moved to.
int64_t LeastOf(const PodInfo& pod, ResourceId id) {
  return std::min(pod.placed.Get(id), pod.requests.Get(id));
}

// What is free on all nodes together. A node that has too little for its pods keeps them or sends
// them elsewhere: either way it adds nothing.
Room RoomOf(const Snapshot& snapshot) {
  Room room = {};
  snapshot.nodes().ForEach([&](NodeRow row) {
    Room left = {snapshot.allocatable(kCpu)[row], snapshot.allocatable(kMemory)[row],
                 snapshot.allowed_pods()[row]};
    for (const PodInfo* pod : snapshot.pods(row)) {
      left[0] -= LeastOf(*pod, kCpu);
      left[1] -= LeastOf(*pod, kMemory);
      left[2] -= 1;
    }
    for (size_t i = 0; i < left.size(); ++i) room[i] += std::max(left[i], WideAmount{0});
  });
  return room;
}

}  // namespace

bool PlacesMost(const std::vector<Level>& levels, const Snapshot& snapshot) {
  Room room = RoomOf(snapshot);
  for (const Level& level : levels) {
    size_t most = level.asks.size();
    std::array<std::vector<int64_t>, kParts.size()> amounts;
    for (size_t i = 0; i < kParts.size(); ++i) {
      for (const Ask& ask : level.asks) amounts[i].push_back(ask.*kParts[i]);
      std::ranges::sort(amounts[i]);
      WideAmount left = room[i];
      for (size_t fits = 0; fits < most; ++fits) {
        left -= amounts[i][fits];
        if (left < 0) most = fits;
      }
    }
    if (level.placed < most) return false;
    for (size_t i = 0; i < kParts.size(); ++i) {
      for (size_t j = 0; j < most; ++j) room[i] -= amounts[i][j];
    }
  }
  return true;
}

}  // namespace berth::plan
