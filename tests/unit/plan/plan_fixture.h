// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "src/plan/plan.h"
#include "tests/unit/simulator/simulator_fixture.h"

namespace berth::plan {

// Searches plans in a cluster that a test makes.
class PlanTest : public test::SimulatorFixture {
 protected:
  static test::NodeBuilder Node(std::string_view name, std::string_view cpu = "4") {
    return test::MakeNode(name).Label("kubernetes.io/hostname", name).Allocatable({{"cpu", cpu}});
  }
  static test::PodBuilder Replica(std::string_view name, std::string_view cpu = "1") {
    return test::MakePod()
        .Name(name)
        .Label("app", "web")
        .Req({{"cpu", cpu}})
        .Owner("ReplicaSet", "web", "uid");
  }
  void ApplyBudget(int32_t allowed) {
    api::PodDisruptionBudget budget;
    budget.metadata.name = "keep";
    budget.metadata.namespace_ = "default";
    budget.spec.selector = test::MakeSelector({{"app", "web"}});
    budget.status.disruptions_allowed = allowed;
    simulation_->Apply(std::make_shared<const api::PodDisruptionBudget>(budget));
  }
  Plan Find(const std::string& goal, const Limits& limits = {}, bool evict = false) {
    simulation_->RunDue();
    auto parsed = Goal::Parse(goal);
    EXPECT_TRUE(parsed.has_value());
    parsed->evict = evict;
    auto plan = FindPlan(*parsed, *simulation_, limits);
    EXPECT_TRUE(plan.has_value()) << plan.error().message;
    return plan ? *plan : Plan{};
  }
  // The same where pods may be evicted for good.
  Plan FindEvicting(const std::string& goal) { return Find(goal, {}, true); }
  // "1 a: n1 -> n2", with the wave first; "-" for no node.
  static std::vector<std::string> Texts(const Plan& plan) {
    std::vector<std::string> texts;
    for (const Move& move : plan.moves) {
      texts.push_back(std::to_string(move.wave) + ' ' + move.pod.substr(move.pod.find('/') + 1) +
                      ": " + (move.from.empty() ? "-" : move.from) + " -> " +
                      (move.to.empty() ? "-" : move.to));
    }
    return texts;
  }
};

}  // namespace berth::plan
