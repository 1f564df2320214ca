// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include "plugins/in_tree_registry.h"
#include "src/scheduler/binding_cycles.h"
#include "src/scheduler/scheduler.h"
#include "tests/unit/scheduler/scheduler_fixture.h"

namespace berth::scheduler {
namespace {

using std::chrono::seconds;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

class ReloadTest : public test::SchedulerFixture {
 protected:
  // The running configuration, changed.
  Result<void> Reload(const std::function<void(config::SchedulerConfiguration&)>& change) {
    config::SchedulerConfiguration next = options_.configuration;
    change(next);
    Result<void> result;
    scheduler().Post(
        ReloadRequested{std::make_shared<const config::SchedulerConfiguration>(std::move(next)),
                        [&](Result<void> done) { result = std::move(done); }});
    Turn();
    return result;
  }
  static void Disable(config::SchedulerConfiguration& next, const std::string& plugin) {
    for (config::Profile& profile : next.profiles) {
      std::erase_if(profile.plugins.multi_point.enabled,
                    [&](const config::PluginRef& ref) { return ref.name == plugin; });
    }
  }
};

TEST_F(ReloadTest, ADisabledFilterLetsParkedPodsInAtOnce) {
  Synced();
  AddNode(test::MakeNode("n1").Taint("gpu", "", "NoSchedule"));
  AddPod(test::MakePod().Name("a"));
  AddPod(test::MakePod().Name("b"));
  Turn();
  Advance(seconds(20));  // the backoff is over
  EXPECT_THAT(Bindings(), IsEmpty());
  const auto done = Reload([](auto& next) { Disable(next, "TaintToleration"); });
  EXPECT_TRUE(done) << done.error().message;
  Advance(seconds(1));
  EXPECT_THAT(Bindings(), ElementsAre("default/a -> n1", "default/b -> n1"));
}

TEST_F(ReloadTest, AWeightDecidesFromTheNextCycleOn) {
  // Without the weight the emptier node wins, with it the one that the pod prefers.
  const auto weigh = [](config::SchedulerConfiguration& next, int32_t weight) {
    for (config::PluginRef& ref : next.profiles[0].plugins.multi_point.enabled) {
      if (ref.name == "NodeAffinity") ref.weight = weight;
      if (ref.name == "NodeResourcesFit") ref.weight = 50;
    }
  };
  weigh(options_.configuration, 1);
  Restart();
  Synced();
  AddNode(test::MakeNode("busy").Label("disk", "ssd").Allocatable({{"cpu", "10"}, {"pods", "9"}}));
  AddNode(test::MakeNode("idle").Allocatable({{"cpu", "10"}, {"pods", "9"}}));
  AddPod(test::MakePod().Name("load").OnNode("busy").Req({{"cpu", "8"}}));
  const auto pod = [](const char* name) {
    return test::MakePod()
        .Name(name)
        .PreferNode(100, {{"disk", "In", {"ssd"}}})
        .Req({{"cpu", "100m"}});
  };
  AddPod(pod("before"));
  Turn();
  const auto done = Reload([&](auto& next) { weigh(next, 100); });
  EXPECT_TRUE(done) << done.error().message;
  AddPod(pod("after"));
  Turn();
  EXPECT_THAT(Bindings(), ElementsAre("default/before -> idle", "default/after -> busy"));
}

TEST_F(ReloadTest, BindingsInHandFinish) {
  hold_binds_ = true;
  Synced();
  AddNode(test::MakeNode("n1"));
  AddPod(test::MakePod().Name("a"));
  Turn();
  EXPECT_EQ(scheduler().binding_cycles().size(), 1u);
  EXPECT_TRUE(Reload([](auto& next) { Disable(next, "TaintToleration"); }));
  ReleaseOneBind();
  Turn();
  EXPECT_EQ(scheduler().binding_cycles().size(), 0u);
  EXPECT_THAT(Events("Scheduled"), SizeIs(1));
}

TEST_F(ReloadTest, APodWhoseVictimsAreBeingEvictedPreemptsNoOthers) {
  const auto pod = [](const char* name, int32_t priority) {
    return test::MakePod().Name(name).Req({{"cpu", "2"}}).Priority(priority);
  };
  Synced();
  for (const char* node : {"n1", "n2"}) AddNode(test::MakeNode(node).Allocatable({{"cpu", "2"}}));
  AddPod(pod("low1", 1).OnNode("n1"));
  AddPod(pod("low2", 1).OnNode("n2"));
  hold_status_patches_ = true;
  AddPod(pod("high", 10));
  Turn();
  const auto evictions = [this] {
    return StatusPatches("low1").size() + StatusPatches("low2").size();
  };
  ASSERT_EQ(evictions(), 1u);
  EXPECT_TRUE(Reload([](auto& next) { Disable(next, "NodeName"); }));
  Advance(seconds(30));
  EXPECT_EQ(evictions(), 1u);
  EXPECT_THAT(Events("FailedScheduling"), SizeIs(1)) << "it is held back";
}

TEST_F(ReloadTest, AnEvictionIsToldOfAlsoWhenItsPluginIsDisabledMeanwhile) {
  Synced();
  AddNode(test::MakeNode("n1").Allocatable({{"cpu", "2"}}));
  AddPod(test::MakePod().Name("low").Req({{"cpu", "2"}}).Priority(1).OnNode("n1"));
  AddPod(test::MakePod().Name("high").Req({{"cpu", "2"}}).Priority(10));
  scheduler().Turn(clock_.Now());
  EXPECT_TRUE(Reload([](auto& next) { Disable(next, "DefaultPreemption"); }));
  Turn();
  EXPECT_THAT(Deletions(), ElementsAre("default/low"));
  EXPECT_THAT(Events("Preempted"), ElementsAre("Preempted by pod default/high on node n1"));
}

TEST_F(ReloadTest, WhatOtherPodsOfTheClassFoundIsForgotten) {
  Synced();
  AddNode(test::MakeNode("n1").Taint("gpu", "", "NoSchedule"));
  for (const char* name : {"a", "b", "c"}) AddPod(test::MakePod().Name(name));
  Turn();
  const uint64_t reused = scheduler().num_reused_refusals();
  EXPECT_GT(reused, 0u);
  Advance(seconds(20));
  EXPECT_TRUE(Reload([](auto& next) { Disable(next, "NodeName"); }));
  Advance(seconds(1));
  EXPECT_THAT(Bindings(), IsEmpty());
  // One of them was evaluated afresh.
  EXPECT_EQ(scheduler().num_reused_refusals(), 2 * reused);
}

TEST_F(ReloadTest, WhatCannotChangeIsNamedAndNothingChanges) {
  const struct {
    const char* name;
    std::function<void(config::SchedulerConfiguration&)> change;
    const char* error;
  } cases[] = {
      {"a global field", [](auto& next) { next.parallelism = 3; }, "parallelism"},
      {"an unknown plugin",
       [](auto& next) { next.profiles[0].plugins.filter.enabled.push_back({"Nonsense", 0}); },
       "Nonsense"},
      {"bad args",
       [](auto& next) {
         config::PluginConfig config;
         config.name = "NodeResourcesFit";
         config.args = ConfigValue(ConfigValue::Map{{"nonsense", ConfigValue(true)}});
         next.profiles[0].plugin_config.push_back(config);
       },
       "nonsense"},
      {"no queueSort", [](auto& next) { Disable(next, "PrioritySort"); }, "queue sort"},
      {"args of queueSort",
       [](auto& next) {
         config::PluginConfig config;
         config.name = "PrioritySort";
         config.args = ConfigValue(ConfigValue::Map{});
         next.profiles[0].plugin_config.push_back(config);
       },
       "queueSort"},
  };
  Synced();
  AddNode(test::MakeNode("n1").Taint("gpu", "", "NoSchedule"));
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    const auto result = Reload([&c](auto& next) {
      c.change(next);
      Disable(next, "TaintToleration");
    });
    ASSERT_FALSE(result);
    EXPECT_THAT(result.error().message, HasSubstr(c.error));
  }
  AddPod(test::MakePod().Name("web"));
  Turn();
  EXPECT_THAT(Bindings(), IsEmpty());
}

TEST_F(ReloadTest, AProfileGoesOnceNobodyWaitsForIt) {
  config::Profile second = options_.configuration.profiles[0];
  second.scheduler_name = "second";
  options_.configuration.profiles.push_back(second);
  Restart();
  Synced();
  const auto pod = test::MakePod().Name("web").SchedulerName("second").Ptr();
  AddPod(pod);
  Turn();
  const auto remove = [](auto& next) { next.profiles.pop_back(); };
  const auto refused = Reload(remove);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message, "profiles: \"second\" cannot go while pods wait for it (1)");
  DeletePod(pod);
  const auto done = Reload(remove);
  EXPECT_TRUE(done) << done.error().message;
  AddNode(test::MakeNode("n1"));
  AddPod(test::MakePod().Name("late").SchedulerName("second"));
  AddPod(test::MakePod().Name("ours"));
  Advance(seconds(5));
  EXPECT_THAT(Bindings(), ElementsAre("default/ours -> n1"));
}

TEST_F(ReloadTest, PodsThatOutliveTheirProfileLeaveNothingBehind) {
  config::Profile second = options_.configuration.profiles[0];
  second.scheduler_name = "second";
  options_.configuration.profiles.push_back(second);
  Restart();
  Synced();
  AddNode(test::MakeNode("n1"));
  const auto pod = [](const char* name) {
    return test::MakePod().Name(name).SchedulerName("second");
  };
  const auto going = pod("going").DeletedAt(Now()).Ptr();
  AddPod(going);
  for (const char* name : {"seen", "unseen"}) AddPod(pod(name));
  Turn();
  ASSERT_THAT(Bindings(), SizeIs(2));
  // No pod waits for it: one is not tried, the others are bound, as the watch has yet to tell.
  const auto done = Reload([](auto& next) { next.profiles.pop_back(); });
  ASSERT_TRUE(done) << done.error().message;
  DeletePod(going);
  UpdatePod(pod("seen").Ptr(), pod("seen").OnNode("n1").Ptr());
  DeletePod(pod("unseen").Ptr());
  Turn();
  EXPECT_EQ(scheduler().pending_pods().size(), 0u);
  EXPECT_EQ(scheduler().cache().num_pods(), 1u);
}

}  // namespace
}  // namespace berth::scheduler
