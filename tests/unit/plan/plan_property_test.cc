// SPDX-License-Identifier: Apache-2.0
// Each state of a plan is allowed in a cluster that knows nothing of the search, its goal is
// reached, and where it says that fewer moves do not do, no single move does.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "src/plan/plan.h"
#include "src/questions/node_changes.h"
#include "src/questions/replicas.h"
#include "tests/unit/simulator/random_simulation.h"

namespace berth::plan {
namespace {

using informers::Kind;
using questions::PodPtr;
using test::Objects;

constexpr uint64_t kClusters = 400;
constexpr size_t kNodes = 6;
constexpr size_t kPlaced = 32;

constexpr int64_t kNodeCpu = 4;

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
      sized->status.allocatable = test::MakeNode()
                                      .Allocatable({{"cpu", std::to_string(kNodeCpu)}})
                                      .Obj()
                                      .status.allocatable;
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

void Check(const Plan& plan, const Objects& objects) {
  const auto simulation = test::MakeSimulation(objects);
  simulation->RunDue();
  const bool empty = plan.goal.kind == Goal::Kind::kEmpty;
  std::set<std::string> waiting = {plan.goal.name};
  if (plan.goal.kind == Goal::Kind::kPending) {
    waiting.clear();
    for (const LeftOut& one : plan.left_out) EXPECT_EQ(NodeOf(*simulation, one.pod), "");
    ForEachPending(*simulation, [&](const std::string& key) { waiting.insert(key); });
    for (const LeftOut& one : plan.left_out) EXPECT_EQ(waiting.erase(one.pod), 1u);
  }
  if (empty) {
    waiting.clear();
    simulation->Apply(questions::Cordoned(
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
    EXPECT_TRUE(Carry(*simulation, move.pod, move.to));
  }
  EXPECT_TRUE(waiting.empty());
  if (!empty) return;
  for (const PodPtr& pod : questions::PodsOn(*simulation, plan.goal.name)) {
    EXPECT_TRUE(IsDaemon(*pod) || IsMirror(*pod) || pod->metadata.deletion_timestamp)
        << pod->metadata.Key();
  }
}

// Whether one move, of whichever pod to whichever node, lets the pod in.
bool OneMoveDoes(const std::string& key, const Objects& objects) {
  const auto all = test::MakeSimulation(objects);
  all->RunDue();
  std::vector<PodPtr> movable;
  all->api().ForEach(Kind::kPod, [&](const api::ObjectPtr& object) {
    const PodPtr& pod = std::get<PodPtr>(object);
    if (!pod->spec.node_name.empty() && WhyItStays(*pod).empty()) movable.push_back(pod);
  });
  for (const PodPtr& pod : movable) {
    for (size_t n = 0; n < kNodes; ++n) {
      const auto simulation = test::MakeSimulation(objects);
      simulation->RunDue();
      if (!Carry(*simulation, pod->metadata.Key(), "node-" + std::to_string(n))) continue;
      simulation->RunDue();
      const auto judgement = simulation->scheduler().Judge(simulation->FindPod(key));
      if (judgement->kind() == engine::Judgement::Kind::kScheduled) return true;
    }
  }
  return false;
}

TEST(PlanPropertyTest, EachStateIsAllowedAndFewerDoNotDo) {
  std::map<Plan::Outcome, size_t> outcomes;
  size_t moves = 0;
  size_t proved_two = 0;
  for (uint64_t seed = 1; seed <= kClusters; ++seed) {
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
    const auto simulation = test::MakeSimulation(objects);
    simulation->RunDue();
    const Goal goals[] = {{.kind = Goal::Kind::kFit, .name = key},
                          {.kind = Goal::Kind::kFit, .name = key},
                          {.kind = Goal::Kind::kPending},
                          {.kind = Goal::Kind::kEmpty, .name = "node-0"}};
    const Goal& goal = goals[seed % 4];
    const auto plan = FindPlan(goal, *simulation);
    ASSERT_TRUE(plan.has_value()) << plan.error().message;
    ++outcomes[plan->outcome];
    if (plan->outcome == Plan::Outcome::kFound || plan->outcome == Plan::Outcome::kPartly) {
      moves += plan->evictions();
      Check(*plan, objects);
    }
    const bool fit = goal.kind == Goal::Kind::kFit;
    if (fit && plan->has_fewest() && plan->fewest == 2) {
      ++proved_two;
      EXPECT_FALSE(OneMoveDoes(key, objects));
    }
    // The same again.
    const auto other = test::MakeSimulation(objects);
    other->RunDue();
    std::string first;
    std::string second;
    AppendJson(*plan, first);
    AppendJson(*FindPlan(goal, *other), second);
    EXPECT_EQ(first, second);
  }
  // All that is tested has happened.
  EXPECT_GT(outcomes[Plan::Outcome::kFound], kClusters / 10);
  EXPECT_GT(outcomes[Plan::Outcome::kPartly], 5u);
  EXPECT_GT(outcomes[Plan::Outcome::kImpossible], 5u);
  EXPECT_GT(moves, kClusters / 10);
  EXPECT_GT(proved_two, 0u);
}

}  // namespace
}  // namespace berth::plan
