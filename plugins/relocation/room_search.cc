// SPDX-License-Identifier: Apache-2.0
#include "plugins/relocation/room_search.h"

#include <algorithm>
#include <string_view>
#include <tuple>
#include <utility>

namespace berth::plugins {
namespace {

constexpr size_t kMostNodes = 64;

const std::string& NameOf(const Snapshot& snapshot, NodeRow row) {
  return snapshot.node(row).metadata.name;
}

}  // namespace

RoomSearch::RoomSearch(Handle& handle, CycleState& state, const PodInfo& pod,
                       const Snapshot& snapshot, const NodeToStatus& statuses)
    : handle_(handle),
      state_(state),
      pod_(pod),
      snapshot_(snapshot),
      statuses_(statuses),
      steps_before_(state.budget().steps()),
      dry_run_(handle.StartDryRun(state, pod)),
      budgets_(handle.listers()) {}

bool RoomSearch::exhausted() const {
  return state_.budget().spent() || steps() > kMostStepsOfSearch;
}

bool RoomSearch::RoomComes() {
  size_t pods = 0;
  const std::vector<const PodInfo*> ending = EndingPods(handle_, snapshot_, pods);
  if (!state_.budget().Spend(pods) || ending.empty()) return false;
  const std::unique_ptr<MovesTrial> trial = handle_.StartMovesTrial(state_);
  for (const PodInfo* pod : ending) trial->Remove(*pod);
  return trial->BestNode(pod_, kNoRow) != kNoRow;
}

std::optional<size_t> RoomSearch::FewestOn(NodeRow row, size_t most,
                                           std::vector<const PodInfo*>& movable) {
  movable.clear();
  for (const PodInfo* pod : snapshot_.pods(row)) {
    if (MayMove(*pod)) movable.push_back(pod);
  }
  const std::optional<size_t> fewest = FewestToGo(pod_.requests, movable, snapshot_, row);
  return fewest && *fewest <= most ? fewest : std::nullopt;
}

std::vector<RoomSearch::Candidate> RoomSearch::FindCandidates(size_t most) {
  std::vector<Candidate> candidates;
  std::vector<const PodInfo*> movable;
  snapshot_.nodes().ForEach([&](NodeRow row) {
    if (statuses_.Get(row).code() != Code::kUnschedulable) return;
    if (!state_.budget().Spend(1 + snapshot_.pods(row).size() * kStepsOfPod)) return;
    if (const auto fewest = FewestOn(row, most, movable)) candidates.push_back({row, *fewest});
  });
  std::ranges::sort(candidates, {}, [this](const Candidate& one) {
    return std::tuple(one.fewest, std::string_view(NameOf(snapshot_, one.row)));
  });
  return candidates;
}

std::optional<Room> RoomSearch::Find(size_t most) {
  std::optional<Room> best;
  size_t tried = 0;
  for (const Candidate& candidate : FindCandidates(most)) {
    if (tried++ == kMostNodes || exhausted()) break;
    const size_t wanted = best ? best->moves.size() - 1 : most;
    if (candidate.fewest > wanted) break;
    if (auto room = TryNode(candidate.row, wanted)) best = std::move(room);
  }
  return best;
}

std::vector<MovablePod> RoomSearch::MovableOn(NodeRow row) {
  std::vector<MovablePod> movable;
  for (const PodInfo* pod : snapshot_.pods(row)) {
    if (!MayMove(*pod) || budgets_.Ask(*pod->pod) == Leave::kRefused) continue;
    movable.push_back({pod, LargestPart(*pod, pod_.requests)});
  }
  SortForReturn(movable);
  return movable;
}

std::vector<const PodInfo*> RoomSearch::FewestOf(NodeRow row,
                                                 const std::vector<MovablePod>& movable) {
  std::vector<const PodInfo*> going;
  if (!state_.budget().Spend((movable.size() + 1) * kStepsOfFilters)) return going;
  dry_run_->Begin(row);
  for (const MovablePod& one : movable) {
    if (!dry_run_->RemovePod(*one.pod, row).ok()) return going;
  }
  if (!dry_run_->Filter().ok()) return going;
  for (const MovablePod& one : movable) {
    if (!dry_run_->AddPod(*one.pod, row).ok()) return {};
    if (dry_run_->Filter().ok()) continue;
    if (!dry_run_->RemovePod(*one.pod, row).ok()) return {};
    going.push_back(one.pod);
  }
  std::ranges::reverse(going);
  return going;
}

const PodInfo* RoomSearch::Place(const std::vector<const PodInfo*>& going, Room& room) {
  room.moves.clear();
  const std::unique_ptr<MovesTrial> trial = handle_.StartMovesTrial(state_);
  for (const PodInfo* pod : going) trial->Remove(*pod);
  if (!trial->Fits(pod_, room.row) || !trial->Place(pod_, room.row)) return nullptr;
  return PlaceSuccessors(going, snapshot_, *trial, room.moves);
}

std::optional<Room> RoomSearch::TryNode(NodeRow row, size_t most) {
  return TryMoves(
      Room{row, {}}, MovableOn(row), most, budgets_, [this] { return exhausted(); },
      [&](const std::vector<MovablePod>& movable) { return FewestOf(row, movable); },
      [this](const std::vector<const PodInfo*>& going, Room& room) { return Place(going, room); });
}

}  // namespace berth::plugins
