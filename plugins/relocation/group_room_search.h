// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "berth/in_tree/cycle_state.h"
#include "berth/in_tree/handle.h"
#include "berth/in_tree/pod_group_points.h"
#include "plugins/relocation/move_rules.h"

namespace berth::plugins {

// Where the pods of a group go once others have moved, in this order.
struct GroupRoom {
  std::vector<PodGroupPostFilterResult::Nomination> nominations = {};
  std::vector<PodMove> moves = {};
};

// Seeks few pods whose move lets a pod group start.
//
// The nodes on which the fewest pods would have to go for one of the group's are taken together:
// one at first, then twice as many each time. All of their pods that may move are imagined away,
// and the group is tried as its cycle tries it. Where it starts, as many as can stay are brought
// back, those that free least first. The others are placed on other nodes, the largest first, each
// judged by its own profile with the group and those before it in place. One that fits nowhere else
// stays, and so does one whose budget is used up by those before it; then it is tried again without
// that.
//
// Who may move is as for a RoomSearch; so are the steps. The nodes are at most 64, or twice as many
// as the group has pods without a node.
//
// Thread safety: the scheduling thread, within one PodGroupPostFilter.
class GroupRoomSearch {
 public:
  // All of it must outlive the search. `dry_run` may be left in any state, and is.
  GroupRoomSearch(Handle& handle, CycleState& state, const PodGroupInfo& group,
                  const Snapshot& snapshot, PodGroupDryRun& dry_run);

  // Whether the group starts once the pods that are being deleted, and should not have ended by
  // now, have ended.
  bool RoomComes();
  // At most so many moves.
  std::optional<GroupRoom> Find(size_t most);
  uint64_t steps() const { return state_.budget().steps() - steps_before_; }

 private:
  bool exhausted() const;
  // Of the cheapest node first.
  std::vector<NodeRow> FindCandidates(size_t most);
  // For one of the group's pods. nullopt: it is not enough, or more than `most` would have to go.
  std::optional<size_t> FewestOn(NodeRow row, size_t most);
  // How many pods a node loses at first.
  enum class Extent : uint8_t { kForOnePod, kAll };
  std::vector<MovablePod> MovableOn(NodeRow row, Extent extent);
  std::optional<GroupRoom> TryNodes(std::span<const NodeRow> rows, Extent extent, size_t most);
  // Whether the group starts in the dry run as it is.
  bool Starts();
  // Those of them that must go, the largest first; none where that is not enough.
  std::vector<const PodInfo*> FewestOf(const std::vector<MovablePod>& movable);
  // Finds places for those that go. Which one cannot, or nullptr: with `room.moves` empty the group
  // does not fit.
  const PodInfo* Place(const std::vector<const PodInfo*>& going, GroupRoom& room);

  Handle& handle_;
  CycleState& state_;
  const PodGroupInfo& group_;
  const Snapshot& snapshot_;
  PodGroupDryRun& dry_run_;
  const uint64_t steps_before_;
  std::vector<const Resources*> shapes_;  // what the group's pods request, each once
  size_t tries_ = 0;                      // of the group
  MoveBudgets budgets_;
};

}  // namespace berth::plugins
