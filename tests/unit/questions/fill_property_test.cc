// SPDX-License-Identifier: Apache-2.0
// A fill takes as many pods as are bound one by one, each judged alone in a simulation of its own
// that never decides anything, until none fits; and leaves no node that takes one more.
#include <gtest/gtest.h>

#include <algorithm>

#include "src/questions/replicas.h"
#include "tests/unit/simulator/random_simulation.h"

namespace berth::questions {
namespace {

constexpr uint64_t kClusters = 60;
constexpr size_t kNodes = 8;
constexpr size_t kPlaced = 8;

using test::Objects;

// A pod for which it makes no difference on which of several nodes the earlier ones are: of each
// node it is known how many it takes.
api::Pod RandomIndependentPod(Random& random) {
  api::Pod pod = test::RandomPendingPod(random, 0, kNodes);
  pod.spec.topology_spread_constraints.clear();
  if (pod.spec.affinity) {
    pod.spec.affinity->pod_affinity.reset();
    pod.spec.affinity->pod_anti_affinity.reset();
  }
  return pod;
}

std::map<std::string, size_t> BindOneByOne(const PodPtr& pod, const Objects& objects) {
  std::map<std::string, size_t> by_node;
  const auto simulation = test::MakeSimulation(objects);
  for (size_t i = 0;; ++i) {
    const PodPtr copy = PendingCopy(*pod, "one-" + std::to_string(i));
    const auto judgement = simulation->scheduler().Judge(copy);
    if (judgement->kind() != engine::Judgement::Kind::kScheduled) return by_node;
    api::Pod bound = *copy;
    bound.spec.node_name = judgement->snapshot().node(judgement->Best().front()).metadata.name;
    ++by_node[bound.spec.node_name];
    simulation->Apply(std::make_shared<const api::Pod>(std::move(bound)));
    simulation->RunDue();
  }
}

TEST(FillPropertyTest, AFillIsAsBindingPodsOneByOneUntilNoneFits) {
  size_t filled = 0;
  for (uint64_t seed = 1; seed <= kClusters; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const Objects objects = test::RandomObjects(random, kNodes, kPlaced);
    const auto pod = std::make_shared<const api::Pod>(RandomIndependentPod(random));
    const auto simulation = test::MakeSimulation(objects);
    Settle(*simulation);
    const Filled fill = Fill(pod, *simulation);
    EXPECT_EQ(fill.by_node, BindOneByOne(pod, objects));
    EXPECT_NE(fill.stopped_by, "");
    filled += fill.pods;
  }
  EXPECT_GT(filled, kClusters) << "next to nothing was compared";
}

TEST(FillPropertyTest, AfterAFillNoNodeTakesOneMoreWhateverThePodAsksFor) {
  for (uint64_t seed = 1; seed <= kClusters; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const Objects objects = test::RandomObjects(random, kNodes, kPlaced);
    const api::Pod pod = test::RandomPendingPod(random, 0, kNodes);
    const auto simulation = test::MakeSimulation(objects);
    Settle(*simulation);
    Fill(std::make_shared<const api::Pod>(pod), *simulation);
    const auto judgement = simulation->scheduler().Judge(PendingCopy(pod, "one-more"));
    EXPECT_NE(judgement->kind(), engine::Judgement::Kind::kScheduled);
  }
}

}  // namespace
}  // namespace berth::questions
