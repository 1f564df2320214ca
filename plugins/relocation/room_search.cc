// SPDX-License-Identifier: Apache-2.0
#include "plugins/relocation/room_search.h"

#include <algorithm>
#include <chrono>
#include <string_view>
#include <tuple>
#include <utility>

namespace berth::plugins {
namespace {

constexpr uint64_t kMostSteps = CycleBudget::kSteps / 10;
constexpr size_t kMostNodes = 64;
// What looking at one pod costs, and asking the filters about one node.
constexpr uint64_t kStepsOfPod = 4;
constexpr uint64_t kStepsOfFilters = 64;
// A pod that should have ended so long ago may never end, as on a node that is lost.
constexpr Duration kOverdue = std::chrono::minutes(1);

const std::string& NameOf(const Snapshot& snapshot, NodeRow row) {
  return snapshot.node(row).metadata.name;
}

}  // namespace

RoomSearch::RoomSearch(Handle& handle, CycleState& state, const PodInfo& pod,
                       const Snapshot& snapshot, const NodeToStatus& statuses,
                       std::span<const PodUnderWay> under_way)
    : handle_(handle),
      state_(state),
      pod_(pod),
      snapshot_(snapshot),
      statuses_(statuses),
      under_way_(under_way),
      steps_before_(state.budget().steps()),
      dry_run_(handle.StartDryRun(state, pod)) {}

bool RoomSearch::exhausted() const { return state_.budget().spent() || steps() > kMostSteps; }

std::unique_ptr<MovesTrial> RoomSearch::StartTrial() {
  std::unique_ptr<MovesTrial> trial = handle_.StartMovesTrial(state_);
  for (const PodUnderWay& under_way : under_way_) {
    const NodeRow row = snapshot_.FindNode(under_way.node);
    if (row != kNoRow) trial->Place(*trial->Successor(*under_way.pod), row);
  }
  return trial;
}

bool RoomSearch::RoomComes() {
  const Time overdue = handle_.clock().WallNow() - kOverdue;
  std::vector<const PodInfo*> ending;
  size_t pods = 0;
  snapshot_.nodes().ForEach([&](NodeRow row) {
    pods += snapshot_.pods(row).size();
    for (const PodInfo* pod : snapshot_.pods(row)) {
      const auto& until = pod->pod->metadata.deletion_timestamp;
      if (until && *until > overdue) ending.push_back(pod);
    }
  });
  if (!state_.budget().Spend(pods) || ending.empty()) return false;
  const std::unique_ptr<MovesTrial> trial = StartTrial();
  for (const PodInfo* pod : ending) trial->Remove(*pod);
  return trial->BestNode(pod_, kNoRow) != kNoRow;
}

bool RoomSearch::MayMove(const PodInfo& pod) const {
  return pod.priority() <= pod_.priority() && !pod.pod->spec.node_name.empty() &&
         WhyItStays(*pod.pod).empty();
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

Leave RoomSearch::AskBudgets(const api::Pod& pod) {
  const std::string& namespace_ = pod.metadata.namespace_;
  if (known_namespaces_.insert(namespace_).second) {
    handle_.listers().ForEach<api::PodDisruptionBudget>(
        namespace_, [this](const api::PodDisruptionBudget& budget) { budgets_.Add(budget); });
  }
  return budgets_.Ask(pod);
}

// In the order in which they are brought back: those that free least first, of these the more
// important ones.
std::vector<RoomSearch::Movable> RoomSearch::MovableOn(NodeRow row) {
  std::vector<Movable> movable;
  for (const PodInfo* pod : snapshot_.pods(row)) {
    if (!MayMove(*pod) || AskBudgets(*pod->pod) == Leave::kRefused) continue;
    movable.push_back({pod, LargestPart(*pod, pod_.requests)});
  }
  std::ranges::sort(movable, {}, [](const Movable& one) {
    return std::tuple(one.size, -int64_t{one.pod->priority()}, one.pod->pod->metadata.Key());
  });
  return movable;
}

std::vector<const PodInfo*> RoomSearch::FewestOf(NodeRow row, const std::vector<Movable>& movable) {
  std::vector<const PodInfo*> going;
  if (!state_.budget().Spend((movable.size() + 1) * kStepsOfFilters)) return going;
  dry_run_->Begin(row);
  for (const Movable& one : movable) {
    if (!dry_run_->RemovePod(*one.pod, row).ok()) return going;
  }
  if (!dry_run_->Filter().ok()) return going;
  for (const Movable& one : movable) {
    if (!dry_run_->AddPod(*one.pod, row).ok()) return {};
    if (dry_run_->Filter().ok()) continue;
    if (!dry_run_->RemovePod(*one.pod, row).ok()) return {};
    going.push_back(one.pod);
  }
  std::ranges::reverse(going);
  return going;
}

const PodInfo* RoomSearch::RefusedOf(const std::vector<const PodInfo*>& going) {
  const PodInfo* refused = nullptr;
  std::vector<const PodInfo*> counted;
  for (const PodInfo* pod : going) {
    const Leave leave = AskBudgets(*pod->pod);
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

const PodInfo* RoomSearch::Place(const std::vector<const PodInfo*>& going, Room& room) {
  room.moves.clear();
  const std::unique_ptr<MovesTrial> trial = StartTrial();
  for (const PodInfo* pod : going) trial->Remove(*pod);
  if (!trial->Fits(pod_, room.row) || !trial->Place(pod_, room.row)) return nullptr;
  for (const PodInfo* pod : going) {
    const PodInfoPtr successor = trial->Successor(*pod->pod);
    const NodeRow to = trial->BestNode(*successor, room.row);
    if (to == kNoRow || !trial->Place(*successor, to)) return pod;
    room.moves.push_back({pod, to});
  }
  return nullptr;
}

std::optional<Room> RoomSearch::TryNode(NodeRow row, size_t most) {
  Room room{row, {}};
  std::vector<Movable> movable = MovableOn(row);
  while (!movable.empty() && !exhausted()) {
    const std::vector<const PodInfo*> going = FewestOf(row, movable);
    if (going.empty() || going.size() > most) return std::nullopt;
    const PodInfo* stays = RefusedOf(going);
    if (stays == nullptr) {
      stays = Place(going, room);
      if (stays == nullptr) return room.moves.empty() ? std::nullopt : std::optional(room);
    }
    std::erase_if(movable, [stays](const Movable& one) { return one.pod == stays; });
  }
  return std::nullopt;
}

}  // namespace berth::plugins
