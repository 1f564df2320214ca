// SPDX-License-Identifier: Apache-2.0
// Each state of a plan is allowed in a cluster that knows nothing of the search, no budget loses
// more pods within a wave than it allows, the goal is reached, and where it says that fewer moves
// do not do, or none, no single move does.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "berth/label_selector.h"
#include "src/plan/measure.h"
#include "src/plan/plan.h"
#include "src/simulator/picture.h"
#include "tests/unit/simulator/random_simulation.h"

namespace berth::plan {
namespace {

using informers::Kind;
using test::Objects;

constexpr uint64_t kClusters = 600;

// BERTH_PLAN_CLUSTERS asks for another number.
uint64_t NumClusters() {
  const char* clusters = std::getenv("BERTH_PLAN_CLUSTERS");
  return clusters == nullptr ? kClusters : std::strtoull(clusters, nullptr, 10);
}

constexpr size_t kNodes = 6;
constexpr size_t kPlaced = 32;

constexpr int64_t kNodeCpu = 4;
constexpr std::string_view kDevice = "example.com/gpu";

// A random pod that asks for so many cores, and of the rest keeps what other pods matter for.
void AskForCpu(api::Pod& pod, uint64_t cores) {
  const std::string text = std::to_string(cores);
  pod.spec.containers = test::MakePod().Req({{"cpu", text}}).Obj().spec.containers;
  pod.spec.init_containers.clear();
  pod.spec.resources.reset();
  pod.spec.overhead.clear();
  pod.spec.scheduling_group.reset();
  pod.spec.resource_claims.clear();
  pod.spec.scheduling_gates.clear();
  pod.spec.volumes.clear();
  pod.spec.node_selector.clear();
  if (pod.spec.affinity) pod.spec.affinity->node_affinity.reset();
  pod.spec.tolerations =
      test::MakePod().Tolerate("", "Exists", "", "NoSchedule").Obj().spec.tolerations;
  pod.status.phase = "Running";
}

// Nodes that are nearly full of pods of which most are a ReplicaSet's, so that they may be moved.
Objects RandomMovable(Random& random) {
  Objects objects = test::RandomObjects(random, kNodes, kPlaced);
  std::map<std::string, int64_t> free;
  std::erase_if(objects, [&](api::ObjectPtr& object) {
    if (const auto* node = api::As<api::Node>(object)) {
      auto sized = std::make_shared<api::Node>(*node);
      test::NodeBuilder offers = test::MakeNode();
      offers.Allocatable({{"cpu", std::to_string(kNodeCpu)}});
      if ((sized->metadata.name.back() - '0') % 2 == 0) offers.Allocatable({{kDevice, "2"}});
      sized->status.allocatable = offers.Obj().status.allocatable;
      free[sized->metadata.name] = kNodeCpu;
      object = std::shared_ptr<const api::Node>(std::move(sized));
    } else if (const auto* placed = api::As<api::Pod>(object)) {
      auto pod = std::make_shared<api::Pod>(*placed);
      const int64_t cores = random.Below(4) == 0 ? 2 : 1;
      AskForCpu(*pod, static_cast<uint64_t>(cores));
      if (random.Below(8) > 0) {
        api::OwnerReference owner;
        owner.kind = "ReplicaSet";
        owner.name = "web";
        owner.controller = true;
        pod->metadata.owner_references = {owner};
      }
      int64_t& left = free[pod->spec.node_name];
      if (left < cores) return true;
      left -= cores;
      object = PodPtr(std::move(pod));
    }
    return false;
  });
  return objects;
}

// Each of the pods of one label in one namespace; most allow one pod at a time.
void AddBudgets(Random& random, Objects& objects) {
  for (const char* pod_namespace : {"default", "dev"}) {
    for (const char* app : {"db", "web"}) {
      if (random.Below(4) == 0) continue;
      auto budget = std::make_shared<api::PodDisruptionBudget>();
      budget->metadata.namespace_ = pod_namespace;
      budget->metadata.name = app;
      budget->spec.selector = test::MakeSelector({{"app", app}});
      budget->status.disruptions_allowed = random.Below(5) == 0 ? 0 : 1;
      objects.emplace_back(std::shared_ptr<const api::PodDisruptionBudget>(std::move(budget)));
    }
  }
}

// So that a skew may be there for good.
void HoldSome(Random& random, Objects& objects) {
  for (api::ObjectPtr& object : objects) {
    const auto* pod = api::As<api::Pod>(object);
    if (pod == nullptr || random.Below(3) == 0) continue;
    auto held = std::make_shared<api::Pod>(*pod);
    held->metadata.annotations.emplace_back("karpenter.sh/do-not-disrupt", "true");
    object = PodPtr(std::move(held));
  }
}

// So that others matter less.
void MakePendingImportant(Objects& objects) {
  for (api::ObjectPtr& object : objects) {
    const auto* pod = api::As<api::Pod>(object);
    if (pod == nullptr || !pod->spec.node_name.empty()) continue;
    auto important = std::make_shared<api::Pod>(*pod);
    important->spec.priority = 2000;
    object = PodPtr(std::move(important));
  }
}

bool Covers(const api::PodDisruptionBudget& budget, const api::Pod& pod) {
  return budget.metadata.namespace_ == pod.metadata.namespace_ &&
         LabelSelectorMatcher::Make(budget.spec.selector)->Matches(pod.metadata.labels);
}

std::vector<const api::PodDisruptionBudget*> BudgetsOf(const api::Pod& pod,
                                                       const Objects& objects) {
  std::vector<const api::PodDisruptionBudget*> budgets;
  for (const api::ObjectPtr& object : objects) {
    const auto* budget = api::As<api::PodDisruptionBudget>(object);
    if (budget != nullptr && Covers(*budget, pod)) budgets.push_back(budget);
  }
  return budgets;
}

// The pods of random clusters are not ready, and so few that each counts. One that is evicted for
// good is gone in the waves after, too, unless it has a node again.
void CheckBudgets(const Plan& plan, const Objects& objects) {
  const auto simulation = test::MakeSimulation(objects);
  std::map<const api::PodDisruptionBudget*, std::set<std::string>> gone;
  std::set<std::string> waits;
  size_t wave = 1;
  for (const Move& move : plan.moves) {
    EXPECT_GE(move.wave, wave);
    if (move.wave > wave) {
      for (auto& [budget, pods] : gone) {
        std::erase_if(pods, [&waits](const std::string& pod) { return !waits.contains(pod); });
      }
    }
    wave = move.wave;
    if (move.from.empty()) {
      waits.erase(move.pod);
      continue;
    }
    if (move.to.empty()) waits.insert(move.pod);
    const auto budgets = BudgetsOf(*simulation->FindPod(move.pod), objects);
    EXPECT_LE(budgets.size(), 1u) << move.pod;
    for (const auto* budget : budgets) {
      EXPECT_TRUE(gone[budget].insert(move.pod).second) << move.pod << " is not ready yet";
      EXPECT_LE(static_cast<int64_t>(gone[budget].size()), budget->status.disruptions_allowed)
          << move.pod;
    }
  }
}

bool Fits(simulator::Simulation& simulation, const PodPtr& pod, const std::string& node) {
  simulation.RunDue();
  const auto judgement = simulation.scheduler().Judge(pod);
  return judgement->kind() == engine::Judgement::Kind::kScheduled &&
         std::ranges::binary_search(judgement->feasible(), judgement->snapshot().FindNode(node));
}

// The pod leaves its node; what its controller makes is on the other.
bool Carry(simulator::Simulation& simulation, const std::string& key, const std::string& to) {
  const PodPtr pod = simulation.FindPod(key);
  simulation.Delete(Kind::kPod, key);
  const PodPtr again = PendingCopy(*pod, pod->metadata.name);
  if (!Fits(simulation, again, to)) return false;
  auto placed = std::make_shared<api::Pod>(*again);
  placed->spec.node_name = to;
  simulation.Apply(PodPtr(std::move(placed)));
  return true;
}

std::string NodeOf(const simulator::Simulation& simulation, const std::string& key) {
  return simulation.FindPod(key)->spec.node_name;
}

template <typename Visit>
void ForEachPending(const simulator::Simulation& simulation, Visit visit) {
  simulation.api().ForEach(Kind::kPod, [&](const api::ObjectPtr& object) {
    const PodPtr& pod = std::get<PodPtr>(object);
    if (pod->spec.node_name.empty()) visit(pod->metadata.Key());
  });
}

// The pod leaves its node for good; what its controller makes waits.
void Lose(simulator::Simulation& simulation, const std::string& key) {
  const PodPtr pod = simulation.FindPod(key);
  simulation.Delete(Kind::kPod, key);
  simulation.Apply(PendingCopy(*pod, pod->metadata.name));
}

int32_t PriorityOf(const simulator::Simulation& simulation, const std::string& key) {
  return simulation.FindPod(key)->spec.priority.value_or(0);
}

// Each pod that is evicted for good matters less than one that gets a node after it.
void CheckPriorities(const Plan& plan, const simulator::Simulation& simulation) {
  std::optional<int32_t> highest;
  for (auto move = plan.moves.rbegin(); move != plan.moves.rend(); ++move) {
    const int32_t priority = PriorityOf(simulation, move->pod);
    if (move->from.empty()) highest = std::max(priority, highest.value_or(priority));
    if (!move->to.empty()) continue;
    EXPECT_TRUE(plan.goal.evict);
    ASSERT_TRUE(highest);
    EXPECT_LT(priority, *highest) << move->pod;
  }
}

void Check(const Plan& plan, const Objects& objects) {
  const auto simulation = test::MakeSimulation(objects);
  simulation->RunDue();
  CheckBudgets(plan, objects);
  CheckPriorities(plan, *simulation);
  const bool empty = plan.goal.kind == Goal::Kind::kEmpty;
  std::set<std::string> waiting;
  if (plan.goal.kind == Goal::Kind::kFit) waiting = {plan.goal.name};
  if (plan.goal.kind == Goal::Kind::kPending) {
    ForEachPending(*simulation, [&](const std::string& key) { waiting.insert(key); });
    for (const LeftOut& one : plan.left_out) {
      if (!plan.goal.evict) EXPECT_EQ(NodeOf(*simulation, one.pod), "");
      if (NodeOf(*simulation, one.pod).empty()) EXPECT_EQ(waiting.erase(one.pod), 1u);
    }
  }
  if (empty) {
    simulation->Apply(simulator::Cordoned(
        *simulator::FindIn<api::Node>(simulation->api(), Kind::kNode, plan.goal.name)));
  }
  for (const Move& move : plan.moves) {
    SCOPED_TRACE(move.pod);
    const PodPtr pod = simulation->FindPod(move.pod);
    ASSERT_NE(pod, nullptr);
    EXPECT_EQ(pod->spec.node_name, move.from);
    if (move.from.empty()) {
      waiting.erase(move.pod);
    } else {
      EXPECT_EQ(WhyItStays(*pod), "");
    }
    if (move.to.empty()) {
      Lose(*simulation, move.pod);
    } else {
      EXPECT_TRUE(Carry(*simulation, move.pod, move.to));
    }
  }
  EXPECT_TRUE(waiting.empty());
  if (plan.goal.kind == Goal::Kind::kPending) {
    for (const LeftOut& one : plan.left_out) EXPECT_EQ(NodeOf(*simulation, one.pod), "");
  }
  if (plan.goal.is_measured()) {
    EXPECT_EQ(WhyNotReached(plan.goal, *simulation), "");
  }
  if (!empty) return;
  for (const PodPtr& pod : simulator::PodsOn(*simulation, plan.goal.name)) {
    EXPECT_TRUE(IsDaemon(*pod) || IsMirror(*pod) || pod->metadata.deletion_timestamp)
        << pod->metadata.Key();
  }
}

bool IsReached(const Goal& goal, simulator::Simulation& simulation) {
  simulation.RunDue();
  if (goal.is_measured()) return WhyNotReached(goal, simulation).empty();
  const auto judgement = simulation.scheduler().Judge(simulation.FindPod(goal.name));
  return judgement->kind() == engine::Judgement::Kind::kScheduled;
}

// Whether one move, of whichever pod to whichever node, reaches the goal.
bool OneMoveDoes(const Goal& goal, const Objects& objects) {
  const auto simulation = test::MakeSimulation(objects);
  simulation->RunDue();
  std::vector<PodPtr> movable;
  simulation->api().ForEach(Kind::kPod, [&](const api::ObjectPtr& object) {
    const PodPtr& pod = std::get<PodPtr>(object);
    if (pod->spec.node_name.empty() || !WhyItStays(*pod).empty()) return;
    const auto budgets = BudgetsOf(*pod, objects);
    if (budgets.size() > 1) return;
    if (budgets.size() == 1 && budgets[0]->status.disruptions_allowed == 0) return;
    movable.push_back(pod);
  });
  for (const PodPtr& pod : movable) {
    const std::string key = pod->metadata.Key();
    for (size_t n = 0; n < kNodes; ++n) {
      const bool does =
          Carry(*simulation, key, "node-" + std::to_string(n)) && IsReached(goal, *simulation);
      simulation->Delete(Kind::kPod, key);
      simulation->Apply(pod);
      simulation->RunDue();
      if (does) return true;
    }
  }
  return false;
}

// What a search found, and how often.
struct Seen {
  std::map<Plan::Outcome, size_t> outcomes;
  size_t moves = 0;
  size_t several = 0;  // waves
  size_t proved = 0;   // that one move is not enough
  size_t lost = 0;     // pods that are evicted for good
};

Goal GoalOf(uint64_t seed, const std::string& waiting) {
  switch (seed % 6) {
    case 0:
      return {.kind = Goal::Kind::kPending};
    case 1:
      return {.kind = Goal::Kind::kEmpty, .name = "node-0"};
    case 2:
      return *Goal::Parse("skew=default/rs/web:1@zone");
    case 3:
      return *Goal::Parse("stranded=" + std::string(kDevice) + ":" +
                          std::to_string(1 + seed / 6 % 3));
    default:
      return {.kind = Goal::Kind::kFit, .name = waiting};
  }
}

// The plan, the same again, and whether it keeps what plan.h promises.
void SearchAndCheck(const Goal& goal, const Objects& objects, Seen& seen) {
  const auto simulation = test::MakeSimulation(objects);
  simulation->RunDue();
  // Where many pods wait, the search takes all that it may.
  const Limits limits = {.judged = goal.kind == Goal::Kind::kPending ? 3'000u : Limits().judged};
  const auto plan = FindPlan(goal, *simulation, limits);
  // There may be no pod of the workload, and no domain that it may be in.
  if (!plan && goal.kind == Goal::Kind::kSkew) return;
  ASSERT_TRUE(plan.has_value()) << plan.error().message;
  ++seen.outcomes[plan->outcome];
  if (plan->outcome == Plan::Outcome::kFound || plan->outcome == Plan::Outcome::kPartly) {
    seen.moves += plan->evictions();
    seen.lost += plan->evicted_for_good();
    if (!plan->moves.empty() && plan->moves.back().wave > 1) ++seen.several;
    Check(*plan, objects);
    EXPECT_GE(plan->evictions(), plan->outcome == Plan::Outcome::kFound ? plan->fewest : 0);
  }
  const bool none = plan->outcome == Plan::Outcome::kImpossible;
  const bool proved = goal.is_measured() ? none || plan->fewest > 1
                                         : goal.kind == Goal::Kind::kFit &&
                                               (none || (plan->has_fewest() && plan->fewest == 2));
  if (proved) {
    ++seen.proved;
    EXPECT_FALSE(OneMoveDoes(goal, objects));
  }
  const auto other = test::MakeSimulation(objects);
  other->RunDue();
  std::string first;
  std::string second;
  AppendJson(*plan, first);
  AppendJson(*FindPlan(goal, *other, limits), second);
  EXPECT_EQ(first, second);
}

TEST(PlanPropertyTest, EachStateIsAllowedAndFewerDoNotDo) {
  std::map<Goal::Kind, Seen> seen;
  std::map<Goal::Kind, Seen> evicts;  // the same where pods may be evicted for good
  const uint64_t clusters = NumClusters();
  for (uint64_t seed = 1; seed <= clusters; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    Objects objects = RandomMovable(random);
    std::string key;
    for (size_t i = 0; i < 3; ++i) {
      auto pod = std::make_shared<api::Pod>(test::RandomPendingPod(random, i, kNodes));
      AskForCpu(*pod, 3 + random.Below(2));
      pod->status.phase = "Pending";
      key = pod->metadata.Key();
      objects.push_back(PodPtr(std::move(pod)));
    }
    const Goal goal = GoalOf(seed, key);
    if (goal.kind == Goal::Kind::kStranded) {
      auto pod = std::make_shared<api::Pod>(test::MakePod().Name("train").Obj());
      pod->spec.containers =
          test::MakePod().Req({{"cpu", "2"}, {kDevice, "1"}}).Obj().spec.containers;
      objects.push_back(PodPtr(std::move(pod)));
    }
    if (random.Below(2) == 0) AddBudgets(random, objects);
    if (goal.kind == Goal::Kind::kSkew && random.Below(2) == 0) HoldSome(random, objects);
    SearchAndCheck(goal, objects, seen[goal.kind]);
    if (goal.serves_pods() && seed % 2 == 0) {
      Goal evicting = goal;
      evicting.evict = true;
      MakePendingImportant(objects);
      SearchAndCheck(evicting, objects, evicts[goal.kind]);
    }
  }
  if (clusters < kClusters) return;
  // All that is tested has happened.
  size_t several = 0;
  for (const Goal::Kind kind : {Goal::Kind::kFit, Goal::Kind::kPending, Goal::Kind::kEmpty,
                                Goal::Kind::kSkew, Goal::Kind::kStranded}) {
    SCOPED_TRACE(static_cast<int>(kind));
    EXPECT_GT(seen[kind].outcomes[Plan::Outcome::kFound], 10u);
    EXPECT_GT(seen[kind].moves, 10u);
    several += seen[kind].several;
  }
  EXPECT_GT(several, 0u);
  EXPECT_GT(seen[Goal::Kind::kPending].outcomes[Plan::Outcome::kPartly], 5u);
  EXPECT_GT(seen[Goal::Kind::kEmpty].outcomes[Plan::Outcome::kImpossible], 5u);
  EXPECT_GT(seen[Goal::Kind::kSkew].outcomes[Plan::Outcome::kImpossible], 5u);
  EXPECT_GT(seen[Goal::Kind::kFit].proved, 0u);
  for (const Goal::Kind kind : {Goal::Kind::kFit, Goal::Kind::kPending}) {
    EXPECT_EQ(seen[kind].lost, 0u);
    EXPECT_GT(evicts[kind].lost, 0u);
  }
  EXPECT_GT(seen[Goal::Kind::kSkew].proved, 5u);
  EXPECT_GT(seen[Goal::Kind::kStranded].proved, 0u);
}

}  // namespace
}  // namespace berth::plan
