// SPDX-License-Identifier: Apache-2.0
#include "src/scheduler/loop.h"

#include <gmock/gmock.h>

#include "tests/support/plain_resource_names.h"
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
  // The leader has decided about them long ago, and counts what is left.
  EXPECT_THAT(Metrics(), HasSubstr("scheduler_pending_pods{queue=\"active\"} 0\n"));
  scheduler().Post(LeadingBegan{});
  Turn();
  EXPECT_THAT(Metrics(), HasSubstr("scheduler_pending_pods{queue=\"unschedulable\"} 1\n"));
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

// Forty parts, one as soon as it may after the other, and again ten seconds later.
class CountingWork final : public BackgroundWork {
 public:
  static constexpr int kParts = 40;

  Time Work(const cache::Cache& cache, const PodStore& pending, Time now) override {
    ++parts;
    nodes = cache.num_nodes();
    waiting = pending.size();
    return parts % kParts == 0 ? now + seconds(10) : now;
  }

  int parts = 0;
  size_t nodes = 0;
  size_t waiting = 0;
};

TEST_F(LoopTest, WorkInTheBackgroundIsDoneInPartsBetweenCyclesOnceTheFirstListsAreIn) {
  CountingWork work;
  std::vector<int> parts_before;
  options_.background = &work;
  options_.on_cycle = [&](const CycleOutcome& /*outcome*/) { parts_before.push_back(work.parts); };
  Restart();
  AddNode(test::MakeNode("n1").Allocatable({{"cpu", "1"}}));
  AddPod(test::MakePod().Name("huge").Req({{"cpu", "9"}}));
  AddPod(test::MakePod().Name("huge-too").Req({{"cpu", "8"}}));
  scheduler().Turn(Now());
  EXPECT_EQ(work.parts, 0);
  Synced();
  // It goes on with the next part as soon as the loop has nothing better to do.
  int turns = 0;
  for (; scheduler().Turn(Now()) <= Now(); ++turns) ASSERT_LT(turns, 100);
  EXPECT_EQ(work.parts, CountingWork::kParts);
  EXPECT_EQ(work.nodes, 1u);
  EXPECT_EQ(work.waiting, 2u);
  ASSERT_EQ(parts_before.size(), 2u);
  EXPECT_LT(parts_before[0], parts_before[1]);
  Advance(seconds(9));
  EXPECT_EQ(work.parts, CountingWork::kParts);
  Advance(seconds(8));
  EXPECT_EQ(work.parts, 2 * CountingWork::kParts);
}

TEST(PodStoreTest, APodKeepsItsSlotWhileOthersComeAndGo) {
  test::PlainResourceNames names;
  PodStore store;
  const auto pod = [&](const std::string& name) { return test::MakePod().Name(name).Info(names); };
  const auto at_slots = [&store] {
    std::vector<std::string> found;
    for (size_t slot = 0; slot < store.num_slots(); ++slot) {
      const PodInfo* info = store.at_slot(slot);
      found.push_back(info == nullptr ? "-" : info->pod->metadata.name);
    }
    return found;
  };
  for (const char* name : {"a", "b", "c"}) store.Set(pod(name));
  store.Erase(*pod("a")->pod);
  store.Set(pod("c"));
  EXPECT_THAT(at_slots(), ElementsAre("-", "b", "c"));
  EXPECT_EQ(store.Find("default/a"), nullptr);
  store.Set(pod("d"));
  EXPECT_THAT(at_slots(), ElementsAre("d", "b", "c"));
  // Another of that name.
  store.Erase(*test::MakePod().Name("b").Uid("other").Ptr());
  EXPECT_EQ(store.size(), 3u);
}

}  // namespace
}  // namespace berth::scheduler
