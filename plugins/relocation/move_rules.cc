// SPDX-License-Identifier: Apache-2.0
#include "plugins/relocation/move_rules.h"

#include <algorithm>
#include <chrono>
#include <tuple>

namespace berth::plugins {
namespace {

// A pod that should have ended so long ago may never end, as on a node that is lost.
constexpr Duration kOverdue = std::chrono::minutes(1);

}  // namespace

bool MayMoveFor(const PodInfo& pod, int32_t priority) {
  return pod.priority() <= priority && !pod.pod->spec.node_name.empty() &&
         WhyItStays(*pod.pod).empty();
}

void SortForReturn(std::vector<MovablePod>& movable) {
  std::ranges::sort(movable, {}, [](const MovablePod& one) {
    return std::tuple(one.size, -int64_t{one.pod->priority()}, one.pod->pod->metadata.Key());
  });
}

std::vector<const PodInfo*> EndingPods(Handle& handle, const Snapshot& snapshot,
                                       size_t& looked_at) {
  const Time overdue = handle.clock().WallNow() - kOverdue;
  std::vector<const PodInfo*> ending;
  looked_at = 0;
  snapshot.nodes().ForEach([&](NodeRow row) {
    looked_at += snapshot.pods(row).size();
    for (const PodInfo* pod : snapshot.pods(row)) {
      const auto& until = pod->pod->metadata.deletion_timestamp;
      if (until && *until > overdue) ending.push_back(pod);
    }
  });
  return ending;
}

const PodInfo* PlaceSuccessors(const std::vector<const PodInfo*>& going, const Snapshot& snapshot,
                               MovesTrial& trial, std::vector<PodMove>& moves) {
  for (const PodInfo* pod : going) {
    const PodInfoPtr successor = trial.Successor(*pod->pod);
    const NodeRow to = trial.BestNode(*successor, snapshot.FindNode(pod->pod->spec.node_name));
    if (to == kNoRow || !trial.Place(*successor, to)) return pod;
    moves.push_back({pod, to});
  }
  return nullptr;
}

Leave MoveBudgets::Ask(const api::Pod& pod) {
  const std::string& namespace_ = pod.metadata.namespace_;
  if (known_namespaces_.insert(namespace_).second) {
    listers_.ForEach<api::PodDisruptionBudget>(
        namespace_, [this](const api::PodDisruptionBudget& budget) { budgets_.Add(budget); });
  }
  return budgets_.Ask(pod);
}

const PodInfo* MoveBudgets::RefusedOf(const std::vector<const PodInfo*>& going) {
  const PodInfo* refused = nullptr;
  std::vector<const PodInfo*> counted;
  for (const PodInfo* pod : going) {
    const Leave leave = Ask(*pod->pod);
    if (leave == Leave::kCounted) {
      budgets_.Count(*pod->pod, -1);
      counted.push_back(pod);
    } else if (leave == Leave::kRefused) {
      refused = pod;
      break;
    }
  }
  for (const PodInfo* pod : counted) budgets_.Count(*pod->pod, 1);
  return refused;
}

}  // namespace berth::plugins
