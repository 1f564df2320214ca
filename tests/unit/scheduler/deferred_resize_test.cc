// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <algorithm>

#include "tests/support/default_plugins.h"
#include "tests/unit/scheduler/scheduler_fixture.h"

// Pods that run, and whose resize the kubelet has put off (gate
// InPlacePodVerticalScalingSchedulerPreemption).
namespace berth::scheduler {
namespace {

using std::chrono::seconds;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class DeferredResizeTest : public test::SchedulerFixture {
 protected:
  void SetUp() override { Begin(true); }
  void Begin(bool gate, bool with_plugin = true) {
    options_.features.in_place_pod_vertical_scaling_scheduler_preemption = gate;
    std::vector<config::PluginRef> plugins = test::DefaultPlugins();
    if (with_plugin) {
      plugins.insert(std::ranges::find(plugins, "NodeResourcesFit", &config::PluginRef::name),
                     {"DeferredPodScheduling"});
    }
    options_.configuration = config::DefaultConfiguration({plugins});
    Restart();
    Synced();
    AddNode(test::MakeNode("n1").Allocatable({{"cpu", "4"}}));
    AddNode(test::MakeNode("n2").Allocatable({{"cpu", "4"}}));
  }
  static test::PodBuilder Pod(std::string_view name, std::string_view cpu, int32_t priority) {
    return test::MakePod().Name(name).Req({{"cpu", cpu}}).Priority(priority).OnNode("n1");
  }
  static test::PodBuilder App(std::string_view cpu) {
    return Pod("app", cpu, 10).Condition("PodScheduled", "True");
  }
  static std::shared_ptr<const api::Pod> Deferred(std::string_view cpu) {
    return App(cpu).Condition("PodResizePending", "True", "Deferred").Ptr();
  }
  queue::Place Place() { return scheduler().queue().WhereIs("default/app"); }
  int Attempts() {
    const queue::QueuedPod* queued = scheduler().queue().Find("default/app");
    return queued == nullptr ? -1 : queued->attempts;
  }
};

TEST_F(DeferredResizeTest, ItsVictimsGoAndThePodKeepsItsNodeAndItsStatus) {
  const auto low = Pod("low", "2", 1).Ptr();
  AddPod(low);
  AddPod(Deferred("3"));
  Turn();
  EXPECT_THAT(Deletions(), ElementsAre("default/low"));
  EXPECT_THAT(Events("Preempted"), ElementsAre("Preempted by pod default/app on node n1"));
  EXPECT_THAT(Events("FailedScheduling"), IsEmpty());
  EXPECT_THAT(StatusPatches("app"), IsEmpty());
  EXPECT_THAT(scheduler().nominator().NominatedPodsForNode("n1"), IsEmpty());
  EXPECT_EQ(Place(), queue::Place::kUnschedulable);

  DeletePod(low);
  Advance(seconds(3));
  EXPECT_EQ(Place(), queue::Place::kUnschedulable) << "it fits, and the kubelet has to do it";
  EXPECT_EQ(Attempts(), 2);
  EXPECT_THAT(scheduler().queue().Find("default/app")->unschedulable_plugins,
              ElementsAre("DeferredPodScheduling"));
  EXPECT_THAT(Bindings(), IsEmpty());
  EXPECT_THAT(StatusPatches("app"), IsEmpty());
  EXPECT_EQ(scheduler().cache().requested(kCpu)[0], 3000) << "counted once";
  EXPECT_THAT(Metrics(),
              HasSubstr("scheduler_schedule_attempts_total{profile=\"default-scheduler\","
                        "result=\"unschedulable\"} 2\n"));
}

TEST_F(DeferredResizeTest, APodIsQueuedWhenItsResizeIsDeferredAndLeavesWhenItIsNoMore) {
  AddPod(Pod("peer", "2", 10).Ptr());
  const auto plain = App("1").Ptr();
  AddPod(plain);
  Turn();
  EXPECT_EQ(Place(), queue::Place::kNowhere);
  UpdatePod(plain, Deferred("3"));
  Turn();
  EXPECT_EQ(Place(), queue::Place::kUnschedulable);
  EXPECT_NE(scheduler().FindPendingPod("default/app"), nullptr);

  UpdatePod(Deferred("3"), App("3").Condition("PodResizePending", "True", "Infeasible").Ptr());
  Turn();
  EXPECT_EQ(Place(), queue::Place::kNowhere);
  EXPECT_EQ(scheduler().FindPendingPod("default/app"), nullptr);
  EXPECT_THAT(Deletions(), IsEmpty());
}

TEST_F(DeferredResizeTest, ADeletedPodLeavesQueueAndCache) {
  AddPod(Pod("peer", "2", 10).Ptr());
  AddPod(Deferred("3"));
  Turn();
  EXPECT_EQ(Place(), queue::Place::kUnschedulable);
  DeletePod(Deferred("3"));
  Turn();
  EXPECT_EQ(Place(), queue::Place::kNowhere);
  EXPECT_EQ(scheduler().cache().requested(kCpu)[0], 2000);
}

TEST_F(DeferredResizeTest, WhatItWantsMayChangeWhileItIsQueued) {
  AddPod(Pod("peer", "2", 10).Ptr());
  AddPod(Deferred("3"));
  Turn();
  UpdatePod(Deferred("3"), [] {
    api::Pod pod = *Deferred("2");
    pod.metadata.resource_version = "2";
    return std::make_shared<const api::Pod>(std::move(pod));
  }());
  Advance(seconds(3));
  EXPECT_EQ(Attempts(), 2);
  EXPECT_THAT(scheduler().queue().Find("default/app")->unschedulable_plugins,
              ElementsAre("DeferredPodScheduling"));
}

TEST_F(DeferredResizeTest, ANodeThatForbidsItKeepsItsPods) {
  api::Node node = test::MakeNode("n1").Allocatable({{"cpu", "4"}});
  node.spec.pod_preemption_policy.emplace().disable_resize_preemption = {"example.com/operator"};
  const auto open = test::MakeNode("n1").Allocatable({{"cpu", "4"}}).Ptr();
  const auto closed = std::make_shared<const api::Node>(std::move(node));
  UpdateNode(open, closed);
  AddPod(Pod("low", "2", 1).Ptr());
  AddPod(Deferred("3"));
  Advance(seconds(3));
  EXPECT_THAT(Deletions(), IsEmpty());
  EXPECT_THAT(scheduler().queue().Find("default/app")->unschedulable_plugins,
              ElementsAre("DeferredPodScheduling", "NodeName"));
  UpdateNode(closed, open);
  Advance(seconds(3));
  EXPECT_THAT(Deletions(), ElementsAre("default/low"));
}

TEST_F(DeferredResizeTest, WithoutThePluginWhatFitsIsTriedAgainAndNeverBound) {
  Begin(true, false);
  AddPod(Deferred("3"));
  Advance(seconds(5));
  EXPECT_GE(Attempts(), 2);
  EXPECT_THAT(Bindings(), IsEmpty());
  EXPECT_THAT(StatusPatches("app"), IsEmpty());
  EXPECT_THAT(Events("FailedScheduling"), IsEmpty());
}

TEST_F(DeferredResizeTest, WithoutTheGateItIsNotQueued) {
  Begin(false);
  AddPod(Pod("low", "2", 1).Ptr());
  AddPod(Deferred("3"));
  Advance(seconds(3));
  EXPECT_EQ(Place(), queue::Place::kNowhere);
  EXPECT_THAT(Deletions(), IsEmpty());
}

TEST_F(DeferredResizeTest, APodOfAnotherSchedulerIsNotQueued) {
  AddPod(Pod("low", "2", 1).Ptr());
  AddPod(App("3").SchedulerName("other").Condition("PodResizePending", "True", "Deferred").Ptr());
  Advance(seconds(3));
  EXPECT_EQ(Place(), queue::Place::kNowhere);
  EXPECT_THAT(Deletions(), IsEmpty());
}

// Of pods that ask for the same only the one that runs has room already.
TEST_F(DeferredResizeTest, WhatIsSaidOfItIsNotSaidOfPodsLikeIt) {
  AddPod(Pod("peer", "1", 100).Ptr());
  AddPod(Deferred("3"));
  Turn();
  EXPECT_THAT(scheduler().queue().Find("default/app")->unschedulable_plugins,
              ElementsAre("DeferredPodScheduling"));
  AddPod(Pod("twin", "3", 10).OnNode("").NodeSelector("kubernetes.io/hostname", "n1").Ptr());
  AddPod(Pod("free", "3", 10).OnNode("").Ptr());
  Advance(seconds(3));
  EXPECT_THAT(Bindings(), ElementsAre("default/free -> n2"));
}

TEST_F(DeferredResizeTest, AMemberOfAPodGroupIsTriedAlone) {
  options_.features.generic_workload = true;
  Begin(true);
  AddPod(Pod("low", "2", 1).Ptr());
  AddPod(App("3").SchedulingGroup("train").Condition("PodResizePending", "True", "Deferred").Ptr());
  Advance(seconds(3));
  EXPECT_THAT(Deletions(), ElementsAre("default/low"));
}

}  // namespace
}  // namespace berth::scheduler
