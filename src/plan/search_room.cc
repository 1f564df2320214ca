// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "berth/api/node.h"
#include "src/informers/kinds.h"
#include "src/plan/search.h"
#include "src/simulator/picture.h"

namespace berth::plan {
namespace {

using engine::Judgement;
using informers::Kind;

// How the pods that wait are taken in turn.
struct Way {
  bool tight = false;        // where pods go: see Search::tight_
  bool small_first = false;  // of the pods of one priority
  bool again = false;        // what has moved for one may move once more for the next
};
constexpr Way kWays[] = {
    {}, {.tight = true}, {.tight = true, .small_first = true}, {.tight = true, .again = true}};

// How many pods of each priority have nodes in the end, less those that lose theirs.
using Net = std::map<int32_t, int64_t, std::greater<>>;

constexpr std::string_view kNoBeginning =
    "no moves can begin, as no pod that may be moved has a place elsewhere";
constexpr std::string_view kEvictedForGood = "it is evicted for pods of higher priority";

// Whether the pod would be one of the goal's, were it pending.
bool AsksFor(const Goal& goal, const api::Pod& pod) {
  return pod.spec.priority.value_or(0) >= goal.priority &&
         (goal.namespace_.empty() || goal.namespace_ == pod.metadata.namespace_);
}

class RoomSearch final : private Search {
 public:
  RoomSearch(const Goal& goal, simulator::Simulation& simulation, const Limits& limits)
      : Search(simulation, limits), may_evict_(goal.evict) {}

  Result<Plan> Fit(const Goal& goal);
  Result<Plan> Pending(const Goal& goal);
  Result<Plan> Empty(const Goal& goal);

 private:
  using Later = std::map<std::string, std::string>;
  // What one of the ways finds.
  struct Attempt {
    Steps steps = {};
    std::vector<LeftOut> left_out = {};
    std::vector<PodPtr> needed = {};  // each has to get a node
    size_t helped = 0;
    std::vector<Level> levels = {};  // the most important first
    Net net = {};
  };

  struct Found {
    Steps steps;
    Cost cost;
  };

  Later FindLater(const std::vector<PodPtr>& pods);
  std::string Ending(const std::string& node) const;
  std::vector<PodPtr> PendingPods(const Goal& goal);
  size_t FewestFor(const std::vector<PodPtr>& pods);
  void AddPodsOfWhole(const engine::PodGroupPreview& group, std::vector<PodPtr>& pods) const;
  std::optional<engine::PodGroupPreview> GroupThatStarts(const PodPtr& pod);
  std::string PlaceGroup(const PodPtr& pod, engine::PodGroupPreview group, Steps& steps,
                         std::vector<LeftOut>& left_out);
  std::string StartByMoves(const PodPtr& pod, engine::PodGroupPreview& group, Steps& evictions);
  bool MakeRoomForGroup(const engine::PodGroupPreview& group, Steps& evictions);
  Plan FitGroup(Plan plan, const PodPtr& pod, engine::PodGroupPreview group);
  static size_t HelpedBy(const Steps& steps, size_t first);
  std::optional<Steps> MakeRoom(const PodPtr& pod, const std::vector<Candidate>& candidates);
  void MakeRoomWithin(size_t depth, const PodPtr& pod, const std::vector<Candidate>& candidates,
                      std::optional<Found>& best);
  bool PlaceNext(const PodPtr& pod, Steps& steps);
  void QueueLost(const Attempt& attempt, size_t first, std::vector<PodPtr>& queue, size_t next);
  Steps WithoutDetours(Steps steps);
  std::optional<Steps> WithoutDetour(const Steps& steps, size_t later);
  bool AreAllowed(const Steps& steps);
  static Net NetOf(const Steps& steps);
  static bool IsBetter(const Attempt& a, const Attempt& b);
  bool CanNothingBegin(const std::vector<PodPtr>& waiting);
  bool NeedsRoom(const PodPtr& pod);
  std::vector<Level> LevelsOf(const std::vector<PodPtr>& pods,
                              const std::vector<LeftOut>& left_out);
  bool IsMost(const Attempt& attempt);
  void SortSmallFirst(std::vector<PodPtr>& pods);
  Attempt TakeInTurn(const std::vector<PodPtr>& pods, const Later& later, size_t most_judged);
  Attempt FindBest(const std::vector<PodPtr>& pods, const Later& later);
  bool Cordon(std::string_view name);

  const bool may_evict_;
  bool again_ = false;                      // see Way
  std::map<std::string, bool> needs_room_;  // by schedulerName
};

// What is being deleted on the node, for people.
std::string RoomSearch::Ending(const std::string& node) const {
  constexpr size_t kMostNamed = 3;
  std::vector<std::string> names;
  for (const PodPtr& pod : going_) {
    if (pod->spec.node_name == node) names.push_back(pod->metadata.Key());
  }
  std::string text;
  for (size_t i = 0; i < std::min(names.size(), kMostNamed); ++i) {
    text += (i == 0 ? "" : ", ") + names[i];
  }
  const size_t more = names.size() - std::min(names.size(), kMostNamed);
  if (more > 0) text += " and " + std::to_string(more) + " more";
  return text + (names.size() == 1 ? ", which is being deleted, has ended"
                                   : ", which are being deleted, have ended");
}

// Those of the pods, by key, that no node takes now, and that one takes once pods that are being
// deleted have ended, if those before them in the list have nodes, too; with the words that say so.
RoomSearch::Later RoomSearch::FindLater(const std::vector<PodPtr>& pods) {
  Later later;
  if (going_.empty()) return later;
  const size_t before = trial_.depth();
  for (const PodPtr& pod : pods) {
    if (trial_.Judge(pod)->kind() == Judgement::Kind::kUnschedulable) {
      later.emplace(pod->metadata.Key(), "");
    }
  }
  for (const PodPtr& one : going_) trial_.Remove(*one);
  for (const PodPtr& pod : pods) {
    std::string node;
    {
      const auto judgement = trial_.Judge(pod);
      if (judgement->kind() == Judgement::Kind::kScheduled) node = BestOpenNode(*judgement);
    }
    const auto waits = later.find(pod->metadata.Key());
    if (!node.empty()) trial_.Place(*pod, node);
    if (waits == later.end()) continue;
    if (node.empty()) {
      later.erase(waits);
    } else {
      waits->second = "it fits on " + node + " once " + Ending(node);
    }
  }
  trial_.TakeBackTo(before);
  return later;
}

// Of a pod whose group has to start before it gets a node; nullopt: it is placed by itself, as it
// has no group, or one that has started.
std::optional<engine::PodGroupPreview> RoomSearch::GroupThatStarts(const PodPtr& pod) {
  auto group = trial_.TryGroup(*pod);
  if (group && group->has_started()) group.reset();
  return group;
}

// Evicts, for the group's pods one after the other, what is in their way; the pods themselves stay
// as they are. False: that was not possible, and nothing is changed.
bool RoomSearch::MakeRoomForGroup(const engine::PodGroupPreview& group, Steps& evictions) {
  const size_t before = trial_.depth();
  const std::set<std::string> moved_before = moved_;
  Steps steps;
  for (const engine::PodGroupPreview::Member& member : group.waiting) {
    const PodPtr pod = trial_.simulation().FindPod(member.pod);
    if (Place(pod, limits_.depth, steps)) moved_.insert(member.pod);
  }
  trial_.TakeBackTo(before);
  moved_ = moved_before;
  const bool keeps = KeepBudgets(steps);
  auto ordered = keeps ? InOrder(std::move(steps)) : std::nullopt;
  if (!ordered) return false;
  evictions = *std::move(ordered);
  for (const Step& step : evictions) Do(step);
  return true;
}

// Makes room until the group starts, at first by moves alone. Not "": it does not start, that is
// why, and nothing is changed.
std::string RoomSearch::StartByMoves(const PodPtr& pod, engine::PodGroupPreview& group,
                                     Steps& evictions) {
  const size_t before = trial_.depth();
  const std::string name = "its pod group " + group.pod_group;
  for (const PodPtr& one : going_) trial_.Remove(*one);
  const bool later = !going_.empty() && trial_.TryGroup(*pod)->starts;
  trial_.TakeBackTo(before);
  if (later) return name + " starts once pods that are being deleted have ended";
  const std::string message = group.message.empty() ? "" : ": " + group.message;
  const engine::PodGroupPreview as_it_is = group;
  for (const bool evict : {false, true}) {
    if (evict && !may_evict_) break;
    if (evict) evict_below_ = pod->spec.priority.value_or(0);
    const bool made = MakeRoomForGroup(as_it_is, evictions);
    evict_below_.reset();
    if (made) group = *trial_.TryGroup(*pod);
    if (made && group.starts) return "";
    trial_.TakeBackTo(before);
    evictions.clear();
  }
  return name + " does not start" + message;
}

// Puts the waiting pods of the pod's group on nodes, as many as have one when the scheduler tries
// the group, making room first where it would not start; what waits on is added to `left_out`. Not
// "": the group does not start, that is why, and nothing is changed.
std::string RoomSearch::PlaceGroup(const PodPtr& pod, engine::PodGroupPreview group, Steps& steps,
                                   std::vector<LeftOut>& left_out) {
  const std::string name = "its pod group " + group.pod_group;
  if (!group.exists) return name + " is not there";
  if (!group.tried) return name + " was " + group.message;
  Steps evictions;
  if (!group.starts) {
    if (std::string why = StartByMoves(pod, group, evictions); !why.empty()) return why;
  }
  for (const Step& step : evictions) {
    moved_.insert(step.pod->metadata.Key());
    steps.push_back(step);
  }
  for (const engine::PodGroupPreview::Member& member : group.waiting) {
    if (member.node.empty()) {
      left_out.push_back({member.pod, member.message});
      continue;
    }
    const PodPtr placed = trial_.simulation().FindPod(member.pod);
    trial_.Place(*placed, member.node);
    moved_.insert(member.pod);
    steps.push_back({placed, member.node});
  }
  return "";
}

// How many pods get nodes by the steps from that one on, if these evict any for them.
size_t RoomSearch::HelpedBy(const Steps& steps, size_t first) {
  size_t waited = 0;
  for (size_t i = first; i < steps.size(); ++i) {
    if (steps[i].pod->spec.node_name.empty()) ++waited;
  }
  return waited < steps.size() - first ? waited : 0;
}

// Room is made for the group as a whole: for one pod of it there would be none to start with.
Plan RoomSearch::FitGroup(Plan plan, const PodPtr& pod, engine::PodGroupPreview group) {
  const bool there = group.exists && group.tried;
  std::vector<PodPtr> needed;
  AddPodsOfWhole(group, needed);
  Steps steps;
  plan.why = PlaceGroup(pod, std::move(group), steps, plan.left_out);
  trial_.TakeBackTo(0);
  moved_.clear();
  if (!plan.why.empty()) {
    plan.outcome = there ? Plan::Outcome::kNotFound : Plan::Outcome::kImpossible;
  } else if (Replay(steps, plan.moves)) {
    plan.outcome = Plan::Outcome::kFound;
    plan.helped = HelpedBy(steps, 0);
  } else {
    plan.moves.clear();
    plan.left_out.clear();
    plan.why = kNoOrder;
  }
  trial_.TakeBackTo(0);
  plan.fewest = FewestFor(needed);
  Finish(plan);
  return plan;
}

// Searches the steps of the least cost that let the pod in on one of the nodes, each of them
// allowed after those before. nullopt: none were found. Nothing is changed.
std::optional<RoomSearch::Steps> RoomSearch::MakeRoom(const PodPtr& pod,
                                                      const std::vector<Candidate>& candidates) {
  std::optional<Found> best;
  const auto evicting = [&](size_t depth) {
    if (!may_evict_ || depth > limits_.depth) return;
    evict_below_ = pod->spec.priority.value_or(0);
    MakeRoomWithin(depth, pod, candidates, best);
    evict_below_.reset();
  };
  // Before the steps are used up: what evicts none for good is better whenever it is found.
  evicting(1);
  const auto loses = [&best] { return best && !best->cost.lost.empty(); };
  // First without moves that need room themselves: these are many.
  for (size_t depth = 1; depth <= limits_.depth && !candidates.empty(); ++depth) {
    if (best && !loses() && best->cost.moves < candidates[0].least.moves + depth) break;
    MakeRoomWithin(depth, pod, candidates, best);
  }
  if (loses()) evicting(2);
  return best ? std::optional(std::move(best->steps)) : std::nullopt;
}

// The same where pods that make room need room themselves so many times at most. What is found goes
// to `best`, which it has to be better than.
void RoomSearch::MakeRoomWithin(size_t depth, const PodPtr& pod,
                                const std::vector<Candidate>& candidates,
                                std::optional<Found>& best) {
  const size_t before = trial_.depth();
  const std::set<std::string> moved_before = moved_;
  for (size_t i = 0; i < std::min(candidates.size(), kNodesOfFirst) && !trial_.exhausted(); ++i) {
    const Candidate& candidate = candidates[i];
    if (best && candidate.least >= best->cost) break;
    Steps steps;
    const bool found = MakeRoomOn(candidate.node, pod, depth, steps);
    trial_.TakeBackTo(before);
    moved_ = moved_before;
    if (!found) continue;
    Cost cost = CostOf(steps);
    if (best && cost >= best->cost) continue;
    if (!cost.lost.empty() && !KeepBudgets(steps)) continue;
    // What was judged with the pod on its node has to be allowed before it is there, too.
    steps.push_back({pod, candidate.node});
    if (auto ordered = InOrder(std::move(steps))) best = {*std::move(ordered), std::move(cost)};
  }
}

Result<Plan> RoomSearch::Fit(const Goal& goal) {
  Plan plan{.goal = goal};
  const auto named = trial_.simulation().NamedPod(goal.name);
  if (!named) return Fail(named.error());
  const PodPtr& pod = *named;
  if (!pod->spec.node_name.empty()) {
    return Fail(goal.name + " is on " + pod->spec.node_name + " already");
  }
  if (pod->metadata.deletion_timestamp) {
    plan.outcome = Plan::Outcome::kImpossible;
    plan.why = "it is being deleted";
    return plan;
  }
  if (auto group = GroupThatStarts(pod)) return FitGroup(std::move(plan), pod, *std::move(group));
  std::string message;
  {
    const auto judgement = trial_.Judge(pod);
    if (judgement->kind() == Judgement::Kind::kScheduled) {
      const Steps steps = {{pod, BestOpenNode(*judgement)}};
      plan.outcome = Plan::Outcome::kFound;
      (void)Replay(steps, plan.moves);
      Finish(plan);
      return plan;
    }
    message = MessageOf(*judgement);
    if (judgement->kind() != Judgement::Kind::kUnschedulable) {
      plan.outcome = Plan::Outcome::kImpossible;
      plan.why = message;
      Finish(plan);
      return plan;
    }
  }
  if (const auto later = FindLater({pod}); !later.empty()) {
    plan.why = later.begin()->second;
    Finish(plan);
    return plan;
  }
  const Candidates now = CandidatesFor(pod);
  const Candidates at_least = going_.empty() ? now : CandidatesOnceEnded(pod);
  if (at_least.nodes.empty() && at_least.elsewhere.empty()) {
    plan.outcome = Plan::Outcome::kImpossible;
    plan.why = "no node has it, whichever pods move: " + message;
    Finish(plan);
    return plan;
  }
  plan.fewest = at_least.elsewhere.empty() ? at_least.nodes.front().least.moves : 1;
  const auto steps = MakeRoom(pod, now.nodes);
  if (steps && Replay(*steps, plan.moves)) {
    plan.outcome = Plan::Outcome::kFound;
    plan.helped = 1;
  } else {
    plan.moves.clear();
    plan.why = "no moves were found: " + message;
    trial_.TakeBackTo(0);
    if (CanNothingBegin({pod})) {
      plan.outcome = Plan::Outcome::kImpossible;
      plan.why = std::string(kNoBeginning) + ": " + message;
    }
  }
  Finish(plan);
  return plan;
}

// Whether no plan has any step: none of these pods has a node, and no pod that may be moved has a
// place elsewhere, such as where pods could only exchange theirs. False says nothing.
bool RoomSearch::CanNothingBegin(const std::vector<PodPtr>& waiting) {
  if (may_evict_ || !going_.empty()) return false;
  for (const PodPtr& pod : waiting) {
    if (trial_.exhausted() || trial_.TryGroup(*pod)) return false;
    if (trial_.Judge(pod)->kind() == Judgement::Kind::kScheduled) return false;
  }
  std::vector<PodPtr> movable;
  const cache::Cache& cache = trial_.cache();
  cache.nodes().ForEach([&](NodeRow row) {
    for (const PodInfo* pod : cache.pods(row)) {
      if (WhyItStays(*pod->pod).empty()) movable.push_back(pod->pod);
    }
  });
  const size_t before = trial_.depth();
  for (const PodPtr& pod : movable) {
    if (trial_.exhausted()) return false;
    trial_.Remove(*pod);
    bool has_place = false;
    {
      const auto judgement = trial_.Judge(PendingCopy(*pod, pod->metadata.name));
      const auto is_elsewhere = [&](const std::string& node) {
        return node != pod->spec.node_name;
      };
      has_place = judgement->kind() == Judgement::Kind::kScheduled &&
                  !BestNode(*judgement, is_elsewhere).empty();
    }
    trial_.TakeBackTo(before);
    if (has_place) return false;
  }
  return true;
}

// Those that the goal asks for and that wait for a node, the most important first.
std::vector<PodPtr> RoomSearch::PendingPods(const Goal& goal) {
  std::vector<PodPtr> pods;
  trial_.simulation().api().ForEach(Kind::kPod, [&](const api::ObjectPtr& object) {
    const PodPtr& pod = std::get<PodPtr>(object);
    if (pod->spec.node_name.empty() && !pod->metadata.deletion_timestamp && AsksFor(goal, *pod)) {
      pods.push_back(pod);
    }
  });
  std::ranges::stable_sort(pods, {}, [](const PodPtr& pod) {
    return std::tuple(-int64_t{pod->spec.priority.value_or(0)},
                      pod->metadata.creation_timestamp.value_or(Time()));
  });
  return pods;
}

// Puts the pod on a node, after moves that make room if need be; the steps for that, each of them
// allowed after those before, are added. False: none were found, and nothing is changed.
bool RoomSearch::PlaceNext(const PodPtr& pod, Steps& steps) {
  std::optional<Steps> made;
  {
    const auto judgement = trial_.Judge(pod);
    if (judgement->kind() == Judgement::Kind::kScheduled) {
      made = {{pod, BestOpenNode(*judgement)}};
    } else if (judgement->kind() == Judgement::Kind::kUnschedulable && !trial_.exhausted()) {
      made = MakeRoom(pod, CandidatesOf(*judgement, pod).nodes);
    }
  }
  if (!made) return false;
  for (const Step& step : *made) {
    Do(step);
    if (!again_ || step.pod->spec.node_name.empty()) moved_.insert(step.pod->metadata.Key());
    steps.push_back(step);
  }
  return true;
}

// Those that the steps from that one on have evicted for good wait like the others, for their turn
// by priority, from the place `next` of the queue on.
void RoomSearch::QueueLost(const Attempt& attempt, size_t first, std::vector<PodPtr>& queue,
                           size_t next) {
  for (size_t i = first; i < attempt.steps.size(); ++i) {
    const Step& step = attempt.steps[i];
    if (!step.to.empty()) continue;
    any_lost_ = true;
    if (left_.Ask(*step.pod) == Leave::kCounted) left_.Count(*step.pod, -1);
    const int32_t priority = step.pod->spec.priority.value_or(0);
    const auto at = std::find_if(
        queue.begin() + static_cast<std::ptrdiff_t>(next), queue.end(),
        [priority](const PodPtr& pod) { return pod->spec.priority.value_or(0) < priority; });
    queue.insert(at, trial_.simulation().FindPod(step.pod->metadata.Key()));
  }
}

// Whether each of the steps is allowed when the ones before are done, in the cluster as it is.
bool RoomSearch::AreAllowed(const Steps& steps) {
  if (!KeepBudgets(steps)) return false;
  const size_t before = trial_.depth();
  const bool allowed =
      std::ranges::all_of(steps, [this](const Step& step) { return CarryOut(step); });
  trial_.TakeBackTo(before);
  return allowed;
}

// The steps without a stop on the way of the pod of that step, which goes at once to where it ends,
// early or late, or stays where it ends at home. nullopt: it makes none, or it has to.
std::optional<RoomSearch::Steps> RoomSearch::WithoutDetour(const Steps& steps, size_t later) {
  const std::string key = steps[later].pod->metadata.Key();
  size_t earlier = later;
  while (earlier > 0 && steps[earlier - 1].pod->metadata.Key() != key) --earlier;
  if (earlier == 0) return std::nullopt;
  --earlier;
  const Step direct = {steps[earlier].pod, steps[later].to};
  const auto without = [&steps](size_t left_out) {
    Steps rest = steps;
    rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(left_out));
    return rest;
  };
  Steps early = without(later);
  if (direct.pod->spec.node_name == direct.to) {
    early.erase(early.begin() + static_cast<std::ptrdiff_t>(earlier));
    return AreAllowed(early) ? std::optional(std::move(early)) : std::nullopt;
  }
  early[earlier] = direct;
  if (AreAllowed(early)) return early;
  Steps late = without(earlier);
  late[later - 1] = direct;
  return AreAllowed(late) ? std::optional(std::move(late)) : std::nullopt;
}

// The same without the stops that pods make on their ways and need not.
RoomSearch::Steps RoomSearch::WithoutDetours(Steps steps) {
  for (size_t later = 1; later < steps.size() && !trial_.exhausted();) {
    auto shorter = WithoutDetour(steps, later);
    if (!shorter) {
      ++later;
      continue;
    }
    steps = *std::move(shorter);
    later = 1;
  }
  return steps;
}

Net RoomSearch::NetOf(const Steps& steps) {
  Net net;
  std::map<std::string, const Step*> first;
  std::map<std::string, const Step*> last;
  for (const Step& step : steps) {
    first.try_emplace(step.pod->metadata.Key(), &step);
    last.insert_or_assign(step.pod->metadata.Key(), &step);
  }
  for (const auto& [key, step] : first) {
    int64_t& count = net[step->pod->spec.priority.value_or(0)];
    if (step->pod->spec.node_name.empty()) ++count;
    if (last.at(key)->to.empty()) --count;
  }
  return net;
}

// Whether it has nodes for more of the pods, those of a higher priority first, or for as many with
// less disruption: a pod that is evicted for good counts once, one that is moved twice.
bool RoomSearch::IsBetter(const Attempt& a, const Attempt& b) {
  Net by = a.net;
  for (const auto& [priority, count] : b.net) by[priority] -= count;
  for (const auto& [priority, count] : by) {
    if (count != 0) return count > 0;
  }
  const auto disruption = [](const Attempt& attempt) {
    const Cost cost = CostOf(attempt.steps);
    return 2 * cost.moves - cost.lost.size();
  };
  return disruption(a) < disruption(b);
}

// Takes the pods in this order, and puts each on a node where that is possible.
RoomSearch::Attempt RoomSearch::TakeInTurn(const std::vector<PodPtr>& pods, const Later& later,
                                           size_t most_judged) {
  // One for which no room is found must not use up what the others need.
  constexpr size_t kPartOfOne = 4;
  Attempt attempt;
  std::set<std::string> settled;  // by key, with their group
  std::vector<PodPtr> queue = pods;
  const EvictionBudgets left_before = left_;
  const auto was_evicted = [&attempt](const PodPtr& pod) {
    const std::string key = pod->metadata.Key();
    return std::ranges::any_of(attempt.steps, [&key](const Step& step) {
      return step.to.empty() && step.pod->metadata.Key() == key;
    });
  };
  const size_t end = trial_.left() - std::min(most_judged, trial_.left());
  for (size_t i = 0; i < queue.size(); ++i) {
    const PodPtr pod = queue[i];
    if (settled.contains(pod->metadata.Key())) continue;
    trial_.EndAfter(std::nullopt);
    if (trial_.exhausted() || trial_.left() <= end) {
      const std::string_view why =
          was_evicted(pod) ? kEvictedForGood : "the search ended before its turn";
      attempt.left_out.push_back({pod->metadata.Key(), std::string(why)});
      continue;
    }
    const size_t remaining = trial_.left() - end;
    trial_.EndAfter(std::max(remaining / kPartOfOne, remaining / (queue.size() - i)));
    const size_t first = attempt.steps.size();
    if (auto group = GroupThatStarts(pod)) {
      AddPodsOfWhole(*group, attempt.needed);
      std::set<std::string> members = {pod->metadata.Key()};
      for (const auto& member : group->waiting) members.insert(member.pod);
      const std::string why = PlaceGroup(pod, *std::move(group), attempt.steps, attempt.left_out);
      if (!why.empty()) {
        for (const std::string& member : members) attempt.left_out.push_back({member, why});
      }
      attempt.helped += HelpedBy(attempt.steps, first);
      settled.merge(members);
      QueueLost(attempt, first, queue, i + 1);
      continue;
    }
    const bool is_evicted = was_evicted(pod);
    if (is_evicted) {
      if (!PlaceNext(pod, attempt.steps)) {
        attempt.left_out.push_back({pod->metadata.Key(), std::string(kEvictedForGood)});
      }
      QueueLost(attempt, first, queue, i + 1);
      continue;
    }
    attempt.needed.push_back(pod);
    if (const auto found = later.find(pod->metadata.Key()); found != later.end()) {
      attempt.left_out.push_back({found->first, found->second});
    } else if (PlaceNext(pod, attempt.steps)) {
      attempt.helped += HelpedBy(attempt.steps, first);
    } else {
      attempt.left_out.push_back({pod->metadata.Key(), MessageOf(pod)});
    }
    QueueLost(attempt, first, queue, i + 1);
  }
  trial_.EndAfter(std::nullopt);
  trial_.TakeBackTo(0);
  moved_.clear();
  left_ = left_before;
  any_lost_ = false;
  attempt.steps = WithoutDetours(std::move(attempt.steps));
  attempt.levels = LevelsOf(pods, attempt.left_out);
  attempt.net = NetOf(attempt.steps);
  return attempt;
}

// Whether the pod has only nodes with room for what it requests.
bool RoomSearch::NeedsRoom(const PodPtr& pod) {
  // Devices may stand for it.
  if (!pod->spec.resource_claims.empty()) return false;
  const auto [known, is_new] = needs_room_.try_emplace(pod->spec.scheduler_name);
  if (is_new) {
    const auto judgement = trial_.Judge(pod);
    known->second =
        judgement->profile() != nullptr &&
        std::ranges::any_of(judgement->profile()->plugins().filter,
                            [](const auto& entry) { return entry.name == "NodeResourcesFit"; });
  }
  return known->second;
}

// The pods by priority, as they are sorted, and how many of each have nodes.
std::vector<Level> RoomSearch::LevelsOf(const std::vector<PodPtr>& pods,
                                        const std::vector<LeftOut>& left_out) {
  std::set<std::string_view> wait;
  for (const LeftOut& one : left_out) wait.insert(one.pod);
  std::vector<Level> levels;
  int32_t last = 0;
  for (const PodPtr& pod : pods) {
    const int32_t priority = pod->spec.priority.value_or(0);
    if (levels.empty() || priority != last) levels.emplace_back();
    last = priority;
    Ask ask;
    if (NeedsRoom(pod)) {
      const PodInfoPtr info = trial_.InfoOf(pod);
      ask = {info->requests.milli_cpu, info->requests.memory, 1};
    }
    levels.back().asks.push_back(ask);
    if (!wait.contains(pod->metadata.Key())) ++levels.back().placed;
  }
  return levels;
}

// Sorts pods of one priority, which stand together.
void RoomSearch::SortSmallFirst(std::vector<PodPtr>& pods) {
  double all_cpu = 1;
  double all_memory = 1;
  std::map<const api::Pod*, PodInfoPtr> infos;
  for (const PodPtr& pod : pods) {
    const PodInfoPtr& info = infos[pod.get()] = trial_.InfoOf(pod);
    all_cpu += static_cast<double>(info->requests.milli_cpu);
    all_memory += static_cast<double>(info->requests.memory);
  }
  std::ranges::stable_sort(pods, {}, [&](const PodPtr& pod) {
    const Resources& asked = infos.at(pod.get())->requests;
    return std::pair(-int64_t{pod->spec.priority.value_or(0)},
                     static_cast<double>(asked.milli_cpu) / all_cpu +
                         static_cast<double>(asked.memory) / all_memory);
  });
}

// Whether nothing has nodes for more of the pods, by what is free once pods that are being deleted
// have ended.
bool RoomSearch::IsMost(const Attempt& attempt) {
  if (attempt.left_out.empty()) return true;
  // What is free is not all that there is.
  if (may_evict_) return false;
  for (const PodPtr& one : going_) trial_.Remove(*one);
  const bool most = PlacesMost(attempt.levels, trial_.cache());
  trial_.TakeBackTo(0);
  return most;
}

// The attempt that has nodes for the most of the pods, and of these the one with the fewest moves.
RoomSearch::Attempt RoomSearch::FindBest(const std::vector<PodPtr>& pods, const Later& later) {
  std::optional<Attempt> best;
  for (size_t i = 0; i < std::size(kWays); ++i) {
    if (best && (trial_.exhausted() || IsMost(*best))) break;
    std::vector<PodPtr> in_turn = pods;
    if (kWays[i].small_first) SortSmallFirst(in_turn);
    tight_ = kWays[i].tight;
    again_ = kWays[i].again;
    Attempt one = TakeInTurn(in_turn, later, trial_.left() / (std::size(kWays) - i));
    if (!best || IsBetter(one, *best)) best = std::move(one);
  }
  tight_ = false;
  again_ = false;
  return *std::move(best);
}

Result<Plan> RoomSearch::Pending(const Goal& goal) {
  Plan plan{.goal = goal};
  const std::vector<PodPtr> pods = PendingPods(goal);
  Attempt best = FindBest(pods, FindLater(pods));
  plan.left_out = best.left_out;
  // The goal does not ask for the others, which may be evicted all the same.
  std::erase_if(plan.left_out, [&](const LeftOut& one) {
    return one.why == kEvictedForGood && !AsksFor(goal, *trial_.simulation().FindPod(one.pod));
  });
  plan.most = plan.left_out.empty() || IsMost(best);
  if (!Replay(best.steps, plan.moves)) {
    plan.moves.clear();
    plan.left_out.clear();
    plan.most = false;
    plan.why = kNoOrder;
  } else if (plan.left_out.empty()) {
    plan.outcome = Plan::Outcome::kFound;
  } else if (!plan.moves.empty()) {
    plan.outcome = Plan::Outcome::kPartly;
  } else if (plan.most) {
    plan.outcome = Plan::Outcome::kImpossible;
    plan.why = "all nodes together have no room for another";
  } else {
    plan.why = "no moves were found";
  }
  plan.helped = plan.moves.empty() ? 0 : best.helped;
  trial_.TakeBackTo(0);
  if (plan.outcome == Plan::Outcome::kNotFound && CanNothingBegin(pods)) {
    plan.outcome = Plan::Outcome::kImpossible;
    plan.most = true;
    plan.why = kNoBeginning;
  }
  plan.fewest = FewestFor(best.needed);
  Finish(plan);
  return plan;
}

// How many pods must be evicted at least until these have nodes. One that needs room needs it
// whatever becomes of the others, unless where they go is what lets it in.
size_t RoomSearch::FewestFor(const std::vector<PodPtr>& pods) {
  size_t fewest = 0;
  for (const PodPtr& pod : pods) {
    if (trial_.exhausted()) break;
    const Candidates candidates = CandidatesOnceEnded(pod);
    if (!candidates.elsewhere.empty() || candidates.nodes.empty()) continue;
    fewest = std::max(fewest, candidates.nodes.front().least.moves);
  }
  return fewest;
}

// The pods of a gang that needs all of them.
void RoomSearch::AddPodsOfWhole(const engine::PodGroupPreview& group,
                                std::vector<PodPtr>& pods) const {
  const auto all = static_cast<int64_t>(group.placed + group.waiting.size());
  if (!group.composite_pod_group.empty() || group.min_count.value_or(0) < all) return;
  for (const engine::PodGroupPreview::Member& member : group.waiting) {
    pods.push_back(trial_.simulation().FindPod(member.pod));
  }
}

// As kubectl does it, and as the node lifecycle controller then taints the node. False: there is no
// such node.
bool RoomSearch::Cordon(std::string_view name) {
  const auto node = simulator::FindIn<api::Node>(trial_.simulation().api(), Kind::kNode, name);
  if (node == nullptr) return false;
  trial_.Apply(simulator::Cordoned(*node));
  return true;
}

Result<Plan> RoomSearch::Empty(const Goal& goal) {
  Plan plan{.goal = goal};
  if (!Cordon(goal.name)) return Fail(simulator::NoNode(goal.name, trial_.simulation()));
  barred_ = goal.name;
  std::vector<PodPtr> leaving = simulator::PodsOn(trial_.simulation(), goal.name);
  std::erase_if(leaving, [](const PodPtr& pod) {
    return IsDaemon(*pod) || IsMirror(*pod) || pod->metadata.deletion_timestamp;
  });
  for (const PodPtr& pod : leaving) {
    if (std::string why = WhyItStays(*pod); !why.empty()) {
      plan.left_out.push_back({pod->metadata.Key(), std::move(why)});
    }
  }
  if (!plan.left_out.empty()) {
    plan.outcome = Plan::Outcome::kImpossible;
    plan.why = "pods on it stay";
    Finish(plan);
    return plan;
  }
  plan.fewest = leaving.size();
  // The largest first: it has the fewest places.
  const auto size = [this](const PodPtr& pod) {
    const PodInfoPtr asked = trial_.InfoOf(pod);
    return std::tuple(-asked->requests.milli_cpu, -asked->requests.memory, pod->metadata.Key());
  };
  std::ranges::sort(leaving, {}, size);
  for (const PodPtr& pod : leaving) moved_.insert(pod->metadata.Key());
  Steps steps;
  for (const PodPtr& pod : leaving) {
    trial_.Remove(*pod);
    const PodPtr again = PendingCopy(*pod, pod->metadata.name);
    const auto to = Place(again, limits_.depth, steps);
    if (!to) {
      // Where the node alone takes it, there is none.
      const std::string message = MessageOf(again);
      plan.why = pod->metadata.Key() + " fits nowhere else";
      if (!message.empty()) plan.why += ": " + message;
      Finish(plan);
      return plan;
    }
    steps.push_back({pod, *to});
  }
  trial_.TakeBackTo(0);
  moved_.clear();
  (void)Cordon(goal.name);
  if (Replay(steps, plan.moves)) {
    plan.outcome = Plan::Outcome::kFound;
  } else {
    plan.moves.clear();
    plan.why = kNoOrder;
  }
  Finish(plan);
  return plan;
}

}  // namespace

Result<Plan> FindRoom(const Goal& goal, simulator::Simulation& simulation, const Limits& limits) {
  RoomSearch search(goal, simulation, limits);
  if (goal.kind == Goal::Kind::kFit) return search.Fit(goal);
  return goal.kind == Goal::Kind::kPending ? search.Pending(goal) : search.Empty(goal);
}

}  // namespace berth::plan
