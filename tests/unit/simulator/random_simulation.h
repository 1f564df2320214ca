// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/random_cluster.h"
#include "tests/unit/simulator/simulator_fixture.h"

namespace berth::test {

using Objects = std::vector<api::ObjectPtr>;

// So many nodes, namespaces, and fewer than `most_placed` pods that stand on the nodes.
inline Objects RandomObjects(Random& random, size_t nodes, size_t most_placed) {
  Objects objects;
  const auto add = [&objects](auto made) {
    for (auto& object : made) {
      objects.emplace_back(
          std::make_shared<const std::decay_t<decltype(object)>>(std::move(object)));
    }
  };
  add(RandomNodes(random, nodes));
  add(RandomNamespaces(random));
  add(RandomPlacedPods(random, random.Below(most_placed), nodes));
  return objects;
}

// A pod without a node, for the default profile.
inline api::Pod RandomPendingPod(Random& random, size_t index, size_t nodes) {
  api::Pod pod = RandomPod(random, index, nodes);
  pod.spec.node_name.clear();
  pod.spec.scheduler_name = "default-scheduler";
  return pod;
}

// Has the objects, and has not started.
inline std::unique_ptr<simulator::Simulation> MakeSimulation(
    const Objects& objects, simulator::SimulationOptions options = DefaultSimulationOptions()) {
  auto made = simulator::Simulation::Make(std::move(options), plugins::InTreeRegistry());
  EXPECT_TRUE(made) << made.error().message;
  for (const api::ObjectPtr& object : objects) (*made)->Apply(object);
  (*made)->RunDue();
  return std::move(*made);
}

// One of eight templates, most of which want what only some nodes, other pods or luck offer.
inline PodBuilder StoryPod(uint64_t which, size_t index, const std::string& app) {
  PodBuilder pod = MakePod();
  pod.Name("pod-" + std::to_string(index)).Uid("uid-" + std::to_string(index)).Label("app", app);
  switch (which) {
    case 0:
      return pod.Req({{"cpu", "1"}});
    case 1:
      return pod.Req({{"cpu", "5"}});
    case 2:
      return pod.Req({{"cpu", "1"}}).NodeSelector("disk", "ssd");
    case 3:
      return pod.Req({{"cpu", "500m"}}).PodAntiAffinity("kubernetes.io/hostname", {{"app", app}});
    case 4:
      return pod.Req({{"cpu", "500m"}}).PodAffinity("zone", {{"app", "app-2"}});
    case 5:
      return pod.Req({{"cpu", "500m"}}).Spread(1, "zone", "DoNotSchedule", {{"app", app}});
    case 6:
      return pod.HostPort(80).Req({{"cpu", "100m"}});
    default:
      return pod.Req({{"cpu", "2"}}).Priority(1000);
  }
}

// A node for such pods.
inline NodeBuilder StoryNode(Random& random, size_t index) {
  NodeBuilder node = MakeNode("node-" + std::to_string(index));
  node.Allocatable({{"cpu", random.Below(3) == 0 ? "6" : "2"}, {"memory", "8Gi"}, {"pods", "8"}});
  node.Label("zone", random.Below(2) == 0 ? "east" : "west");
  if (random.Below(3) == 0) node.Label("disk", "ssd");
  if (random.Below(3) == 0) node.Taint("closed", "", "NoSchedule");
  return node;
}

}  // namespace berth::test
