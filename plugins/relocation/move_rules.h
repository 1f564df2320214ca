// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "berth/in_tree/cycle_budget.h"
#include "berth/in_tree/eviction.h"
#include "berth/in_tree/handle.h"

// What the searches for a pod and for a pod group have in common.
namespace berth::plugins {

// A pod that has to move, and the node where the one that its controller makes in its place fits.
struct PodMove {
  const PodInfo* pod = nullptr;  // good for the running cycle
  NodeRow to = kNoRow;
};

// A pod that may move.
struct MovablePod {
  const PodInfo* pod = nullptr;
  double size = 0;  // the largest part that it is of what is asked for
};

// No search spends more steps; a cycle has ten times as many.
inline constexpr uint64_t kMostStepsOfSearch = CycleBudget::kSteps / 10;
// What looking at one pod costs, and asking the filters about one node.
inline constexpr uint64_t kStepsOfPod = 4;
inline constexpr uint64_t kStepsOfFilters = 64;

// Whether a pod of at most that priority may move, as far as the pod itself says.
bool MayMoveFor(const PodInfo& pod, int32_t priority);
// Into the order in which they are brought back: those that free least first, of these the more
// important ones.
void SortForReturn(std::vector<MovablePod>& movable);
// The pods that are being deleted, and should not have ended by now. `looked_at` says how many
// there are.
std::vector<const PodInfo*> EndingPods(Handle& handle, const Snapshot& snapshot, size_t& looked_at);
// Places each pod's successor on another node, with those before it in place, and notes the moves.
// Which pod has no place; nullptr: all have one.
const PodInfo* PlaceSuccessors(const std::vector<const PodInfo*>& going, const Snapshot& snapshot,
                               MovesTrial& trial, std::vector<PodMove>& moves);
// What PodDisruptionBudgets say to moves; they are read namespace by namespace.
//
// Thread safety: the scheduling thread, within one cycle.
class MoveBudgets {
 public:
  explicit MoveBudgets(const Listers& listers) : listers_(listers) {}

  Leave Ask(const api::Pod& pod);
  // The first whose eviction they refuse once those before it have gone; nullptr: none.
  const PodInfo* RefusedOf(const std::vector<const PodInfo*>& going);

 private:
  const Listers& listers_;
  EvictionBudgets budgets_;
  std::set<std::string, std::less<>> known_namespaces_;  // of budgets_
};

// Seeks room by fewer and fewer of the pods that may move. `fewest(movable)` says which of them
// must go, none where all are not enough; `place(going, room)` finds places for these and for what
// room is made for, and says which one has none, or nullptr. A pod that has none or whose budget
// refuses it stays, and what is left is tried. nullopt: more than `most` would have to go, or there
// is no room.
template <typename Room, typename Exhausted, typename Fewest, typename Place>
std::optional<Room> TryMoves(Room room, std::vector<MovablePod> movable, size_t most,
                             MoveBudgets& budgets, Exhausted exhausted, Fewest fewest,
                             Place place) {
  while (!movable.empty() && !exhausted()) {
    const std::vector<const PodInfo*> going = fewest(movable);
    if (going.empty() || going.size() > most) return std::nullopt;
    const PodInfo* stays = budgets.RefusedOf(going);
    if (stays == nullptr) {
      stays = place(going, room);
      if (stays == nullptr) return room.moves.empty() ? std::nullopt : std::optional(room);
    }
    std::erase_if(movable, [stays](const MovablePod& one) { return one.pod == stays; });
  }
  return std::nullopt;
}

}  // namespace berth::plugins
