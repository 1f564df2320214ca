// SPDX-License-Identifier: Apache-2.0
// Urgent pods that need all the room that others can be made to leave: each of them gets some,
// however requests, answers and ends of pods fall in time, and without the sweep that tries
// unschedulable pods again after minutes.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "berth/random.h"
#include "tests/unit/simulator/simulator_fixture.h"

namespace berth::simulator {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr uint64_t kSeeds = 300;

class CrowdedPreemptionPropertyTest : public test::SimulatorFixture {
 protected:
  // Returns the urgent pods that have no node in the end.
  std::vector<std::string> Play(uint64_t seed) {
    Random random(seed);
    simulator::SimulationOptions options = test::DefaultSimulationOptions();
    options.scheduler.seed = seed;
    Restart(std::move(options));
    const uint64_t slowest = uint64_t{1} << random.Below(12);  // of a request, in ms
    const auto up_to = [&random](uint64_t most) {
      return milliseconds(static_cast<int64_t>(random.Below(most + 1)));
    };
    simulation_->api().set_request_latency(
        [&, slowest] { return MemoryApi::RequestLatency{up_to(slowest), up_to(slowest)}; });
    const uint64_t longest = uint64_t{1} << random.Below(12);  // that a pod runs on, in ms
    simulation_->api().set_pod_ends([&, longest] { return up_to(longest); });

    const uint64_t nodes = 1 + random.Below(8);
    const uint64_t per_node = 1 + random.Below(4);
    uint64_t may_go = 0;
    for (uint64_t n = 0; n < nodes; ++n) {
      const std::string node = "node-" + std::to_string(n);
      Apply(test::MakeNode(node).Allocatable({{"cpu", std::to_string(per_node)}, {"pods", "20"}}));
      for (uint64_t i = 0; i < per_node; ++i) {
        const bool stays = random.Below(3) == 0;
        may_go += stays ? 0 : 1;
        Apply(test::MakePod()
                  .Name("low-" + std::to_string(n) + "-" + std::to_string(i))
                  .Req({{"cpu", "1"}})
                  .Priority(stays ? 1000 : static_cast<int32_t>(random.Below(3)))
                  .OnNode(node));
      }
    }
    simulation_->Start();
    simulation_->RunDue();
    std::vector<std::string> urgent;
    for (uint64_t i = 0; i < may_go; ++i) {
      urgent.push_back("urgent-" + std::to_string(i));
      Apply(test::MakePod().Name(urgent.back()).Req({{"cpu", "1"}}).Priority(1000));
      if (random.Below(4) == 0) simulation_->Advance(up_to(slowest));
    }
    simulation_->Advance(seconds(240));  // the sweep takes those that wait for 300 s
    std::erase_if(urgent, [this](const auto& name) { return !NodeOf("default/" + name).empty(); });
    return urgent;
  }
};

TEST_F(CrowdedPreemptionPropertyTest, EachUrgentPodGetsARoom) {
  for (uint64_t seed = 1; seed <= kSeeds; ++seed) {
    for (const std::string& name : Play(seed)) {
      ADD_FAILURE() << "seed " << seed << ": " << name
                    << " waits: " << MessageOf("default/" + name);
    }
  }
}

}  // namespace
}  // namespace berth::simulator
