// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
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
inline std::unique_ptr<simulator::Simulation> MakeSimulation(const Objects& objects) {
  auto made = simulator::Simulation::Make(DefaultSimulationOptions(), plugins::InTreeRegistry());
  EXPECT_TRUE(made) << made.error().message;
  for (const api::ObjectPtr& object : objects) (*made)->Apply(object);
  (*made)->RunDue();
  return std::move(*made);
}

}  // namespace berth::test
