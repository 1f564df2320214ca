// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "berth/in_tree/eviction.h"
#include "berth/resources.h"
#include "berth/result.h"
#include "berth/snapshot.h"
#include "src/engine/judgement.h"
#include "src/plan/plan.h"
#include "src/plan/trial.h"

// What the searches for all goals have in common; plan.h says what they promise.
namespace berth::plan {

// Of a pod that makes room, or of a goal, so many nodes are tried.
inline constexpr size_t kNodesOfFirst = 64;
inline constexpr size_t kNodesOfOthers = 8;

inline constexpr std::string_view kNoOrder =
    "moves were found, and in no order that is allowed at each step";

// How much it matters that a pod stays: its priority, then its pod-deletion-cost.
using Importance = std::pair<int32_t, int64_t>;
Importance ImportanceOf(const api::Pod& pod);

// What it costs that pods move: which are evicted for good, those of the highest priority first;
// then how many leave a node; of as many pods the most important one decides, then the next.
struct Cost {
  std::vector<int32_t> lost = {};  // priorities, the highest first
  size_t moves = 0;
  std::vector<Importance> pods = {};  // the most important first

  friend auto operator<=>(const Cost&, const Cost&) = default;
};
// Of any so many of the pods: the least.
Cost LeastCost(std::vector<Importance> pods, size_t moves);

// A pod on a node that may be moved, with what it takes there.
struct Movable {
  PodPtr pod;
  double size = 0;  // the largest part that it is of what is asked for
  Importance importance = {};
};

// A node that may take a pod once some of its pods have gone.
struct Candidate {
  std::string node;
  Cost least;  // of those that must go
};

struct Candidates {
  std::vector<Candidate> nodes = {};  // of the least cost first
  // The nodes that reject the pod for pods that may be on other nodes: what must go from there, and
  // whether that is enough, is not known.
  std::vector<NodeRow> elsewhere = {};
};

class Search {
 public:
  Search(simulator::Simulation& simulation, const Limits& limits);
  Search(const Search&) = delete;
  Search& operator=(const Search&) = delete;

 protected:
  struct Step {
    PodPtr pod;      // as it is on the node that it leaves, or as it waits
    std::string to;  // "": it is evicted for good
  };
  using Steps = std::vector<Step>;
  // Pods that leave a node together, the smallest first.
  using Leaving = std::vector<Movable>;

  ~Search() = default;

  std::string WhyItStays(const api::Pod& pod);
  std::vector<Movable> MovableOn(const std::string& node, const Resources& asked);
  Candidates CandidatesFor(const PodPtr& pod);
  Candidates CandidatesOf(engine::Judgement& judgement, const PodPtr& pod);
  Candidates CandidatesOnceEnded(const PodPtr& pod);
  std::string BestOpenNode(const engine::Judgement& judgement);
  std::optional<std::string> Place(const PodPtr& pod, size_t depth, Steps& steps);
  std::vector<Leaving> WaysToMakeRoom(const std::string& node, const Resources& asked,
                                      const std::function<bool()>& has_room);
  std::vector<Leaving> WaysBySmallPods(const std::string& node, const Resources& asked,
                                       const std::function<bool()>& has_room);
  bool MakeRoomOn(const std::string& node, const PodPtr& pod, size_t depth, Steps& steps);
  bool CarryOut(const Step& step);
  void Do(const Step& step);
  std::optional<Steps> InOrder(Steps steps);
  bool KeepBudgets(const Steps& steps) const;
  bool Replay(const Steps& steps, std::vector<Move>& moves);
  void Finish(Plan& plan) const { plan.judged = trial_.judged(); }
  static Cost CostOf(const Steps& steps);
  std::string MessageOf(const PodPtr& pod);
  static std::string MessageOf(engine::Judgement& judgement);

  Trial trial_;
  const Limits limits_;
  const EvictionBudgets budgets_;  // as they are before the first move
  // The same without the pods that are evicted for good so far.
  EvictionBudgets left_;
  bool any_lost_ = false;
  // Pods of lower priority may be evicted for good where they have no place elsewhere.
  std::optional<int32_t> evict_below_;
  // A node that takes no pods, though some may fit there; "": there is none.
  std::string barred_;
  // Whether pods go where the least is left of what they ask for, and not where the scores say.
  bool tight_ = false;
  std::vector<PodPtr> going_;    // on a node, and being deleted: nothing moves them
  std::set<std::string> moved_;  // keys of pods that are where a plan under way wants them

 private:
  std::string WhyAtAll(const api::Pod& pod) const;
  static std::string RefusedBy(const EvictionBudgets& budgets, const api::Pod& pod);
  bool MayEvict(const api::Pod& pod) const;
  static bool LosesLess(const Leaving& a, const Leaving& b);
  bool DoAllowed(Steps& steps, Steps& done);
  bool StepAside(Steps& steps, Steps& done);
  std::string FreeNodeFor(const PodPtr& pod, const std::string& from, const Steps& steps);
  std::optional<Leaving> PutBack(const std::vector<Movable>& movable,
                                 const std::function<bool()>& has_room);
  bool SendAway(const Leaving& leaving, const std::string& node, const PodPtr& pod, size_t depth,
                Steps& steps);

  // By key: of each pod it is asked again and again, and stays the same when it has moved.
  std::unordered_map<std::string, std::string> why_it_stays_;
};

// What a pod asks for of what every node has.
struct Ask {
  int64_t milli_cpu = 0;
  int64_t memory = 0;
  int64_t slots = 0;
};

// The pods that wait and are of one priority.
struct Level {
  std::vector<Ask> asks = {};
  size_t placed = 0;  // how many of them have nodes in the end
};

// Whether no plan has nodes for more of the pods; the most important level comes first, and more of
// it count for more than any number of the next. It is counted by what is free on all nodes
// together, so false says nothing.
bool PlacesMost(const std::vector<Level>& levels, const Snapshot& snapshot);

// Of the goals kFit, kPending and kEmpty.
Result<Plan> FindRoom(const Goal& goal, simulator::Simulation& simulation, const Limits& limits);
// Of the goal kSkew.
Result<Plan> FindSpread(const Goal& goal, simulator::Simulation& simulation, const Limits& limits);
// Of the goal kStranded.
Result<Plan> FindUse(const Goal& goal, simulator::Simulation& simulation, const Limits& limits);

}  // namespace berth::plan
