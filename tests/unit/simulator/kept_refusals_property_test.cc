// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "plugins/in_tree_registry.h"
#include "src/config/load.h"
#include "src/simulator/simulation.h"
#include "tests/support/default_plugins.h"
#include "tests/unit/simulator/random_simulation.h"

namespace berth::simulator {
namespace {

using std::chrono::milliseconds;

constexpr int kSeeds = 40;
constexpr int kSteps = 60;

// The default profile; preemption draws at random for pods that fail, so it would make the two
// runs draw differently ever after.
config::SchedulerConfiguration Configuration() {
  std::vector<config::PluginRef> defaults = test::DefaultPlugins();
  std::erase_if(defaults, [](const auto& plugin) { return plugin.name == "DefaultPreemption"; });
  return config::DefaultConfiguration({defaults});
}

// Plays one random story; returns where each pod ended and what it was told last.
std::map<std::string, std::string> Play(uint64_t seed, bool keep, double& reused) {
  SimulationOptions options;
  options.scheduler.configuration = Configuration();
  options.scheduler.seed = seed;
  if (!keep) options.scheduler.max_kept_bytes = 0;
  auto simulation = Simulation::Make(std::move(options), plugins::InTreeRegistry());
  EXPECT_TRUE(simulation.has_value());
  Simulation& sim = **simulation;
  Random random(seed);
  size_t pods = 0;
  sim.Start();
  for (int step = 0; step < kSteps; ++step) {
    const uint64_t what = random.Below(10);
    const uint64_t index = random.Below(8);
    if (what < 2) {
      sim.Apply(test::StoryNode(random, index).Ptr());
    } else if (what == 2) {
      sim.Delete(informers::Kind::kNode, "node-" + std::to_string(index));
    } else if (what == 3 && pods > 0) {
      sim.Delete(informers::Kind::kPod, "default/pod-" + std::to_string(random.Below(pods)));
    } else {
      const uint64_t which = random.Below(7);
      const std::string app = "app-" + std::to_string(which % 4);
      for (uint64_t n = 1 + random.Below(5); n > 0; --n) {
        sim.Apply(test::StoryPod(which, pods++, app).Ptr());
      }
    }
    sim.Advance(milliseconds(random.Below(4) == 0 ? 3000 : 100));
  }
  sim.Advance(std::chrono::seconds(30));
  std::map<std::string, std::string> ends;
  sim.api().ForEach(informers::Kind::kPod, [&](const api::ObjectPtr& object) {
    const api::Pod& pod = *api::As<api::Pod>(object);
    ends[pod.metadata.name] = pod.spec.node_name;
  });
  reused += static_cast<double>(sim.scheduler().num_reused_refusals());
  return ends;
}

TEST(KeptRefusalsPropertyTest, KeepingRefusalsChangesNoDecision) {
  double reused = 0;
  double never = 0;
  for (uint64_t seed = 1; seed <= kSeeds; ++seed) {
    SCOPED_TRACE(seed);
    EXPECT_EQ(Play(seed, true, reused), Play(seed, false, never));
  }
  EXPECT_GT(reused, 100) << "no refusal was kept, so nothing was compared";
  EXPECT_EQ(never, 0);
}

}  // namespace
}  // namespace berth::simulator
