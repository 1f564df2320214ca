// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "plugins/in_tree_registry.h"
#include "src/config/load.h"
#include "src/simulator/simulation.h"
#include "tests/support/builders.h"
#include "tests/support/default_plugins.h"

namespace berth::test {

// Options with the in-tree plugins' default profile and seed 1.
inline simulator::SimulationOptions DefaultSimulationOptions() {
  simulator::SimulationOptions options;
  options.scheduler.configuration = config::DefaultConfiguration({DefaultPlugins()});
  options.scheduler.seed = 1;
  return options;
}

// The same with pod groups.
inline simulator::SimulationOptions OptionsWithPodGroups() {
  simulator::SimulationOptions options = DefaultSimulationOptions();
  options.scheduler.features.generic_workload = true;
  std::vector<config::PluginRef> plugins = DefaultPlugins();
  plugins.push_back({"GangScheduling"});
  options.scheduler.configuration = config::DefaultConfiguration({plugins});
  return options;
}

// A simulation, and what it decided: "namespace/name -> node", or "-> -" for nowhere.
class SimulatorFixture : public testing::Test {
 protected:
  SimulatorFixture() { Restart(); }

  void Restart() { Restart(DefaultSimulationOptions()); }
  void Restart(simulator::SimulationOptions options) {
    decisions_.clear();
    options.scheduler.on_cycle = [this](const scheduler::CycleOutcome& outcome) {
      const std::string node(outcome.node_name);
      decisions_.push_back(outcome.pod.metadata.Key() + " -> " + (node.empty() ? "-" : node));
    };
    auto made = simulator::Simulation::Make(std::move(options), plugins::InTreeRegistry());
    ASSERT_TRUE(made) << made.error().message;
    simulation_ = std::move(*made);
  }
  void Apply(const NodeBuilder& node) { simulation_->Apply(node.Ptr()); }
  void Apply(const PodBuilder& pod) { simulation_->Apply(pod.Ptr()); }
  std::string NodeOf(std::string_view key) const {
    const auto pod = simulation_->FindPod(key);
    return pod == nullptr ? "(no pod)" : pod->spec.node_name;
  }
  // The message of the pod's PodScheduled condition.
  std::string MessageOf(std::string_view key) const {
    const auto pod = simulation_->FindPod(key);
    if (pod == nullptr) return "(no pod)";
    for (const api::PodCondition& condition : pod->status.conditions) {
      if (condition.type == "PodScheduled") return condition.message;
    }
    return "(no condition)";
  }

  std::vector<std::string> decisions_;
  std::unique_ptr<simulator::Simulation> simulation_;
};

}  // namespace berth::test
