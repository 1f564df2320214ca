// SPDX-License-Identifier: Apache-2.0
#include "plugins/fixed_node_order/fixed_node_order.h"

#include <algorithm>
#include <cstdint>

#include "berth/in_tree/eviction.h"

namespace berth::plugins {
namespace {

constexpr uint64_t kPlaces = 50;

// FNV-1a, then mixed, so that names that differ in their last digit lie far apart; the same on
// every machine.
int64_t PlaceOf(std::string_view name) {
  uint64_t hash = 0xcbf29ce484222325;
  for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  hash ^= hash >> 33;
  hash *= 0xff51afd7ed558ccd;
  hash ^= hash >> 33;
  return static_cast<int64_t>(hash % kPlaces);
}

int64_t ScoreOf(std::string_view name, bool used) { return 2 * PlaceOf(name) + (used ? 1 : 0); }

}  // namespace

ScoreResult FixedNodeOrder::Score(const CycleState&, const PodInfo&, const NodeView& node) const {
  bool used = false;
  node.ForEachPod([&used](const PodInfo& pod) { used = used || !IsTied(*pod.pod); });
  return {ScoreOf(node.node().metadata.name, used)};
}

void FixedNodeOrder::ScoreNodes(const CycleState&, const PodInfo&, const Snapshot& snapshot,
                                std::span<const NodeRow> nodes, std::span<int64_t> scores) const {
  for (size_t i = 0; i < nodes.size(); ++i) {
    const bool used = !std::ranges::all_of(snapshot.pods(nodes[i]),
                                           [](const PodInfo* pod) { return IsTied(*pod->pod); });
    scores[i] = ScoreOf(snapshot.node(nodes[i]).metadata.name, used);
  }
}

}  // namespace berth::plugins
