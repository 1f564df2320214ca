// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "berth/in_tree/cycle_state.h"
#include "berth/in_tree/dry_run.h"
#include "berth/in_tree/eviction.h"
#include "berth/in_tree/handle.h"
#include "berth/in_tree/points.h"

namespace berth::plugins {

// A pod that has to move, and the node where the one that its controller makes in its place fits.
struct PodUnderWay {
  std::shared_ptr<const api::Pod> pod;
  std::string node;
};

struct PodMove {
  const PodInfo* pod = nullptr;  // good for the running cycle
  NodeRow to = kNoRow;
};

// A node that takes the pod once others have moved, in this order.
struct Room {
  NodeRow row = kNoRow;
  std::vector<PodMove> moves;
};

// Seeks few pods whose move lets one pod in.
//
// On a node that rejects the pod for what others hold there, all pods that may move are imagined
// away, and as many as can stay are brought back, those that free least first. The pod is placed on
// the node then, and the others that were there elsewhere, the largest first, each judged by its
// own profile with those before it in place. One that fits nowhere else stays, and the node is
// tried again without it.
//
// Which pods move: those of at most the pod's priority, with a node of their own, that WhyItStays()
// has nothing against and whose budgets allow it, those that move together taken together.
//
// The search ends with the best so far once it has spent a tenth of a cycle's steps, or has tried
// 64 nodes.
//
// Thread safety: the scheduling thread, within one PostFilter.
class RoomSearch {
 public:
  // All of it must outlive the search. `under_way`: pods whose places are taken.
  RoomSearch(Handle& handle, CycleState& state, const PodInfo& pod, const Snapshot& snapshot,
             const NodeToStatus& statuses, std::span<const PodUnderWay> under_way);

  // Whether a node takes the pod once the pods that are being deleted, and should not have ended by
  // now, have ended.
  bool RoomComes();
  // The fewest moves that were found, at most so many; of several nodes the one that must lose
  // least, by name.
  std::optional<Room> Find(size_t most);
  uint64_t steps() const { return state_.budget().steps() - steps_before_; }

 private:
  struct Candidate {
    NodeRow row = kNoRow;
    size_t fewest = 1;  // pods that must go for what the pod requests
  };
  struct Movable {
    const PodInfo* pod = nullptr;
    double size = 0;  // the largest part that it is of what the pod requests
  };

  bool exhausted() const;
  bool MayMove(const PodInfo& pod) const;
  std::vector<Candidate> FindCandidates(size_t most);
  // nullopt: whichever of these go, it is not enough, or more than `most` would have to.
  std::optional<size_t> FewestOn(NodeRow row, size_t most, std::vector<const PodInfo*>& movable);
  std::vector<Movable> MovableOn(NodeRow row);
  std::optional<Room> TryNode(NodeRow row, size_t most);
  // Those of them that must go, the largest first; none where that is not enough.
  std::vector<const PodInfo*> FewestOf(NodeRow row, const std::vector<Movable>& movable);
  // Finds places for those that go. Which one cannot, or nullptr: with `room.moves` empty the pod
  // itself does not fit.
  const PodInfo* Place(const std::vector<const PodInfo*>& going, Room& room);
  // The first whose eviction the budgets refuse once those before it have gone; nullptr: none.
  const PodInfo* RefusedOf(const std::vector<const PodInfo*>& going);
  // With the pods under way in place.
  std::unique_ptr<MovesTrial> StartTrial();
  Leave AskBudgets(const api::Pod& pod);

  Handle& handle_;
  CycleState& state_;
  const PodInfo& pod_;
  const Snapshot& snapshot_;
  const NodeToStatus& statuses_;
  const std::span<const PodUnderWay> under_way_;
  const uint64_t steps_before_;
  std::unique_ptr<DryRun> dry_run_;
  EvictionBudgets budgets_;
  std::set<std::string, std::less<>> known_namespaces_;  // of budgets_
};

}  // namespace berth::plugins
