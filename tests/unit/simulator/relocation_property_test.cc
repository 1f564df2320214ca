// SPDX-License-Identifier: Apache-2.0
// Whatever the plugin Relocation moves in random clusters, at the moment when it is decided each
// budget is kept by all moves of a pod together, each pod that moves may move, and each has a place
// in a cluster that knows nothing of the search.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <vector>

#include "berth/in_tree/eviction.h"
#include "src/engine/judgement.h"
#include "tests/unit/simulator/random_simulation.h"
#include "tests/unit/simulator/relocation_fixture.h"

namespace berth::simulator {
namespace {

using informers::Kind;
using test::Objects;
using PodPtr = std::shared_ptr<const api::Pod>;

constexpr uint64_t kClusters = 300;
constexpr size_t kNodes = 6;
constexpr int64_t kNodeCpu = 4;

test::PodBuilder RandomSized(Random& random, size_t index, uint64_t cores) {
  const std::string app = "app-" + std::to_string(random.Below(3));
  test::PodBuilder pod = test::MakePod();
  pod.Name("pod-" + std::to_string(index))
      .Uid("uid-" + std::to_string(index))
      .SchedulerName("default-scheduler")
      .Label("app", app)
      .Priority(random.Below(8) == 0 ? 2 : 1)
      .Req({{"cpu", std::to_string(cores)}});
  if (random.Below(8) == 0) pod.PodAntiAffinity("kubernetes.io/hostname", {{"app", app}});
  if (random.Below(8) == 0) pod.Spread(1, "zone", "DoNotSchedule", {{"app", app}});
  if (random.Below(8) == 0) pod.NodeSelector("zone", random.Below(2) == 0 ? "east" : "west");
  if (random.Below(6) > 0) pod.Owner("ReplicaSet", app, app);
  if (random.Below(6) > 0) pod.Condition("Ready", "True", "", "").Phase("Running");
  return pod;
}

Objects RandomFragments(Random& random) {
  Objects objects;
  std::vector<int64_t> free(kNodes, kNodeCpu);
  for (size_t i = 0; i < kNodes; ++i) {
    const std::string name = "n" + std::to_string(i);
    objects.emplace_back(test::MakeNode(name)
                             .Allocatable({{"cpu", std::to_string(kNodeCpu)}, {"pods", "8"}})
                             .Label("kubernetes.io/hostname", name)
                             .Label("zone", i % 2 == 0 ? "east" : "west")
                             .Ptr());
  }
  for (size_t i = 0; i < 3 * kNodes; ++i) {
    const size_t node = random.Below(kNodes);
    const uint64_t cores = random.Below(4) == 0 ? 2 : 1;
    if (free[node] < static_cast<int64_t>(cores)) continue;
    free[node] -= static_cast<int64_t>(cores);
    objects.emplace_back(RandomSized(random, i, cores).OnNode("n" + std::to_string(node)).Ptr());
  }
  for (int i = 0; i < 3; ++i) {
    const std::string app = "app-" + std::to_string(i);
    if (random.Below(3) == 0) continue;
    objects.emplace_back(test::Budget("budget-" + app, app, static_cast<int32_t>(random.Below(3))));
  }
  return objects;
}

bool Fits(Simulation& simulation, const PodPtr& pod, const std::string& node) {
  simulation.RunDue();
  const auto judgement = simulation.scheduler().Judge(pod);
  return judgement->kind() == engine::Judgement::Kind::kScheduled &&
         std::ranges::binary_search(judgement->feasible(), judgement->snapshot().FindNode(node));
}

void Place(Simulation& simulation, const api::Pod& pod, const std::string& node) {
  auto placed = std::make_shared<api::Pod>(pod);
  placed->spec.node_name = node;
  simulation.Apply(PodPtr(std::move(placed)));
}

// Whether some order and some nodes but `from` take them all.
bool PlaceAll(Simulation& simulation, const std::vector<PodPtr>& left, const std::string& from) {
  for (size_t i = 0; i < left.size(); ++i) {
    std::vector<PodPtr> others = left;
    others.erase(others.begin() + static_cast<std::ptrdiff_t>(i));
    const PodPtr again = PendingCopy(*left[i], left[i]->metadata.name);
    for (size_t n = 0; n < kNodes; ++n) {
      const std::string node = "n" + std::to_string(n);
      if (node == from || !Fits(simulation, again, node)) continue;
      Place(simulation, *again, node);
      if (PlaceAll(simulation, others, from)) return true;
      simulation.Delete(Kind::kPod, again->metadata.Key());
    }
  }
  return left.empty();
}

// `pod` is nominated for the node, and these were evicted from there for it.
void Check(const Objects& before, const PodPtr& pod, const std::string& node,
           const std::vector<PodPtr>& moved) {
  const auto simulation = test::MakeSimulation(before);
  EvictionBudgets budgets;
  simulation->api().ForEach(Kind::kPodDisruptionBudget, [&](const api::ObjectPtr& object) {
    budgets.Add(*api::As<api::PodDisruptionBudget>(object));
  });
  for (const PodPtr& one : moved) {
    EXPECT_EQ(WhyItStays(*one), "");
    EXPECT_EQ(one->spec.node_name, node);
    EXPECT_LE(one->priority(), pod->priority());
    const Leave leave = budgets.Ask(*one);
    EXPECT_NE(leave, Leave::kRefused);
    if (leave == Leave::kCounted) budgets.Count(*one, -1);
    simulation->Delete(Kind::kPod, one->metadata.Key());
  }
  EXPECT_TRUE(Fits(*simulation, pod, node));
  Place(*simulation, *pod, node);
  EXPECT_TRUE(PlaceAll(*simulation, moved, node));
}

TEST(RelocationPropertyTest, EachMoveIsAllowedAndHasAPlace) {
  size_t decisions = 0;
  for (uint64_t seed = 0; seed < kClusters; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    const Objects objects = RandomFragments(random);
    const auto simulation = test::MakeSimulation(
        objects, test::OptionsWithRelocation({{"minPendingSeconds", 0}, {"maxMovesPerPod", 4}}));
    // Evicted pods stay for long, so that what was decided is all that changes.
    simulation->api().set_pod_ends([] { return Duration(std::chrono::hours(1)); });
    simulation->Start();
    const PodPtr pod = RandomSized(random, 100, 2 + random.Below(3)).Priority(1).Ptr();
    simulation->Apply(pod);
    simulation->RunDue();
    const std::vector<std::string>& evicted = simulation->api().evicted();
    std::vector<PodPtr> moved;
    for (const WrittenEvent& event : simulation->api().events()) {
      if (event.reason != "Relocated") continue;
      for (const api::ObjectPtr& object : objects) {
        const auto* one = std::get_if<PodPtr>(&object);
        if (one != nullptr && (*one)->metadata.Key() == event.regarding) moved.push_back(*one);
      }
    }
    if (moved.empty()) continue;
    ++decisions;
    EXPECT_EQ(moved.size(), evicted.size()) << "none is refused";
    const std::string node = simulation->FindPod(pod->metadata.Key())->status.nominated_node_name;
    Check(objects, pod, node, moved);
    if (testing::Test::HasFailure()) return;
  }
  EXPECT_GT(decisions, kClusters / 20);
}

}  // namespace
}  // namespace berth::simulator
