// SPDX-License-Identifier: Apache-2.0
#include "plugins/relocation/group_room_search.h"

#include <algorithm>
#include <memory>
#include <string_view>
#include <tuple>
#include <utility>

namespace berth::plugins {
namespace {

constexpr size_t kMostNodesOfGroup = 64;
// How often the group is tried.
constexpr size_t kMostTries = 32;
// Of different requests so many tell which nodes are cheap.
constexpr size_t kMostShapes = 4;

}  // namespace

GroupRoomSearch::GroupRoomSearch(Handle& handle, CycleState& state, const PodGroupInfo& group,
                                 const Snapshot& snapshot, PodGroupDryRun& dry_run)
    : handle_(handle),
      state_(state),
      group_(group),
      snapshot_(snapshot),
      dry_run_(dry_run),
      steps_before_(state.budget().steps()),
      budgets_(handle.listers()) {
  for (const PodInfo* pod : group.unscheduled_pods) {
    const auto same = [pod](const Resources* shape) { return *shape == pod->requests; };
    if (shapes_.size() < kMostShapes && std::ranges::none_of(shapes_, same)) {
      shapes_.push_back(&pod->requests);
    }
  }
}

bool GroupRoomSearch::exhausted() const {
  return state_.budget().spent() || steps() > kMostStepsOfSearch || tries_ >= kMostTries;
}

// Each of its pods is judged on all nodes. The trial has the pods that are on their way in place;
// it ends at once, as the dry run brings pods back only where nothing else is open.
bool GroupRoomSearch::Starts() {
  const uint64_t nodes = snapshot_.num_nodes();
  ++tries_;
  if (!state_.budget().Spend(group_.unscheduled_pods.size() * (nodes + 1) * kStepsOfPod)) {
    return false;
  }
  const std::unique_ptr<MovesTrial> trial = handle_.StartMovesTrial(state_);
  return dry_run_.Schedule().ok();
}

bool GroupRoomSearch::RoomComes() {
  dry_run_.Reset();
  size_t pods = 0;
  const std::vector<const PodInfo*> ending = EndingPods(handle_, snapshot_, pods);
  if (!state_.budget().Spend(pods) || ending.empty()) return false;
  dry_run_.RemovePods(ending);
  return Starts();
}

std::optional<size_t> GroupRoomSearch::FewestOn(NodeRow row, size_t most) {
  std::vector<const PodInfo*> movable;
  for (const PodInfo* pod : snapshot_.pods(row)) {
    if (MayMoveFor(*pod, group_.object.priority())) movable.push_back(pod);
  }
  std::optional<size_t> fewest;
  for (const Resources* shape : shapes_) {
    const auto of_shape = FewestToGo(*shape, movable, snapshot_, row);
    if (of_shape && *of_shape <= most) fewest = std::min(fewest.value_or(*of_shape), *of_shape);
  }
  return fewest;
}

std::vector<NodeRow> GroupRoomSearch::FindCandidates(size_t most) {
  struct Candidate {
    size_t fewest = 0;
    std::string_view name;
    NodeRow row = kNoRow;
  };
  std::vector<Candidate> candidates;
  snapshot_.nodes().ForEach([&](NodeRow row) {
    if (!state_.budget().Spend(1 + snapshot_.pods(row).size() * kStepsOfPod * shapes_.size())) {
      return;
    }
    if (const auto fewest = FewestOn(row, most)) {
      candidates.push_back({*fewest, snapshot_.node(row).metadata.name, row});
    }
  });
  std::ranges::sort(candidates, {},
                    [](const Candidate& one) { return std::tuple(one.fewest, one.name); });
  std::vector<NodeRow> rows;
  const size_t wanted = std::max(kMostNodesOfGroup, 2 * group_.unscheduled_pods.size());
  for (const Candidate& candidate : candidates) {
    if (rows.size() == wanted) break;
    rows.push_back(candidate.row);
  }
  return rows;
}

std::optional<GroupRoom> GroupRoomSearch::Find(size_t most) {
  dry_run_.Reset();
  const std::vector<NodeRow> candidates = FindCandidates(most);
  for (const Extent extent : {Extent::kForOnePod, Extent::kAll}) {
    for (size_t nodes = 1; !candidates.empty() && !exhausted(); nodes *= 2) {
      nodes = std::min(nodes, candidates.size());
      if (auto room = TryNodes(std::span(candidates).first(nodes), extent, most)) return room;
      if (nodes == candidates.size()) break;
    }
  }
  return std::nullopt;
}

std::vector<MovablePod> GroupRoomSearch::MovableOn(NodeRow row, Extent extent) {
  std::vector<MovablePod> movable;
  for (const PodInfo* pod : snapshot_.pods(row)) {
    if (!MayMoveFor(*pod, group_.object.priority())) continue;
    if (budgets_.Ask(*pod->pod) == Leave::kRefused) continue;
    double size = 0;
    for (const Resources* shape : shapes_) size = std::max(size, LargestPart(*pod, *shape));
    movable.push_back({pod, size});
  }
  SortForReturn(movable);
  if (extent == Extent::kAll) return movable;
  // By amounts: each that is not needed stays.
  std::vector<const PodInfo*> away;
  for (const MovablePod& one : movable) away.push_back(one.pod);
  const auto enough = [&](const Resources* shape) {
    return FewestToGo(*shape, away, snapshot_, row).has_value();
  };
  const auto shape = std::ranges::find_if(shapes_, enough);
  if (shape == shapes_.end()) return {};
  for (const MovablePod& one : movable) {
    std::erase(away, one.pod);
    if (!enough(*shape)) away.push_back(one.pod);
  }
  std::erase_if(movable, [&away](const MovablePod& one) {
    return std::ranges::find(away, one.pod) == away.end();
  });
  return movable;
}

std::vector<const PodInfo*> GroupRoomSearch::FewestOf(const std::vector<MovablePod>& movable) {
  std::vector<const PodInfo*> away;
  for (const MovablePod& one : movable) away.push_back(one.pod);
  dry_run_.Reset();
  dry_run_.RemovePods(away);
  std::vector<const PodInfo*> going;
  if (!Starts()) return going;
  const size_t members = group_.unscheduled_pods.size();
  for (const PodInfo* pod : away) {
    if (!state_.budget().Spend(members * kStepsOfFilters)) return {};
    const Result<bool> is_back = dry_run_.Reprieve(std::span(&pod, 1));
    if (!is_back) return {};
    if (!*is_back) going.push_back(pod);
  }
  std::ranges::reverse(going);
  return going;
}

const PodInfo* GroupRoomSearch::Place(const std::vector<const PodInfo*>& going, GroupRoom& room) {
  room = {};
  const std::unique_ptr<MovesTrial> trial = handle_.StartMovesTrial(state_);
  for (const ProposedAssignment& assignment : dry_run_.assignments()) {
    const NodeRow row = snapshot_.FindNode(assignment.node_name);
    if (row == kNoRow || !trial->Fits(*assignment.pod, row) ||
        !trial->Place(*assignment.pod, row)) {
      return nullptr;
    }
    room.nominations.push_back(
        {assignment.pod->pod->metadata.uid, std::string(assignment.node_name)});
  }
  return PlaceSuccessors(going, snapshot_, *trial, room.moves);
}

std::optional<GroupRoom> GroupRoomSearch::TryNodes(std::span<const NodeRow> rows, Extent extent,
                                                   size_t most) {
  std::vector<MovablePod> movable;
  dry_run_.Reset();
  for (const NodeRow row : rows) {
    const std::vector<MovablePod> on_node = MovableOn(row, extent);
    movable.insert(movable.end(), on_node.begin(), on_node.end());
  }
  SortForReturn(movable);
  return TryMoves(
      GroupRoom(), std::move(movable), most, budgets_, [this] { return exhausted(); },
      [this](const std::vector<MovablePod>& left) { return FewestOf(left); },
      [this](const std::vector<const PodInfo*>& going, GroupRoom& room) {
        return Place(going, room);
      });
}

}  // namespace berth::plugins
