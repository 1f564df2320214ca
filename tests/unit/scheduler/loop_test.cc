// SPDX-License-Identifier: Apache-2.0
#include "src/scheduler/loop.h"

#include <gmock/gmock.h>

#include "tests/unit/scheduler/scheduler_fixture.h"

namespace berth::scheduler {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

using LoopTest = test::SchedulerFixture;

TEST_F(LoopTest, NothingIsDecidedBeforeTheFirstListsAreIn) {
  AddNode(test::MakeNode("n1").Allocatable({{"cpu", "1"}}));
  AddPod(test::MakePod().Name("web"));
  Turn();
  EXPECT_THAT(Bindings(), IsEmpty());
  Synced();
  Turn();
  EXPECT_THAT(Bindings(), ElementsAre("default/web -> n1"));
}

TEST_F(LoopTest, AStandbyFillsItsCacheAndQueueAndDecidesOnceItLeads) {
  options_.leading = false;
  Restart();
  Synced();
  AddNode(test::MakeNode("n1").Allocatable({{"cpu", "1"}}));
  AddPod(test::MakePod().Name("web"));
  AddPod(test::MakePod().Name("huge").Req({{"cpu", "9"}}));
  Advance(seconds(60));
  EXPECT_THAT(Bindings(), IsEmpty());
  EXPECT_THAT(Events("FailedScheduling"), IsEmpty());
  EXPECT_EQ(scheduler().cache().num_nodes(), 1u);
  EXPECT_EQ(scheduler().queue().counts().active, 2u);
  scheduler().Post(LeadingBegan{});
  Turn();
  EXPECT_THAT(Bindings(), ElementsAre("default/web -> n1"));
  EXPECT_THAT(Events("FailedScheduling"), SizeIs(1));
}

TEST_F(LoopTest, StoppingSeesBindingsThroughAndDecidesNothingNew) {
  Synced();
  AddNode(test::MakeNode("n1"));
  hold_binds_ = true;
  AddPod(test::MakePod().Name("web"));
  Turn();
  scheduler().Stop(seconds(10));
  AddPod(test::MakePod().Name("late"));
  Turn();
  EXPECT_FALSE(scheduler().stopped());
  ReleaseOneBind();
  Turn();
  EXPECT_TRUE(scheduler().stopped());
  EXPECT_THAT(Bindings(), ElementsAre("default/web -> n1"));
  EXPECT_THAT(Events("Scheduled"), SizeIs(1));
}

TEST_F(LoopTest, ALongTurnIsSeenFromOutsideWhileItLasts) {
  Turn();
  std::string seen;
  bool ready = false;
  Synced();
  AddNode(test::MakeNode("n1"));
  scheduler().Post(Query{[this] { clock().Set(Now() + seconds(2)); }});
  scheduler().Post(Query{[&] {
    seen = PublishedMetrics();
    ready = scheduler().has_synced();
  }});
  scheduler().Turn(Now());
  EXPECT_THAT(seen, testing::HasSubstr("scheduler_cache_size{type=\"nodes\"} 1\n"));
  EXPECT_TRUE(ready);
}

TEST_F(LoopTest, WhatArrivesWhilePodsAreDecidedIsTakenInBeforeTheNext) {
  options_.on_cycle = [this](const CycleOutcome& outcome) {
    if (outcome.pod.metadata.name == "first") AddPod(test::MakePod().Name("urgent").Priority(9));
  };
  Restart();
  Synced();
  AddNode(test::MakeNode("n1"));
  AddPod(test::MakePod().Name("first"));
  AddPod(test::MakePod().Name("second"));
  Turn();
  EXPECT_THAT(Bindings(),
              ElementsAre("default/first -> n1", "default/urgent -> n1", "default/second -> n1"));
}

TEST_F(LoopTest, ATurnSaysWhenTheNextIsDue) {
  Synced();
  AddNode(test::MakeNode("n1"));
  Turn();
  EXPECT_EQ(scheduler().Turn(Now()), Now() + seconds(1)) << "to publish metrics";
  RefuseBind("default/web", 404, "gone");
  AddPod(test::MakePod().Name("web"));
  clock().Advance(milliseconds(300));
  Turn();
  clock().Advance(milliseconds(1500));
  EXPECT_EQ(scheduler().Turn(Now()), Now() + milliseconds(200)) << "its backoff is flushed then";
}

TEST_F(LoopTest, PodsThatAPluginActivatesLeaveBeforeTheNextDecision) {
  Handle* handle = nullptr;
  plugins_.push_back({"Caller", [&handle](const ConfigValue&, Handle& given) {
                        handle = &given;
                        Plugin caller;  // takes no part in any decision
                        caller.name = "Caller";
                        return Result<Plugin>(std::move(caller));
                      }});
  options_.configuration.profiles[0].plugins.multi_point.enabled.push_back({"Caller", 0});
  Restart();
  Synced();
  AddNode(test::MakeNode("n1").Allocatable({{"cpu", "1"}}));
  AddPod(test::MakePod().Name("huge").Req({{"cpu", "9"}}));
  Turn();
  ASSERT_THAT(Events("FailedScheduling"), SizeIs(1));
  scheduler().Post(Query{[&handle] { handle->Activate({"default/huge"}); }});
  Turn();
  EXPECT_EQ(scheduler().queue().Find("default/huge")->attempts, 2);
}

}  // namespace
}  // namespace berth::scheduler
