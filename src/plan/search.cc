// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "berth/api/node.h"
#include "berth/in_tree/eviction.h"
#include "src/cache/cache.h"
#include "src/engine/judgement.h"
#include "src/explain/pod_list.h"
#include "src/informers/kinds.h"
#include "src/plan/plan.h"
#include "src/simulator/picture.h"

namespace berth::plan {
namespace {

using engine::Judgement;
using informers::Kind;

// Of a pod that makes room, so many nodes are tried.
constexpr size_t kNodesOfFirst = 64;
constexpr size_t kNodesOfOthers = 8;

constexpr std::string_view kNoOrder =
    "moves were found, and in no order that is allowed at each step";

// Whether the pod holds its place for a while yet, and then makes room by itself.
bool IsGoing(const api::Pod& pod) {
  return pod.metadata.deletion_timestamp && !pod.spec.node_name.empty();
}

// The cluster with changes on top of each other, which are taken back in the reverse order.
class Trial {
 public:
  Trial(simulator::Simulation& simulation, const Limits& limits)
      : simulation_(simulation), most_judged_(limits.judged) {}
  ~Trial() { TakeBackTo(0); }
  Trial(const Trial&) = delete;
  Trial& operator=(const Trial&) = delete;

  const simulator::Simulation& simulation() const { return simulation_; }
  size_t depth() const { return made_.size(); }
  size_t judged() const { return judged_; }
  bool exhausted() const { return judged_ >= most_judged_ || simulation_.interrupted(); }

  void Remove(const api::Pod& pod) {
    const std::string key = pod.metadata.Key();
    made_.emplace_back(Kind::kPod, key, simulation_.api().Find(Kind::kPod, key));
    simulation_.Delete(Kind::kPod, key);
    changed_ = true;
  }
  void Apply(api::ObjectPtr object) {
    const Kind kind = simulator::KindOf(object);
    const std::string key = api::MetaOf(object)->Key();
    made_.emplace_back(kind, key, simulation_.api().Find(kind, key));
    simulation_.Apply(std::move(object));
    changed_ = true;
  }
  void Place(const api::Pod& pod, const std::string& node) {
    auto placed = std::make_shared<api::Pod>(pod);
    placed->spec.node_name = node;
    Apply(PodPtr(std::move(placed)));
  }
  void TakeBackTo(size_t depth) {
    for (; made_.size() > depth; made_.pop_back()) {
      auto& [kind, key, object] = made_.back();
      if (object.index() == 0) {
        simulation_.Delete(kind, key);
      } else {
        simulation_.Apply(std::move(object));
      }
      changed_ = true;
    }
    TakeIn();
  }

  // The pod as it counts, good as long as `pod`.
  PodPtr Counted(const api::Pod& pod) const {
    return simulation_.scheduler().Counted(PodPtr(PodPtr(), &pod));
  }

  // Of use until the next change.
  std::unique_ptr<Judgement> Judge(const PodPtr& pod) {
    TakeIn();
    ++judged_;
    return simulation_.scheduler().Judge(pod);
  }
  bool FitsOn(const PodPtr& pod, const std::string& node) {
    const auto judgement = Judge(pod);
    if (judgement->kind() != Judgement::Kind::kScheduled) return false;
    return std::ranges::binary_search(judgement->feasible(), judgement->snapshot().FindNode(node));
  }
  // What would become of the pod's group; nullopt: it is tried alone. Only what no claim and no
  // nomination is in the way of is tried.
  std::optional<engine::PodGroupPreview> TryGroup(const api::Pod& pod) {
    TakeIn();
    auto preview = simulation_.scheduler().PreviewPodGroup(pod, scheduler::Effects::kNone);
    if (preview) judged_ += preview->waiting.size();
    return preview;
  }
  PodInfoPtr InfoOf(const PodPtr& pod) { return simulation_.scheduler().cache().MakePodInfo(pod); }
  // As the changes so far have it.
  const cache::Cache& cache() {
    TakeIn();
    return simulation_.scheduler().cache();
  }

 private:
  void TakeIn() {
    if (std::exchange(changed_, false)) simulation_.RunDue();
  }

  simulator::Simulation& simulation_;
  const size_t most_judged_;
  // What stood there before; monostate: nothing did.
  std::vector<std::tuple<Kind, std::string, api::ObjectPtr>> made_;
  bool changed_ = false;
  size_t judged_ = 0;
};

// The feasible node with the highest total, by name where several have it, and never `but`. "":
// there is none.
std::string BestNode(const Judgement& judgement, std::string_view but = "") {
  std::pair<int64_t, std::string_view> best;
  const std::vector<NodeRow>& rows = judgement.feasible();
  for (size_t i = 0; i < rows.size(); ++i) {
    const std::string_view name = judgement.snapshot().node(rows[i]).metadata.name;
    const int64_t total = judgement.totals().size() == rows.size() ? judgement.totals()[i] : 0;
    if (name == but) continue;
    if (best.second.empty() || total > best.first || (total == best.first && name < best.second)) {
      best = {total, name};
    }
  }
  return std::string(best.second);
}

// A pod on a node that may be moved, with what it takes there.
struct Movable {
  PodPtr pod;
  double size = 0;  // the largest part that it is of what is asked for
};

// A node that may take a pod once some of its pods have gone.
struct Candidate {
  std::string node;
  size_t fewest = 1;  // of its pods must go
};

struct Candidates {
  std::vector<Candidate> nodes = {};
  // Some node rejects the pod for pods that may be on other nodes: what must go from there, and
  // whether that is enough, is not known.
  bool elsewhere = false;
};

class Search {
 public:
  Search(simulator::Simulation& simulation, const Limits& limits)
      : trial_(simulation, limits),
        limits_(limits),
        budgets_(simulator::EvictionBudgetsOf(simulation)) {
    simulation.api().ForEach(Kind::kPod, [this](const api::ObjectPtr& object) {
      const PodPtr& pod = std::get<PodPtr>(object);
      if (IsGoing(*pod)) going_.push_back(pod);
    });
  }

  Result<Plan> Fit(const Goal& goal);
  Result<Plan> Pending(const Goal& goal);
  Result<Plan> Empty(const Goal& goal);

 private:
  struct Step {
    PodPtr pod;  // as it is on the node that it leaves, or as it waits
    std::string to;
  };
  using Steps = std::vector<Step>;

  std::string WhyItStays(const api::Pod& pod);
  std::string WhyAtAll(const api::Pod& pod) const;
  std::vector<Movable> MovableOn(const std::string& node, const PodInfo& asked);
  Candidates CandidatesFor(const PodPtr& pod);
  Candidates CandidatesOnceEnded(const PodPtr& pod);
  std::map<std::string, std::string> FindLater(const std::vector<PodPtr>& pods);
  std::string Ending(const std::string& node) const;
  std::vector<PodPtr> PendingPods(const Goal& goal);
  size_t FewestFor(const std::vector<PodPtr>& pods);
  void AddPodsOfWhole(const engine::PodGroupPreview& group, std::vector<PodPtr>& pods) const;
  std::optional<std::string> Place(const PodPtr& pod, size_t depth, Steps& steps);
  std::optional<engine::PodGroupPreview> GroupThatStarts(const PodPtr& pod);
  std::string PlaceGroup(const PodPtr& pod, engine::PodGroupPreview group, Steps& steps,
                         std::vector<LeftOut>& left_out);
  bool MakeRoomForGroup(const engine::PodGroupPreview& group, Steps& evictions);
  Plan FitGroup(Plan plan, const PodPtr& pod, engine::PodGroupPreview group);
  bool MakeRoomOn(const std::string& node, const PodPtr& pod, size_t depth, Steps& steps);
  bool Replay(const Steps& steps, std::vector<Move>& moves);
  void Finish(Plan& plan) const { plan.judged = trial_.judged(); }
  bool Cordon(std::string_view name);
  std::string MessageOf(const PodPtr& pod);
  static std::string MessageOf(Judgement& judgement);
  bool CarryOut(const Step& step);

  Trial trial_;
  const Limits limits_;
  const EvictionBudgets budgets_;  // as they are before the first move
  // A node that takes no pods, though some may tolerate that it is cordoned; "": there is none.
  std::string emptied_;
  std::vector<PodPtr> going_;  // on a node, and being deleted: nothing moves them
  // By UID: of each pod it is asked again and again, and stays the same.
  std::unordered_map<std::string, std::string> why_it_stays_;
  std::set<std::string> moved_;  // keys of pods that are where a plan under way wants them
};

std::string Search::WhyItStays(const api::Pod& pod) {
  if (moved_.contains(pod.metadata.Key())) return "is moved already";
  const auto [known, is_new] = why_it_stays_.try_emplace(pod.metadata.uid);
  if (is_new) known->second = WhyAtAll(pod);
  return known->second;
}

std::string Search::WhyAtAll(const api::Pod& pod) const {
  if (const std::string_view why = berth::WhyItStays(*trial_.Counted(pod)); !why.empty()) {
    return std::string(why);
  }
  if (budgets_.Ask(pod) == Leave::kRefused) {
    std::string names;
    for (const std::string& name : budgets_.Of(pod)) names += (names.empty() ? "" : ", ") + name;
    return "its PodDisruptionBudget allows no eviction: " + names;
  }
  return "";
}

// Those that may be moved, the smallest first: they free least, so they are put back first.
std::vector<Movable> Search::MovableOn(const std::string& node, const PodInfo& asked) {
  std::vector<Movable> movable;
  const cache::Cache& cache = trial_.cache();
  const NodeRow row = cache.FindNode(node);
  if (row == kNoRow) return movable;
  for (const PodInfo* pod : cache.pods(row)) {
    if (!WhyItStays(*pod->pod).empty()) continue;
    movable.push_back({pod->pod, LargestPart(*pod, asked.requests)});
  }
  std::ranges::sort(movable, {}, [](const Movable& one) {
    return std::tuple(one.size, one.pod->metadata.Key());
  });
  return movable;
}

// The nodes that reject the pod for what others hold there, with the number of pods that must go at
// least for it to have what it requests; those where that is never enough are left out. Fewest
// first.
Candidates Search::CandidatesFor(const PodPtr& pod) {
  Candidates candidates;
  const auto judgement = trial_.Judge(pod);
  if (judgement->kind() != Judgement::Kind::kUnschedulable) return candidates;
  judgement->Explain();
  const PodInfoPtr asked = trial_.InfoOf(pod);
  const Snapshot& snapshot = judgement->snapshot();
  snapshot.nodes().ForEach([&](NodeRow row) {
    if (snapshot.node(row).metadata.name == emptied_) return;
    const Code code = judgement->statuses().Get(row).code();
    const std::string_view plugin = judgement->statuses().plugin(row);
    // A node that misses a constraint's label never fits; a pod affinity may be met by a move.
    candidates.elsewhere |= plugin == "InterPodAffinity" ||
                            (plugin == "PodTopologySpread" && code == Code::kUnschedulable);
    if (code != Code::kUnschedulable) return;
    std::vector<const PodInfo*> movable;
    for (const PodInfo* other : snapshot.pods(row)) {
      if (WhyItStays(*other->pod).empty()) movable.push_back(other);
    }
    if (const auto fewest = FewestToGo(asked->requests, movable, snapshot, row)) {
      candidates.nodes.push_back({snapshot.node(row).metadata.name, *fewest});
    }
  });
  std::ranges::sort(candidates.nodes, {}, [](const Candidate& one) {
    return std::tuple(one.fewest, std::string_view(one.node));
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

// What is being deleted on the node, for people.
std::string Search::Ending(const std::string& node) const {
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
std::map<std::string, std::string> Search::FindLater(const std::vector<PodPtr>& pods) {
  std::map<std::string, std::string> later;
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
      if (judgement->kind() == Judgement::Kind::kScheduled) node = BestNode(*judgement, emptied_);
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

// Puts the pod on a node, making room there if need be; the steps for that are added. nullopt: none
// was found, and nothing is changed.
std::optional<std::string> Search::Place(const PodPtr& pod, size_t depth, Steps& steps) {
  {
    const auto judgement = trial_.Judge(pod);
    if (judgement->kind() == Judgement::Kind::kScheduled) {
      std::string node = BestNode(*judgement, emptied_);
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

// Of a pod whose group has to start before it gets a node; nullopt: it is placed by itself, as it
// has no group, or one that has started.
std::optional<engine::PodGroupPreview> Search::GroupThatStarts(const PodPtr& pod) {
  auto group = trial_.TryGroup(*pod);
  if (group && group->has_started()) group.reset();
  return group;
}

// Evicts, for the group's pods one after the other, what is in their way; the pods themselves stay
// as they are. False: that was not possible, and nothing is changed.
bool Search::MakeRoomForGroup(const engine::PodGroupPreview& group, Steps& evictions) {
  const size_t before = trial_.depth();
  const std::set<std::string> moved_before = moved_;
  Steps steps;
  for (const engine::PodGroupPreview::Member& member : group.waiting) {
    const PodPtr pod = trial_.simulation().FindPod(member.pod);
    if (Place(pod, limits_.depth, steps)) moved_.insert(member.pod);
  }
  trial_.TakeBackTo(before);
  const bool allowed =
      std::ranges::all_of(steps, [this](const Step& step) { return CarryOut(step); });
  moved_ = moved_before;
  if (allowed) {
    evictions = std::move(steps);
  } else {
    trial_.TakeBackTo(before);
  }
  return allowed;
}

// Puts the waiting pods of the pod's group on nodes, as many as have one when the scheduler tries
// the group, making room first where it would not start; what waits on is added to `left_out`. Not
// "": the group does not start, that is why, and nothing is changed.
std::string Search::PlaceGroup(const PodPtr& pod, engine::PodGroupPreview group, Steps& steps,
                               std::vector<LeftOut>& left_out) {
  const std::string name = "its pod group " + group.pod_group;
  if (!group.exists) return name + " is not there";
  if (!group.tried) return name + " was " + group.message;
  Steps evictions;
  if (!group.starts) {
    const size_t before = trial_.depth();
    for (const PodPtr& one : going_) trial_.Remove(*one);
    const bool later = !going_.empty() && trial_.TryGroup(*pod)->starts;
    trial_.TakeBackTo(before);
    if (later) return name + " starts once pods that are being deleted have ended";
    const std::string message = group.message.empty() ? "" : ": " + group.message;
    const bool made = MakeRoomForGroup(group, evictions);
    if (made) group = *trial_.TryGroup(*pod);
    if (!made || !group.starts) {
      trial_.TakeBackTo(before);
      return name + " does not start" + message;
    }
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

// Moves pods off the node until this one fits there, and puts it there. False: that was not
// possible, and nothing is changed.
bool Search::MakeRoomOn(const std::string& node, const PodPtr& pod, size_t depth, Steps& steps) {
  const size_t before = trial_.depth();
  const size_t steps_before = steps.size();
  const std::set<std::string> moved_before = moved_;
  const auto give_up = [&] {
    trial_.TakeBackTo(before);
    steps.resize(steps_before);
    moved_ = moved_before;
    return false;
  };
  const std::vector<Movable> movable = MovableOn(node, *trial_.InfoOf(pod));
  for (const Movable& one : movable) trial_.Remove(*one.pod);
  if (!trial_.FitsOn(pod, node)) return give_up();
  std::vector<PodPtr> leaving;
  for (const Movable& one : movable) {
    if (trial_.exhausted()) return give_up();
    const size_t mark = trial_.depth();
    trial_.Apply(one.pod);
    if (trial_.FitsOn(pod, node)) continue;
    trial_.TakeBackTo(mark);
    leaving.push_back(one.pod);
  }
  trial_.Place(*pod, node);
  moved_.insert(pod->metadata.Key());
  for (const PodPtr& one : leaving) moved_.insert(one->metadata.Key());
  // The largest first: it has the fewest places.
  for (auto it = leaving.rbegin(); it != leaving.rend(); ++it) {
    const auto to = Place(PendingCopy(**it, (*it)->metadata.name), depth - 1, steps);
    if (!to) return give_up();
    steps.push_back({*it, *to});
  }
  return true;
}

// Moves the pod in the cluster as it is. False: it is not allowed there; then the pod has left its
// node already.
bool Search::CarryOut(const Step& step) {
  const bool waits = step.pod->spec.node_name.empty();
  const PodPtr again = waits ? step.pod : PendingCopy(*step.pod, step.pod->metadata.name);
  if (!waits) trial_.Remove(*step.pod);
  if (!trial_.FitsOn(again, step.to)) return false;
  trial_.Place(*again, step.to);
  return true;
}

// Carries the steps out in the cluster as it is, each judged in the state that it meets, and writes
// them down as moves. False: one of them is not allowed there.
bool Search::Replay(const Steps& steps, std::vector<Move>& moves) {
  EvictionBudgets budgets = budgets_;
  size_t wave = 1;
  std::vector<PodPtr> of_wave;
  for (const Step& step : steps) {
    const bool waits = step.pod->spec.node_name.empty();
    if (!CarryOut(step)) return false;
    if (!waits && budgets.Ask(*step.pod) == Leave::kRefused) {
      for (const PodPtr& pod : of_wave) budgets.Count(*pod, 1);
      of_wave.clear();
      ++wave;
    }
    if (!waits && budgets.Ask(*step.pod) == Leave::kCounted) {
      budgets.Count(*step.pod, -1);
      of_wave.push_back(step.pod);
    }
    Move move{.pod = step.pod->metadata.Key(),
              .uid = step.pod->metadata.uid,
              .from = step.pod->spec.node_name,
              .to = step.to,
              .wave = wave};
    const PodInfoPtr info = trial_.InfoOf(step.pod);
    ForEachAmount(info->requests, [&](ResourceId id, int64_t amount) {
      move.frees.emplace_back(trial_.cache().resource_names().Name(id), amount);
    });
    moves.push_back(std::move(move));
  }
  return true;
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

// Room is made for the group as a whole: for one pod of it there would be none to start with.
Plan Search::FitGroup(Plan plan, const PodPtr& pod, engine::PodGroupPreview group) {
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

Result<Plan> Search::Fit(const Goal& goal) {
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
      const Steps steps = {{pod, BestNode(*judgement)}};
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
  const std::vector<Candidate>& candidates = now.nodes;
  const Candidates at_least = going_.empty() ? now : CandidatesOnceEnded(pod);
  if (at_least.nodes.empty() && !at_least.elsewhere) {
    plan.outcome = Plan::Outcome::kImpossible;
    plan.why = "no node has it, whichever pods move: " + message;
    Finish(plan);
    return plan;
  }
  plan.fewest = at_least.elsewhere ? 1 : at_least.nodes.front().fewest;
  std::optional<size_t> best;  // how many pods the best plan so far evicts
  for (size_t i = 0; i < std::min(candidates.size(), kNodesOfFirst) && !trial_.exhausted(); ++i) {
    const Candidate& candidate = candidates[i];
    if (best && candidate.fewest >= *best) break;
    Steps steps;
    const bool found = MakeRoomOn(candidate.node, pod, limits_.depth, steps);
    trial_.TakeBackTo(0);
    moved_.clear();
    if (!found || (best && steps.size() >= *best)) continue;
    // What was judged with the pod on its node has to be allowed before it is there, too.
    const size_t evictions = steps.size();
    steps.push_back({pod, candidate.node});
    std::vector<Move> moves;
    const bool allowed = Replay(steps, moves);
    trial_.TakeBackTo(0);
    if (!allowed) continue;
    plan.moves = std::move(moves);
    best = evictions;
  }
  if (best) {
    plan.outcome = Plan::Outcome::kFound;
  } else {
    plan.why = "no moves were found: " + message;
  }
  Finish(plan);
  return plan;
}

// Those that the goal asks for and that wait for a node, the most important first.
std::vector<PodPtr> Search::PendingPods(const Goal& goal) {
  std::vector<PodPtr> pods;
  trial_.simulation().api().ForEach(Kind::kPod, [&](const api::ObjectPtr& object) {
    const PodPtr& pod = std::get<PodPtr>(object);
    if (pod->spec.node_name.empty() && !pod->metadata.deletion_timestamp &&
        pod->spec.priority.value_or(0) >= goal.priority &&
        (goal.namespace_.empty() || goal.namespace_ == pod->metadata.namespace_)) {
      pods.push_back(pod);
    }
  });
  std::ranges::stable_sort(pods, {}, [](const PodPtr& pod) {
    return std::tuple(-int64_t{pod->spec.priority.value_or(0)},
                      pod->metadata.creation_timestamp.value_or(Time()));
  });
  return pods;
}

Result<Plan> Search::Pending(const Goal& goal) {
  Plan plan{.goal = goal};
  const std::vector<PodPtr> pods = PendingPods(goal);
  const std::map<std::string, std::string> later = FindLater(pods);
  Steps steps;
  std::vector<PodPtr> needed;     // each has to get a node
  std::set<std::string> settled;  // by key, with their group
  for (const PodPtr& pod : pods) {
    if (settled.contains(pod->metadata.Key())) continue;
    if (trial_.exhausted()) {
      plan.left_out.push_back({pod->metadata.Key(), "the search ended before its turn"});
      continue;
    }
    if (auto group = GroupThatStarts(pod)) {
      AddPodsOfWhole(*group, needed);
      std::set<std::string> members = {pod->metadata.Key()};
      for (const auto& member : group->waiting) members.insert(member.pod);
      const std::string why = PlaceGroup(pod, *std::move(group), steps, plan.left_out);
      if (!why.empty()) {
        for (const std::string& member : members) plan.left_out.push_back({member, why});
      }
      settled.merge(members);
      continue;
    }
    needed.push_back(pod);
    if (const auto found = later.find(pod->metadata.Key()); found != later.end()) {
      plan.left_out.push_back({found->first, found->second});
      continue;
    }
    if (const auto to = Place(pod, limits_.depth, steps)) {
      moved_.insert(pod->metadata.Key());
      steps.push_back({pod, *to});
    } else {
      plan.left_out.push_back({pod->metadata.Key(), MessageOf(pod)});
    }
  }
  trial_.TakeBackTo(0);
  moved_.clear();
  if (!Replay(steps, plan.moves)) {
    plan.moves.clear();
    plan.left_out.clear();
    plan.why = kNoOrder;
  } else if (plan.left_out.empty()) {
    plan.outcome = Plan::Outcome::kFound;
  } else if (!plan.moves.empty()) {
    plan.outcome = Plan::Outcome::kPartly;
  } else {
    plan.why = "no moves were found";
  }
  trial_.TakeBackTo(0);
  plan.fewest = FewestFor(needed);
  Finish(plan);
  return plan;
}

// How many pods must be evicted at least until these have nodes. One that needs room needs it
// whatever becomes of the others, unless where they go is what lets it in.
size_t Search::FewestFor(const std::vector<PodPtr>& pods) {
  size_t fewest = 0;
  for (const PodPtr& pod : pods) {
    if (trial_.exhausted()) break;
    const Candidates candidates = CandidatesOnceEnded(pod);
    if (candidates.elsewhere || candidates.nodes.empty()) continue;
    fewest = std::max(fewest, candidates.nodes.front().fewest);
  }
  return fewest;
}

// The pods of a gang that needs all of them.
void Search::AddPodsOfWhole(const engine::PodGroupPreview& group, std::vector<PodPtr>& pods) const {
  const auto all = static_cast<int64_t>(group.placed + group.waiting.size());
  if (!group.composite_pod_group.empty() || group.min_count.value_or(0) < all) return;
  for (const engine::PodGroupPreview::Member& member : group.waiting) {
    pods.push_back(trial_.simulation().FindPod(member.pod));
  }
}

// As kubectl does it, and as the node lifecycle controller then taints the node. False: there is no
// such node.
bool Search::Cordon(std::string_view name) {
  const auto node = simulator::FindIn<api::Node>(trial_.simulation().api(), Kind::kNode, name);
  if (node == nullptr) return false;
  trial_.Apply(simulator::Cordoned(*node));
  return true;
}

Result<Plan> Search::Empty(const Goal& goal) {
  Plan plan{.goal = goal};
  if (!Cordon(goal.name)) return Fail(simulator::NoNode(goal.name, trial_.simulation()));
  emptied_ = goal.name;
  std::vector<PodPtr> leaving = simulator::PodsOn(trial_.simulation(), goal.name);
  std::erase_if(
      leaving, [](const PodPtr& pod) { return IsDaemon(*pod) || IsMirror(*pod) || IsGoing(*pod); });
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

size_t Plan::evictions() const {
  return static_cast<size_t>(
      std::ranges::count_if(moves, [](const Move& move) { return !move.from.empty(); }));
}

Result<Plan> FindPlan(const Goal& goal, simulator::Simulation& simulation, const Limits& limits) {
  Search search(simulation, limits);
  switch (goal.kind) {
    case Goal::Kind::kFit:
      return search.Fit(goal);
    case Goal::Kind::kPending:
      return search.Pending(goal);
    case Goal::Kind::kEmpty:
      break;
  }
  return search.Empty(goal);
}

}  // namespace berth::plan
