// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "src/packing/figures.h"
#include "src/plan/measure.h"
#include "src/plan/search.h"

namespace berth::plan {
namespace {

using engine::Judgement;
using packing::StrandedNode;
using packing::Stranding;

// Frees one node after another of what keeps its rest of a resource from use: few of its pods go,
// until a shape that asks for the resource fits there. Each time the survey of `berth packing` says
// what is stranded then; what does not lessen it is taken back.
class StrandedSearch final : private Search {
 public:
  StrandedSearch(const Goal& goal, simulator::Simulation& simulation, const Limits& limits)
      : Search(simulation, limits), goal_(goal), wanted_(AmountOf(goal)) {}

  Result<Plan> Find();

 private:
  // A node, and a shape that fits there once few of its pods have gone.
  struct Choice {
    std::string node;
    Resources shape;
    Cost least;
    double value = 0;  // of each of these pods
  };

  int64_t Stranded() { return trial_.Stranding(goal_)->amount; }
  bool MayAnyMove();
  size_t FewestFor(const Stranding& stranding) const;
  std::vector<Choice> Choices(const Stranding& stranding);
  std::optional<Choice> ChoiceOn(const StrandedNode& stranded, int64_t missing);
  bool HasRoomFor(const Resources& shape, const std::string& node);
  bool FreeOne(const Stranding& stranding, Steps& steps);
  bool Free(const Choice& choice, int64_t stranded, Steps& steps);
  bool SendOff(const Leaving& leaving, Steps& steps);
  std::optional<std::string> PlaceWell(const PodPtr& pod, Steps& steps);
  std::vector<std::string> PlacesFor(const Judgement& judgement) const;

  const Goal& goal_;
  const int64_t wanted_;  // less than this is to be stranded
};

bool StrandedSearch::MayAnyMove() {
  bool any = false;
  const cache::Cache& cache = trial_.cache();
  cache.nodes().ForEach([&](NodeRow row) {
    for (const PodInfo* pod : cache.pods(row)) any = any || WhyItStays(*pod->pod).empty();
  });
  return any;
}

// How many pods must move at least. In a cluster of one pool the moves change no typical shape, so
// that each changes what is stranded on two nodes at most; beyond that nothing is known.
size_t StrandedSearch::FewestFor(const Stranding& stranding) const {
  if (stranding.pools > 1) return 1;
  std::vector<int64_t> amounts;
  for (const StrandedNode& node : stranding.nodes) amounts.push_back(node.amount);
  std::ranges::sort(amounts, std::greater());
  int64_t left = stranding.amount;
  size_t nodes = 0;
  while (left >= wanted_ && nodes < amounts.size()) left -= amounts[nodes++];
  return std::max<size_t>((nodes + 1) / 2, 1);
}

// The shape for which the least must go from the node. nullopt: there is none.
std::optional<StrandedSearch::Choice> StrandedSearch::ChoiceOn(const StrandedNode& stranded,
                                                               int64_t missing) {
  const cache::Cache& cache = trial_.cache();
  std::vector<const PodInfo*> movable;
  std::vector<Importance> importances;
  for (const PodInfo* pod : cache.pods(stranded.row)) {
    if (!WhyItStays(*pod->pod).empty()) continue;
    movable.push_back(pod);
    importances.push_back(ImportanceOf(*pod->pod));
  }
  std::optional<Choice> best;
  for (const Resources& shape : stranded.shapes) {
    const auto fewest = FewestToGo(shape, movable, cache, stranded.row);
    if (!fewest || (best && *fewest >= best->least.moves)) continue;
    const auto useful = static_cast<double>(std::min(stranded.amount, missing));
    best = {.node = cache.node(stranded.row).metadata.name,
            .shape = shape,
            .least = LeastCost(importances, *fewest),
            .value = useful / static_cast<double>(*fewest)};
  }
  return best;
}

// The nodes that strand some of the resource, those first where each pod that goes brings the most
// of what is missing.
std::vector<StrandedSearch::Choice> StrandedSearch::Choices(const Stranding& stranding) {
  const int64_t missing = stranding.amount - wanted_ + 1;
  std::vector<Choice> choices;
  for (const StrandedNode& stranded : stranding.nodes) {
    if (auto choice = ChoiceOn(stranded, missing)) choices.push_back(*std::move(choice));
  }
  std::ranges::sort(choices, [](const Choice& a, const Choice& b) {
    if (a.value != b.value) return a.value > b.value;
    return std::tie(a.least, a.node) < std::tie(b.least, b.node);
  });
  return choices;
}

bool StrandedSearch::HasRoomFor(const Resources& shape, const std::string& node) {
  const cache::Cache& cache = trial_.cache();
  const NodeRow row = cache.FindNode(node);
  bool has_room = cache.pod_count()[row] < cache.allowed_pods()[row];
  ForEachAmount(shape, [&](ResourceId id, int64_t wanted) {
    has_room = has_room &&
               DifferenceSaturated(cache.allocatable(id)[row], cache.requested(id)[row]) >= wanted;
  });
  return has_room;
}

// The nodes that take the pod: those first that offer none of the resource, then by the scores.
std::vector<std::string> StrandedSearch::PlacesFor(const Judgement& judgement) const {
  const Snapshot& snapshot = judgement.snapshot();
  const std::vector<NodeRow>& rows = judgement.feasible();
  std::vector<std::tuple<bool, int64_t, std::string>> places;
  for (size_t i = 0; i < rows.size(); ++i) {
    const api::Node& node = snapshot.node(rows[i]);
    if (node.metadata.name == barred_) continue;
    const api::Quantity* offered = api::Find(node.status.allocatable, goal_.name);
    const int64_t total = judgement.totals().size() == rows.size() ? judgement.totals()[i] : 0;
    places.emplace_back(offered != nullptr && !offered->IsZero(), -total, node.metadata.name);
  }
  const auto end =
      places.begin() + static_cast<std::ptrdiff_t>(std::min(places.size(), kNodesOfOthers));
  std::partial_sort(places.begin(), end, places.end());
  std::vector<std::string> names;
  for (auto it = places.begin(); it != end; ++it) names.push_back(std::get<std::string>(*it));
  return names;
}

// Puts the pod, which is away, where the least is stranded then; where none takes it, room is made.
// nullopt: that was not possible, and nothing is changed.
std::optional<std::string> StrandedSearch::PlaceWell(const PodPtr& pod, Steps& steps) {
  std::vector<std::string> places;
  {
    const auto judgement = trial_.Judge(pod);
    if (judgement->kind() == Judgement::Kind::kScheduled) places = PlacesFor(*judgement);
  }
  if (places.empty()) {
    return limits_.depth == 0 ? std::nullopt : Place(pod, limits_.depth - 1, steps);
  }
  std::optional<std::pair<int64_t, std::string>> best;
  for (const std::string& node : places) {
    if (places.size() == 1 || trial_.exhausted()) break;
    const size_t mark = trial_.depth();
    trial_.Place(*pod, node);
    const int64_t stranded = Stranded();
    trial_.TakeBackTo(mark);
    if (!best || stranded < best->first) best = {stranded, node};
  }
  std::string node = best ? best->second : places.front();
  trial_.Place(*pod, node);
  return node;
}

// False: that was not possible; then some of them may have gone.
bool StrandedSearch::SendOff(const Leaving& leaving, Steps& steps) {
  for (const Movable& one : leaving) {
    trial_.Remove(*one.pod);
    moved_.insert(one.pod->metadata.Key());
  }
  // The largest first: it has the fewest places.
  for (auto it = leaving.rbegin(); it != leaving.rend(); ++it) {
    const auto to = PlaceWell(PendingCopy(*it->pod, it->pod->metadata.name), steps);
    if (!to) return false;
    steps.push_back({it->pod, *to});
  }
  return true;
}

// Makes room on the node for the shape. False: that was not possible, or no less is stranded then
// than that; nothing is changed.
bool StrandedSearch::Free(const Choice& choice, int64_t stranded, Steps& steps) {
  const size_t before = trial_.depth();
  const size_t steps_before = steps.size();
  const std::set<std::string> moved_before = moved_;
  barred_ = choice.node;
  const auto has_room = [&] { return HasRoomFor(choice.shape, choice.node); };
  const std::vector<Leaving> ways = WaysToMakeRoom(choice.node, choice.shape, has_room);
  const bool freed = std::ranges::any_of(ways, [&](const Leaving& leaving) {
    if (SendOff(leaving, steps) && Stranded() < stranded) return true;
    trial_.TakeBackTo(before);
    steps.resize(steps_before);
    moved_ = moved_before;
    return false;
  });
  barred_.clear();
  return freed;
}

bool StrandedSearch::FreeOne(const Stranding& stranding, Steps& steps) {
  const std::vector<Choice> choices = Choices(stranding);
  for (size_t i = 0; i < std::min(choices.size(), kNodesOfFirst) && !trial_.exhausted(); ++i) {
    if (Free(choices[i], stranding.amount, steps)) return true;
  }
  return false;
}

Result<Plan> StrandedSearch::Find() {
  Plan plan{.goal = goal_};
  auto stranding = trial_.Stranding(goal_);
  if (!stranding) return Fail(stranding.error());
  plan.before = stranding->amount;
  plan.after = stranding->amount;
  if (stranding->amount < wanted_) {
    plan.outcome = Plan::Outcome::kFound;
    return plan;
  }
  if (!MayAnyMove()) {
    plan.outcome = Plan::Outcome::kImpossible;
    plan.why = "no pod may be moved";
    return plan;
  }
  plan.fewest = FewestFor(*stranding);
  Steps steps;
  while (stranding->amount >= wanted_ && FreeOne(*stranding, steps)) {
    stranding = trial_.Stranding(goal_);
  }
  trial_.TakeBackTo(0);
  moved_.clear();
  plan.why = "no moves were found";
  if (stranding->amount < wanted_) {
    std::vector<Move> moves;
    if (Replay(steps, moves) && Stranded() < wanted_) {
      plan.outcome = Plan::Outcome::kFound;
      plan.moves = std::move(moves);
      plan.after = Stranded();
      plan.why.clear();
    } else {
      plan.why = kNoOrder;
    }
    trial_.TakeBackTo(0);
  } else if (stranding->amount < plan.before) {
    plan.why += " that leave less than " + packing::AmountText(goal_.name, stranding->amount);
  }
  Finish(plan);
  return plan;
}

}  // namespace

Result<Plan> FindUse(const Goal& goal, simulator::Simulation& simulation, const Limits& limits) {
  return StrandedSearch(goal, simulation, limits).Find();
}

}  // namespace berth::plan
