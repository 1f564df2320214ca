// SPDX-License-Identifier: Apache-2.0
#include "src/plan/search.h"

#include <algorithm>
#include <array>
#include <map>
#include <tuple>

#include "berth/pod_info.h"
#include "berth/resources.h"
#include "src/explain/pod_list.h"
#include "src/informers/kinds.h"
#include "src/simulator/picture.h"

namespace berth::plan {

using engine::Judgement;
using informers::Kind;

Importance ImportanceOf(const api::Pod& pod) {
  return {pod.spec.priority.value_or(0), simulator::DeletionCostOf(pod)};
}

Cost LeastCost(std::vector<Importance> pods, size_t moves) {
  std::ranges::sort(pods);
  pods.resize(std::min(moves, pods.size()));
  std::ranges::reverse(pods);
  return {.moves = moves, .pods = std::move(pods)};
}

namespace {

// In which wave each pod is evicted, so that no budget loses more pods in one than it allows then.
class Waves {
 public:
  explicit Waves(EvictionBudgets budgets) : budgets_(std::move(budgets)) {}

  size_t now() const { return wave_; }
  // The next step. False: its budget does not allow it in any wave, after what was evicted for
  // good.
  bool Take(const PodPtr& pod, const std::string& to) {
    Met& met = met_.try_emplace(pod->metadata.Key(), Met{.pod = pod}).first->second;
    if (pod->spec.node_name.empty()) {
      if (std::exchange(met.is_lost, false)) of_wave_.push_back(met.pod);
      return true;
    }
    // One that is evicted once more is ready again first.
    if (met.wave == wave_ || budgets_.Ask(*met.pod) == Leave::kRefused) Next();
    const Leave leave = budgets_.Ask(*met.pod);
    if (leave == Leave::kRefused) return false;
    met.wave = wave_;
    if (leave == Leave::kFree) return true;
    budgets_.Count(*met.pod, -1);
    met.is_lost = to.empty();
    if (!met.is_lost) of_wave_.push_back(met.pod);
    return true;
  }

 private:
  struct Met {
    PodPtr pod;            // as it was at first: those in its place have no status
    size_t wave = 0;       // in which it was evicted last
    bool is_lost = false;  // its budget lacks it
  };

  // Those that have moved are ready again.
  void Next() {
    for (const PodPtr& pod : of_wave_) budgets_.Count(*pod, 1);
    of_wave_.clear();
    ++wave_;
  }

  EvictionBudgets budgets_;
  size_t wave_ = 1;
  std::vector<PodPtr> of_wave_;
  std::map<std::string, Met> met_;  // by key
};

}  // namespace

Search::Search(simulator::Simulation& simulation, const Limits& limits)
    : trial_(simulation, limits),
      limits_(limits),
      budgets_(simulator::EvictionBudgetsOf(simulation)),
      left_(budgets_) {
  simulation.api().ForEach(Kind::kPod, [this](const api::ObjectPtr& object) {
    const PodPtr& pod = std::get<PodPtr>(object);
    // It holds its place for a while yet, and then makes room by itself.
    if (pod->metadata.deletion_timestamp && !pod->spec.node_name.empty()) going_.push_back(pod);
  });
}

std::string Search::WhyItStays(const api::Pod& pod) {
  if (moved_.contains(pod.metadata.Key())) return "is moved already";
  const auto [known, is_new] = why_it_stays_.try_emplace(pod.metadata.Key());
  if (is_new) known->second = WhyAtAll(pod);
  if (known->second.empty() && any_lost_) return RefusedBy(left_, pod);
  return known->second;
}

std::string Search::WhyAtAll(const api::Pod& pod) const {
  if (const std::string_view why = berth::WhyItStays(*trial_.Counted(pod)); !why.empty()) {
    return std::string(why);
  }
  return RefusedBy(budgets_, pod);
}

std::string Search::RefusedBy(const EvictionBudgets& budgets, const api::Pod& pod) {
  if (budgets.Ask(pod) != Leave::kRefused) return "";
  std::string names;
  for (const std::string& name : budgets.Of(pod)) names += (names.empty() ? "" : ", ") + name;
  return "its PodDisruptionBudget allows no eviction: " + names;
}

// Whether it may be evicted for good, for the pod that room is made for.
bool Search::MayEvict(const api::Pod& pod) const {
  return evict_below_ && pod.spec.priority.value_or(0) < *evict_below_ &&
         left_.Ask(pod) != Leave::kRefused;
}

// Those that may be moved, the smallest first: they free least, so they are put back first; of the
// same size the more important ones.
std::vector<Movable> Search::MovableOn(const std::string& node, const Resources& asked) {
  std::vector<Movable> movable;
  const cache::Cache& cache = trial_.cache();
  const NodeRow row = cache.FindNode(node);
  if (row == kNoRow) return movable;
  for (const PodInfo* pod : cache.pods(row)) {
    if (!WhyItStays(*pod->pod).empty()) continue;
    movable.push_back({pod->pod, LargestPart(*pod, asked), ImportanceOf(*pod->pod)});
  }
  std::ranges::sort(movable, [](const Movable& a, const Movable& b) {
    if (a.size != b.size) return a.size < b.size;
    if (a.importance != b.importance) return a.importance > b.importance;
    return a.pod->metadata.Key() < b.pod->metadata.Key();
  });
  return movable;
}

// The nodes that reject the pod for what others hold there; none where a node takes it.
Candidates Search::CandidatesFor(const PodPtr& pod) {
  const auto judgement = trial_.Judge(pod);
  if (judgement->kind() != Judgement::Kind::kUnschedulable) return {};
  return CandidatesOf(*judgement, pod);
}

// The nodes that reject the pod for what others hold there, with the least that must go for it to
// have what it requests; those where that is never enough are left out.
Candidates Search::CandidatesOf(Judgement& judgement, const PodPtr& pod) {
  Candidates candidates;
  judgement.Explain();
  const PodInfoPtr asked = trial_.InfoOf(pod);
  const Snapshot& snapshot = judgement.snapshot();
  snapshot.nodes().ForEach([&](NodeRow row) {
    if (snapshot.node(row).metadata.name == barred_) return;
    const Code code = judgement.statuses().Get(row).code();
    const std::string_view plugin = judgement.statuses().plugin(row);
    // A node that misses a constraint's label never fits; a pod affinity may be met by a move.
    if (plugin == "InterPodAffinity" ||
        (plugin == "PodTopologySpread" && code == Code::kUnschedulable)) {
      candidates.elsewhere.push_back(row);
    }
    if (code != Code::kUnschedulable) return;
    std::vector<const PodInfo*> movable;
    for (const PodInfo* other : snapshot.pods(row)) {
      if (WhyItStays(*other->pod).empty()) movable.push_back(other);
    }
    const auto fewest = FewestToGo(asked->requests, movable, snapshot, row);
    if (!fewest) return;
    std::vector<Importance> pods;
    for (const PodInfo* one : movable) pods.push_back(ImportanceOf(*one->pod));
    candidates.nodes.push_back({snapshot.node(row).metadata.name, LeastCost(pods, *fewest)});
  });
  std::ranges::sort(candidates.nodes, [](const Candidate& a, const Candidate& b) {
    return std::tie(a.least, a.node) < std::tie(b.least, b.node);
  });
  return candidates;
}

// The same once the pods that are being deleted have ended: what is needed then is needed at least.
Candidates Search::CandidatesOnceEnded(const PodPtr& pod) {
  const size_t before = trial_.depth();
  for (const PodPtr& one : going_) trial_.Remove(*one);
  Candidates candidates = CandidatesFor(pod);
  trial_.TakeBackTo(before);
  return candidates;
}

// Where the pod goes of the nodes that take it. "": to none of them.
std::string Search::BestOpenNode(const Judgement& judgement) {
  const auto is_open = [this](const std::string& node) { return node != barred_; };
  if (!tight_) return BestNode(judgement, is_open);
  const Snapshot& snapshot = judgement.snapshot();
  const PodInfoPtr info = trial_.InfoOf(PodPtr(PodPtr(), &judgement.pod()));
  std::pair<double, std::string_view> best;
  for (const NodeRow row : judgement.feasible()) {
    const std::string& name = snapshot.node(row).metadata.name;
    if (!is_open(name)) continue;
    double left = 0;
    ForEachAmount(info->requests, [&](ResourceId id, int64_t amount) {
      const int64_t all = snapshot.allocatable(id)[row];
      const int64_t free = all - snapshot.requested(id)[row] - amount;
      if (all > 0) left += static_cast<double>(free) / static_cast<double>(all);
    });
    const std::pair one(left, std::string_view(name));
    if (best.second.empty() || one < best) best = one;
  }
  return std::string(best.second);
}

// Puts the pod on a node, making room there if need be; the steps for that are added. nullopt: none
// was found, and nothing is changed.
std::optional<std::string> Search::Place(const PodPtr& pod, size_t depth, Steps& steps) {
  {
    const auto judgement = trial_.Judge(pod);
    if (judgement->kind() == Judgement::Kind::kScheduled) {
      std::string node = BestOpenNode(*judgement);
      if (node.empty()) return std::nullopt;
      trial_.Place(*pod, node);
      return node;
    }
  }
  if (depth == 0 || trial_.exhausted()) return std::nullopt;
  const std::vector<Candidate> candidates = CandidatesFor(pod).nodes;
  for (size_t i = 0; i < std::min(candidates.size(), kNodesOfOthers); ++i) {
    if (MakeRoomOn(candidates[i].node, pod, depth, steps)) return candidates[i].node;
  }
  return std::nullopt;
}

// All of the pods are away from their node. Those that must stay away for it to have room, where
// the others are put back in this order; nothing is changed. nullopt: the search has ended.
std::optional<Search::Leaving> Search::PutBack(const std::vector<Movable>& movable,
                                               const std::function<bool()>& has_room) {
  const size_t all_away = trial_.depth();
  Leaving leaving;
  for (const Movable& one : movable) {
    if (trial_.exhausted()) return std::nullopt;
    const size_t mark = trial_.depth();
    trial_.Apply(one.pod);
    if (has_room()) continue;
    trial_.TakeBackTo(mark);
    leaving.push_back(one);
  }
  trial_.TakeBackTo(all_away);
  return leaving;
}

// Which pods may leave the node for it to have room, few rather than many; where as many or fewer
// that matter less do as well, these come first. None: whichever leave, it has no room. Nothing is
// changed.
std::vector<Search::Leaving> Search::WaysToMakeRoom(const std::string& node, const Resources& asked,
                                                    const std::function<bool()>& has_room) {
  const size_t before = trial_.depth();
  std::vector<Movable> movable = MovableOn(node, asked);
  std::vector<Importance> all;
  for (const Movable& one : movable) {
    trial_.Remove(*one.pod);
    all.push_back(one.importance);
  }
  const auto cost_of = [](const Leaving& leaving) {
    std::vector<Importance> pods;
    for (const Movable& one : leaving) pods.push_back(one.importance);
    return LeastCost(std::move(pods), leaving.size());
  };
  std::vector<Leaving> ways;
  if (has_room()) {
    if (auto leaving = PutBack(movable, has_room)) ways.push_back(*std::move(leaving));
  }
  const bool may_lose = evict_below_.has_value();
  if (!ways.empty() && (may_lose || cost_of(ways[0]) > LeastCost(all, ways[0].size()))) {
    std::ranges::stable_sort(movable, std::greater(), &Movable::importance);
    auto leaving = PutBack(movable, has_room);
    const bool better =
        leaving && (may_lose ? LosesLess(*leaving, ways[0]) : cost_of(*leaving) < cost_of(ways[0]));
    if (better) {
      std::ranges::stable_sort(*leaving, {}, &Movable::size);
      ways.insert(ways.begin(), *std::move(leaving));
    }
  }
  trial_.TakeBackTo(before);
  return ways;
}

// Whether the pods of `a`, all of them evicted for good, matter less than those of `b`.
bool Search::LosesLess(const Leaving& a, const Leaving& b) {
  const auto lost = [](const Leaving& leaving) {
    std::vector<int32_t> priorities;
    for (const Movable& one : leaving) priorities.push_back(one.importance.first);
    std::ranges::sort(priorities, std::greater());
    return priorities;
  };
  return lost(a) < lost(b);
}

// The same by small pods, which find places more easily than the few that WaysToMakeRoom() has: the
// smallest that is enough alone, then more of them.
std::vector<Search::Leaving> Search::WaysBySmallPods(const std::string& node,
                                                     const Resources& asked,
                                                     const std::function<bool()>& has_room) {
  const size_t before = trial_.depth();
  std::vector<Movable> movable = MovableOn(node, asked);
  std::vector<Leaving> ways;
  for (const Movable& one : movable) {
    if (trial_.exhausted() || !ways.empty()) break;
    trial_.Remove(*one.pod);
    if (has_room()) ways.push_back({one});
    trial_.TakeBackTo(before);
  }
  for (const Movable& one : movable) trial_.Remove(*one.pod);
  std::ranges::reverse(movable);
  if (has_room()) {
    auto leaving = PutBack(movable, has_room);
    if (leaving && leaving->size() > 1) {
      std::ranges::reverse(*leaving);
      ways.push_back(*std::move(leaving));
    }
  }
  trial_.TakeBackTo(before);
  return ways;
}

// Moves pods off the node until this one fits there, and puts it there. False: that was not
// possible, and nothing is changed.
bool Search::MakeRoomOn(const std::string& node, const PodPtr& pod, size_t depth, Steps& steps) {
  const auto has_room = [&] { return trial_.FitsOn(pod, node); };
  const auto does = [&](const Leaving& leaving) {
    return SendAway(leaving, node, pod, depth, steps);
  };
  const PodInfoPtr info = trial_.InfoOf(pod);
  const std::vector<Leaving> few = WaysToMakeRoom(node, info->requests, has_room);
  if (std::ranges::any_of(few, does)) return true;
  // What is never enough is not enough by small pods either.
  if (few.empty() || trial_.exhausted()) return false;
  return std::ranges::any_of(WaysBySmallPods(node, info->requests, has_room), does);
}

// Moves these pods off the node, and puts the other one there. False: that was not possible, and
// nothing is changed.
bool Search::SendAway(const Leaving& leaving, const std::string& node, const PodPtr& pod,
                      size_t depth, Steps& steps) {
  const size_t before = trial_.depth();
  const size_t steps_before = steps.size();
  const std::set<std::string> moved_before = moved_;
  for (const Movable& one : leaving) {
    trial_.Remove(*one.pod);
    moved_.insert(one.pod->metadata.Key());
  }
  trial_.Place(*pod, node);
  moved_.insert(pod->metadata.Key());
  // The largest first: it has the fewest places. Where some have none and are evicted for good,
  // those that matter more have the first choice.
  Leaving in_turn(leaving.rbegin(), leaving.rend());
  if (evict_below_) {
    std::ranges::stable_sort(in_turn, std::greater(),
                             [](const Movable& movable) { return movable.importance.first; });
  }
  for (const Movable& movable : in_turn) {
    const PodPtr& one = movable.pod;
    const PodPtr again = PendingCopy(*one, one->metadata.name);
    const auto to = Place(again, depth - 1, steps);
    if (!to && MayEvict(*one)) {
      trial_.Apply(again);
      steps.push_back({one, ""});
      continue;
    }
    // One that comes back makes no room.
    if (!to || *to == node) {
      trial_.TakeBackTo(before);
      steps.resize(steps_before);
      moved_ = moved_before;
      return false;
    }
    steps.push_back({one, *to});
  }
  return true;
}

// Moves the pod in the cluster as it is, where that is known to be allowed.
void Search::Do(const Step& step) {
  if (step.pod->spec.node_name.empty()) {
    trial_.Place(*step.pod, step.to);
    return;
  }
  trial_.Remove(*step.pod);
  PodPtr again = PendingCopy(*step.pod, step.pod->metadata.name);
  if (step.to.empty()) {
    trial_.Apply(std::move(again));
  } else {
    trial_.Place(*again, step.to);
  }
}

// Moves the pod in the cluster as it is. False: it is not allowed there; then the pod has left its
// node already.
bool Search::CarryOut(const Step& step) {
  const bool waits = step.pod->spec.node_name.empty();
  const PodPtr again = waits ? step.pod : PendingCopy(*step.pod, step.pod->metadata.name);
  if (!waits) trial_.Remove(*step.pod);
  if (step.to.empty()) {
    trial_.Apply(again);
    return true;
  }
  if (!trial_.FitsOn(again, step.to)) return false;
  trial_.Place(*again, step.to);
  return true;
}

// Carries the steps out in the cluster as it is, each judged in the state that it meets, and writes
// them down as moves. False: one of them is not allowed there.
bool Search::Replay(const Steps& steps, std::vector<Move>& moves) {
  Waves waves(budgets_);
  std::map<std::string, std::string> uids;  // of the pods as they are at first, by key
  for (const Step& step : steps) {
    if (!CarryOut(step) || !waves.Take(step.pod, step.to)) return false;
    const std::string key = step.pod->metadata.Key();
    Move move{.pod = key,
              .uid = uids.try_emplace(key, step.pod->metadata.uid).first->second,
              .from = step.pod->spec.node_name,
              .to = step.to,
              .wave = waves.now()};
    const PodInfoPtr info = trial_.InfoOf(step.pod);
    ForEachAmount(info->requests, [&](ResourceId id, int64_t amount) {
      move.frees.emplace_back(trial_.cache().resource_names().Name(id), amount);
    });
    moves.push_back(std::move(move));
  }
  return true;
}

// Whether the budgets allow the steps, after what is evicted for good by now.
bool Search::KeepBudgets(const Steps& steps) const {
  Waves waves(left_);
  return std::ranges::all_of(steps,
                             [&waves](const Step& step) { return waves.Take(step.pod, step.to); });
}

// The steps, each of another pod, in an order in which each is allowed in the cluster as it is.
// Where none of those that are left is, they go round: then one of the pods goes elsewhere, and not
// where it was to go. nullopt: no order was found. Nothing is changed.
std::optional<Search::Steps> Search::InOrder(Steps steps) {
  const size_t before = trial_.depth();
  Steps done;
  while (!steps.empty() && (DoAllowed(steps, done) || StepAside(steps, done))) continue;
  trial_.TakeBackTo(before);
  return steps.empty() ? std::optional(std::move(done)) : std::nullopt;
}

// Carries out those of the steps that are allowed when their turn comes. False: there are none.
bool Search::DoAllowed(Steps& steps, Steps& done) {
  Steps rest;
  for (Step& step : steps) {
    const size_t mark = trial_.depth();
    if (CarryOut(step)) {
      done.push_back(std::move(step));
    } else {
      trial_.TakeBackTo(mark);
      rest.push_back(std::move(step));
    }
  }
  const bool any = rest.size() < steps.size();
  steps = std::move(rest);
  return any;
}

// Moves one of the pods to a free place, after which another of the steps is allowed. False: there
// is none such, and nothing is changed.
bool Search::StepAside(Steps& steps, Steps& done) {
  for (size_t i = 0; i < steps.size() && !trial_.exhausted(); ++i) {
    const PodPtr pod = steps[i].pod;
    if (pod->spec.node_name.empty()) continue;
    const size_t mark = trial_.depth();
    trial_.Remove(*pod);
    const PodPtr again = PendingCopy(*pod, pod->metadata.name);
    const std::string node = FreeNodeFor(again, pod->spec.node_name, steps);
    if (!node.empty()) {
      trial_.Place(*again, node);
      const bool helps = std::ranges::any_of(steps, [&](const Step& other) {
        if (other.pod == pod) return false;
        const size_t there = trial_.depth();
        const bool is_allowed = CarryOut(other);
        trial_.TakeBackTo(there);
        return is_allowed;
      });
      if (helps) {
        done.push_back({pod, node});
        steps.erase(steps.begin() + static_cast<std::ptrdiff_t>(i));
        return true;
      }
    }
    trial_.TakeBackTo(mark);
  }
  return false;
}

// A node that takes the pod, other than the one that it left; if possible one that none of the
// steps leads to. "": there is none.
std::string Search::FreeNodeFor(const PodPtr& pod, const std::string& from, const Steps& steps) {
  const auto judgement = trial_.Judge(pod);
  if (judgement->kind() != Judgement::Kind::kScheduled) return "";
  const auto is_open = [&](const std::string& node) { return node != from && node != barred_; };
  const auto is_free = [&](const std::string& node) {
    return is_open(node) && std::ranges::find(steps, node, &Step::to) == steps.end();
  };
  std::string best = BestNode(*judgement, is_free);
  return best.empty() ? BestNode(*judgement, is_open) : best;
}

// Of the pods that are evicted.
Cost Search::CostOf(const Steps& steps) {
  std::map<std::string, int32_t> lost;  // priorities, by key
  std::vector<Importance> pods;
  for (const Step& step : steps) {
    const Importance importance = ImportanceOf(*step.pod);
    if (step.to.empty()) {
      lost.emplace(step.pod->metadata.Key(), importance.first);
    } else {
      lost.erase(step.pod->metadata.Key());
    }
    if (!step.pod->spec.node_name.empty()) pods.push_back(importance);
  }
  const size_t moves = pods.size();
  Cost cost = LeastCost(std::move(pods), moves);
  for (const auto& [key, priority] : lost) cost.lost.push_back(priority);
  std::ranges::sort(cost.lost, std::greater());
  return cost;
}

// Why no node takes it.
std::string Search::MessageOf(const PodPtr& pod) { return MessageOf(*trial_.Judge(pod)); }

std::string Search::MessageOf(Judgement& judgement) {
  if (judgement.kind() == Judgement::Kind::kIgnored) {
    return explain::WhyIgnored(judgement.pod(), judgement.profile() != nullptr);
  }
  judgement.Explain();
  return judgement.message();
}

size_t Plan::evictions() const {
  return static_cast<size_t>(
      std::ranges::count_if(moves, [](const Move& move) { return !move.from.empty(); }));
}

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

size_t Plan::evicted_for_good() const {
  std::set<std::string_view> pods;
  for (const Move& move : moves) {
    if (move.to.empty()) {
      pods.insert(move.pod);
    } else {
      pods.erase(move.pod);
    }
  }
  return pods.size();
}

size_t Plan::placed() const {
  std::set<std::string_view> met;
  return static_cast<size_t>(std::ranges::count_if(moves, [&met](const Move& move) {
    return met.insert(move.pod).second && move.from.empty();
  }));
}

Result<Plan> FindPlan(const Goal& goal, simulator::Simulation& simulation, const Limits& limits) {
  switch (goal.kind) {
    case Goal::Kind::kSkew:
      return FindSpread(goal, simulation, limits);
    case Goal::Kind::kStranded:
      return FindUse(goal, simulation, limits);
    case Goal::Kind::kFit:
    case Goal::Kind::kPending:
    case Goal::Kind::kEmpty:
      break;
  }
  return FindRoom(goal, simulation, limits);
}

}  // namespace berth::plan
