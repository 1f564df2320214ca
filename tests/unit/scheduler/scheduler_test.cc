// SPDX-License-Identifier: Apache-2.0
#include "src/scheduler/scheduler.h"

#include <gmock/gmock.h>

#include "src/base/logging.h"
#include "tests/unit/scheduler/scheduler_fixture.h"

namespace berth::scheduler {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using testing::StartsWith;

using SchedulerTest = test::SchedulerFixture;

TEST_F(SchedulerTest, ABoundPodGetsAScheduledEventAndItsRoomStaysTaken) {
  Synced();
  AddNode(test::MakeNode("n1").Allocatable({{"cpu", "1"}}));
  AddPod(test::MakePod().Name("web").Req({{"cpu", "700m"}}));
  AddPod(test::MakePod().Name("db").Req({{"cpu", "700m"}}));
  Turn();
  EXPECT_THAT(Bindings(), ElementsAre("default/web -> n1"));
  EXPECT_THAT(Events("Scheduled"), ElementsAre("Successfully assigned default/web to n1"));
  EXPECT_THAT(Events("FailedScheduling"),
              ElementsAre(StartsWith("0/1 nodes are available: 1 Insufficient cpu.")));
}

TEST_F(SchedulerTest, AnUnschedulablePodGetsItsConditionAndEvent) {
  Synced();
  AddNode(test::MakeNode("n1").Taint("gpu", "", "NoSchedule"));
  AddPod(test::MakePod().Name("web").Generation(3));
  Turn();
  EXPECT_THAT(Bindings(), IsEmpty());
  EXPECT_THAT(StatusPatches("web"),
              ElementsAre(AllOf(HasSubstr("\"PodScheduled\""), HasSubstr("\"Unschedulable\""),
                                HasSubstr("0/1 nodes are available: 1 node(s) had untolerated "
                                          "taint(s)."),
                                HasSubstr("\"observedGeneration\":3"))));
}

TEST_F(SchedulerTest, WithoutNodesTheTextIsItsOwn) {
  Synced();
  AddPod(test::MakePod().Name("web"));
  Turn();
  EXPECT_THAT(Events("FailedScheduling"), ElementsAre("no nodes available to schedule pods"));
}

TEST_F(SchedulerTest, AnEventThatHelpsWakesTheParkedPod) {
  Synced();
  const auto node = test::MakeNode("n1").Taint("gpu", "", "NoSchedule").Ptr();
  AddNode(node);
  AddPod(test::MakePod().Name("web"));
  Turn();
  Advance(seconds(60));
  Turn();
  EXPECT_THAT(Bindings(), IsEmpty());
  EXPECT_THAT(Events("FailedScheduling"), SizeIs(1)) << "a parked pod is not retried idly";
  UpdateNode(node, test::MakeNode("n1").Ptr());
  Turn();
  EXPECT_THAT(Bindings(), ElementsAre("default/web -> n1"));
}

TEST_F(SchedulerTest, AGatedPodWaitsWithoutAnAttempt) {
  Synced();
  AddNode(test::MakeNode("n1"));
  const auto gated = test::MakePod().Name("web").Gate("quota").ResourceVersion("1").Ptr();
  AddPod(gated);
  Turn();
  EXPECT_THAT(Bindings(), IsEmpty());
  EXPECT_THAT(Events("FailedScheduling"), IsEmpty());
  UpdatePod(gated, test::MakePod().Name("web").ResourceVersion("2").Ptr());
  Turn();
  EXPECT_THAT(Bindings(), ElementsAre("default/web -> n1"));
}

TEST_F(SchedulerTest, PodsOfOtherSchedulersCountOnTheirNodesAndAreLeftAlone) {
  Synced();
  AddNode(test::MakeNode("n1").Allocatable({{"cpu", "1"}}));
  AddPod(test::MakePod().Name("theirs").SchedulerName("other"));
  AddPod(test::MakePod().Name("placed").SchedulerName("other").OnNode("n1").Req({{"cpu", "1"}}));
  AddPod(test::MakePod().Name("ours").Req({{"cpu", "1"}}));
  Turn();
  EXPECT_THAT(Bindings(), IsEmpty());
  EXPECT_THAT(Events("FailedScheduling"),
              ElementsAre(StartsWith("0/1 nodes are available: 1 Insufficient cpu.")));
}

TEST_F(SchedulerTest, ARefusedBindGivesTheRoomBackAndThePodIsTriedAgain) {
  Synced();
  AddNode(test::MakeNode("n1").Allocatable({{"cpu", "1"}}));
  RefuseBind("default/web", 404, "nodes \"n1\" not found");
  AddPod(test::MakePod().Name("web").Req({{"cpu", "1"}}));
  Turn();
  EXPECT_EQ(scheduler().cache().num_pods(), 0u);
  EXPECT_THAT(StatusPatches("web"), ElementsAre(AllOf(HasSubstr("\"SchedulerError\""),
                                                      HasSubstr("nodes \\\"n1\\\" not found"))));
  AcceptBind("default/web");
  Advance(seconds(3));
  Turn();
  EXPECT_THAT(Bindings(), ElementsAre("default/web -> n1", "default/web -> n1"));
  EXPECT_TRUE(scheduler().cache().IsAssumed("default/web"));
}

TEST_F(SchedulerTest, ABindWithoutAnAnswerKeepsItsRoomUntilItIsConfirmed) {
  Synced();
  AddNode(test::MakeNode("n1").Allocatable({{"cpu", "1"}}));
  NeverAnswerBind("default/web");
  AddPod(test::MakePod().Name("web").Req({{"cpu", "1"}}));
  Turn();
  Advance(std::chrono::minutes(2));
  Turn();
  EXPECT_TRUE(scheduler().cache().IsAssumed("default/web"));
  AddPod(test::MakePod().Name("rival").Req({{"cpu", "1"}}));
  Turn();
  EXPECT_THAT(Events("FailedScheduling"),
              ElementsAre(StartsWith("0/1 nodes are available: 1 Insufficient cpu.")));
}

TEST_F(SchedulerTest, ABindThatTheServerFailsAtIsRefusedAndThePodBacksOff) {
  Synced();
  AddNode(test::MakeNode("n1").Allocatable({{"cpu", "1"}}));
  AnswerReads();
  RefuseBind("default/web", 500, "failed calling webhook");
  AddPod(test::MakePod().Name("web").Req({{"cpu", "1"}}));
  Turn();
  Advance(milliseconds(500));
  const auto failed = "running Bind plugin \"DefaultBinder\": failed calling webhook";
  EXPECT_THAT(Events("FailedScheduling"), ElementsAre(failed));
  EXPECT_THAT(StatusPatches("web"), ElementsAre(AllOf(HasSubstr("\"SchedulerError\""),
                                                      HasSubstr("failed calling webhook"))));
  EXPECT_EQ(scheduler().cache().num_pods(), 0u);
  EXPECT_EQ(scheduler().queue().counts().backoff, 1u);
  EXPECT_EQ(scheduler().binding_cycles().size(), 0u);
  AcceptBind("default/web");
  Advance(seconds(3));
  EXPECT_THAT(Bindings(), ElementsAre("default/web -> n1", "default/web -> n1"));
  EXPECT_THAT(Events("Scheduled"), SizeIs(1));
}

TEST_F(SchedulerTest, PodsWhoseBindIsUnconfirmedHoldUpNoOthers) {
  options_.configuration.client_connection.burst = 10;
  Restart();
  Synced();
  AddNode(test::MakeNode("n1").Allocatable({{"pods", "1000"}}));
  for (int i = 0; i < 150; ++i) {
    const std::string name = "stuck-" + std::to_string(i);
    i % 2 == 0 ? NeverAnswerBind("default/" + name) : RefuseBind("default/" + name, 500, "down");
    AddPod(test::MakePod().Name(name));
  }
  for (int i = 0; i < 50; ++i) AddPod(test::MakePod().Name("free-" + std::to_string(i)));
  Turn();
  Advance(seconds(1));
  EXPECT_THAT(Events("Scheduled"), SizeIs(50));
  EXPECT_EQ(scheduler().binding_cycles().awaiting_bind(), 0u);
  EXPECT_EQ(scheduler().binding_cycles().size(), 150u);
  EXPECT_EQ(scheduler().cache().num_pods(), 200u) << "what is unconfirmed keeps its room";
}

TEST_F(SchedulerTest, TheWatchConfirmsTheBinding) {
  Synced();
  AddNode(test::MakeNode("n1").Allocatable({{"cpu", "1"}}));
  const auto pending = test::MakePod().Name("web").Req({{"cpu", "1"}}).Ptr();
  AddPod(pending);
  Turn();
  EXPECT_TRUE(scheduler().cache().IsAssumed("default/web"));
  const auto bound = test::MakePod().Name("web").Req({{"cpu", "1"}}).OnNode("n1").Ptr();
  UpdatePod(pending, bound);
  Turn();
  EXPECT_FALSE(scheduler().cache().IsAssumed("default/web"));
  EXPECT_EQ(scheduler().cache().num_pods(), 1u);
  DeletePod(bound);
  Turn();
  EXPECT_EQ(scheduler().cache().num_pods(), 0u);
}

TEST_F(SchedulerTest, ADeletedPodIsDroppedWhereverItIs) {
  Synced();
  AddNode(test::MakeNode("n1").Allocatable({{"cpu", "1"}}));
  const auto web = test::MakePod().Name("web").Req({{"cpu", "1"}}).Ptr();
  AddPod(web);
  DeletePod(web);
  Turn();
  EXPECT_THAT(Bindings(), IsEmpty());

  NeverAnswerBind("default/db");
  const auto db = test::MakePod().Name("db").Req({{"cpu", "1"}}).Ptr();
  AddPod(db);
  Turn();
  EXPECT_TRUE(scheduler().cache().IsAssumed("default/db"));
  DeletePod(db);
  Turn();
  EXPECT_EQ(scheduler().cache().num_pods(), 0u) << "deleted while its bind is open";

  AddPod(test::MakePod().Name("going").DeletedAt(Now()));
  Turn();
  EXPECT_THAT(Events("FailedScheduling"), ElementsAre("skip schedule deleting pod: default/going"));
}

TEST_F(SchedulerTest, APodDeletedDuringItsBindLetsOthersHaveItsRoom) {
  for (const bool going : {false, true}) {
    SCOPED_TRACE(going ? "it is being deleted" : "it is gone");
    Restart();
    Synced();
    AddNode(test::MakeNode("n1").Allocatable({{"cpu", "1"}}));
    NeverAnswerBind("default/web");
    const auto pod = test::MakePod().Name("web").Req({{"cpu", "1"}}).ResourceVersion("1");
    AddPod(pod);
    AddPod(test::MakePod().Name("next").Req({{"cpu", "1"}}));
    Turn();
    Advance(seconds(20));
    ASSERT_THAT(Bindings(), ElementsAre("default/web -> n1"));
    if (going) {
      UpdatePod(pod.Ptr(), test::PodBuilder(pod).ResourceVersion("2").DeletedAt(Now()).Ptr());
    } else {
      DeletePod(pod.Ptr());
    }
    Advance(seconds(1));
    EXPECT_THAT(Bindings(), ElementsAre("default/web -> n1", "default/next -> n1"));
  }
}

TEST_F(SchedulerTest, APodThatAnotherBindsElsewhereLetsOthersHaveTheRoomThatItWasAssumedIn) {
  hold_binds_ = true;
  Synced();
  AddNode(test::MakeNode("n1").Label("disk", "ssd").Allocatable({{"cpu", "1"}, {"pods", "10"}}));
  const auto pod = test::MakePod().Name("web").Req({{"cpu", "1"}}).ResourceVersion("1");
  AddPod(pod);
  Turn();
  AddNode(test::MakeNode("n2").Allocatable({{"cpu", "1"}, {"pods", "10"}}));
  AddPod(test::MakePod().Name("next").NodeSelector("disk", "ssd").Req({{"cpu", "1"}}));
  Advance(seconds(5));
  ASSERT_THAT(Bindings(), ElementsAre("default/web -> n1"));
  UpdatePod(pod.Ptr(), test::PodBuilder(pod).ResourceVersion("2").OnNode("n2").Ptr());
  Advance(seconds(5));
  EXPECT_THAT(Bindings(), ElementsAre("default/web -> n1", "default/next -> n1"));
}

// Has room for one pod, from Reserve on, and waits for pods that go.
class OnePlace final : public FilterPlugin, public ReservePlugin, public EnqueueExtensions {
 public:
  Status Filter(const CycleState&, const PodInfo&, const NodeView&) const override {
    return taken_ ? Status(Code::kUnschedulable) : Status::Success();
  }
  Status Reserve(CycleState&, const PodInfo&, std::string_view) override {
    taken_ = true;
    return Status::Success();
  }
  void Unreserve(CycleState&, const PodInfo&, std::string_view) override { taken_ = false; }
  std::vector<ClusterEventWithHint> EventsToRegister() const override {
    return {{{EventResource::kAssignedPod, action::kDelete}}};
  }

 private:
  bool taken_ = false;
};

TEST_F(SchedulerTest, WhatWasReservedForAPodDeletedDuringItsBindWakesOthersOnceItIsFree) {
  plugins_.push_back({"OnePlace", [](const ConfigValue&, Handle&) {
                        return Result<Plugin>(AsPlugin("OnePlace", std::make_unique<OnePlace>()));
                      }});
  options_.configuration.profiles[0].plugins.multi_point.enabled.push_back({"OnePlace", 0});
  hold_binds_ = true;
  Restart();
  Synced();
  AddNode(test::MakeNode("n1"));
  const auto pod = test::MakePod().Name("web").Ptr();
  AddPod(pod);
  AddPod(test::MakePod().Name("next"));
  Turn();
  DeletePod(pod);
  Advance(seconds(20));
  ASSERT_THAT(Bindings(), ElementsAre("default/web -> n1")) << "its place is still reserved";
  RefuseOneBind();
  Advance(seconds(20));
  EXPECT_THAT(Bindings(), ElementsAre("default/web -> n1", "default/next -> n1"));
}

TEST_F(SchedulerTest, ConditionsThatAreNotWrittenYetAreDroppedWhenTheBindBegins) {
  constexpr int kPods = 100;
  hold_status_patches_ = true;
  Synced();
  const auto node = test::MakeNode("n1").Allocatable({{"pods", "1000"}});
  AddNode(test::NodeBuilder(node).Taint("t", "", "NoSchedule"));
  for (int i = 0; i < kPods; ++i) AddPod(test::MakePod().Name("pod-" + std::to_string(i)));
  Turn();
  ASSERT_THAT(Events("FailedScheduling"), SizeIs(kPods));
  UpdateNode(test::NodeBuilder(node).Taint("t", "", "NoSchedule").Ptr(), node.Ptr());
  Advance(seconds(3));
  EXPECT_THAT(Events("Scheduled"), SizeIs(kPods));
  int written = 0;
  for (int i = 0; i < kPods; ++i) {
    written += static_cast<int>(StatusPatches("pod-" + std::to_string(i)).size());
  }
  EXPECT_LT(written, kPods / 2) << "only those that were under way before the binds";
}

class NoDisk final : public PreBindPlugin {
 public:
  Status PreBindPreFlight(CycleState&, const PodInfo&, std::string_view) override {
    return Status::Success();
  }
  void PreBind(CycleState&, const PodInfo&, std::string_view, Cancellation&,
               AsyncDone done) override {
    done({Code::kUnschedulable, "no disk"});
  }
};

TEST_F(SchedulerTest, ARejectionAtPreBindNamesNoPluginAndIsTriedAgain) {
  plugins_.push_back({"NoDisk", [](const ConfigValue&, Handle&) {
                        return Result<Plugin>(AsPlugin("NoDisk", std::make_unique<NoDisk>()));
                      }});
  options_.configuration.profiles[0].plugins.multi_point.enabled.push_back({"NoDisk", 0});
  Restart();
  Synced();
  AddNode(test::MakeNode("n1"));
  AddPod(test::MakePod().Name("web"));
  Turn();
  EXPECT_THAT(Bindings(), IsEmpty());
  EXPECT_THAT(Events("FailedScheduling"), ElementsAre("no disk"));
  EXPECT_THAT(StatusPatches("web"), testing::Contains(HasSubstr("\"Unschedulable\"")));
  const auto pending = scheduler().queue().PendingPods();
  ASSERT_THAT(pending, SizeIs(1));
  EXPECT_THAT(pending[0].pod->unschedulable_plugins, IsEmpty());
  // Nothing tells when it may be tried again, so time has to: 1 s, 2 s, 4 s, ...
  Advance(seconds(20));
  EXPECT_THAT(scheduler().queue().PendingPods()[0].pod->attempts,
              AllOf(testing::Ge(3), testing::Le(5)));
}

TEST_F(SchedulerTest, ANameCreatedAgainIsAnotherPod) {
  Synced();
  AddNode(test::MakeNode("n1").Allocatable({{"cpu", "1"}}));
  const auto first = test::MakePod().Name("web").Uid("u1").OnNode("n1").Req({{"cpu", "1"}}).Ptr();
  AddPod(first);
  UpdatePod(first, test::MakePod().Name("web").Uid("u2").Req({{"cpu", "1"}}).Ptr());
  Turn();
  EXPECT_THAT(Bindings(), ElementsAre("default/web -> n1"));
}

TEST_F(SchedulerTest, APodThatLosesItsNodeIsBoundAgain) {
  Synced();
  AddNode(test::MakeNode("n1").Allocatable({{"cpu", "1"}}));
  const auto pending = test::MakePod().Name("web").Uid("u1").Req({{"cpu", "1"}}).Ptr();
  const auto bound = test::MakePod().Name("web").Uid("u1").OnNode("n1").Req({{"cpu", "1"}}).Ptr();
  AddPod(bound);
  Turn();
  // As after a restore of etcd to a time before the bind: a list shows the same pod without a node.
  UpdatePod(bound, pending);
  Turn();
  EXPECT_THAT(Bindings(), ElementsAre("default/web -> n1"));
  UpdatePod(pending, bound);
  Turn();
  EXPECT_EQ(scheduler().cache().num_pods(), 1u);
  EXPECT_FALSE(scheduler().cache().IsAssumed("u1"));
}

TEST_F(SchedulerTest, OnlySoManyPodsAwaitTheirBindAndTheNextIsDecidedOnTheNewestState) {
  options_.configuration.client_connection.burst = 10;
  Restart();
  Synced();
  AddNode(test::MakeNode("n1").Allocatable({{"pods", "1000"}}));
  hold_binds_ = true;
  for (int i = 0; i < 100; ++i) AddPod(test::MakePod().Name("low-" + std::to_string(i)));
  Turn();
  EXPECT_EQ(scheduler().binding_cycles().awaiting_bind(), 64u);
  AddPod(test::MakePod().Name("urgent").Priority(1000));
  Turn();
  ReleaseOneBind();
  Turn();
  EXPECT_EQ(Bindings().back(), "default/urgent -> n1");
}

TEST_F(SchedulerTest, ABoundPodThatCannotBeReadClosesItsNode) {
  Synced();
  AddNode(test::MakeNode("n1"));
  PostUndecodable("default/odd", "n1");
  AddPod(test::MakePod().Name("web"));
  Turn();
  EXPECT_THAT(Events("FailedScheduling"),
              ElementsAre(StartsWith("0/1 nodes are available: 1 node(s) had a pod that could not "
                                     "be read.")));
  AddPod(test::MakePod().Name("odd").OnNode("n1"));
  Advance(std::chrono::minutes(6));
  Turn();
  EXPECT_THAT(Bindings(), ElementsAre("default/web -> n1"));
}

TEST_F(SchedulerTest, AMendedPodOpensItsNodeToThosePassedByOthers) {
  Synced();
  AddNode(test::MakeNode("n1").Label("disk", "ssd").Allocatable({{"cpu", "2"}, {"pods", "10"}}));
  AddNode(test::MakeNode("n2").Allocatable({{"cpu", "2"}, {"pods", "10"}}));
  PostUndecodable("default/odd", "n1");
  PostUndecodable("default/odder", "n1");
  // Only the closed node suits them: one is rejected elsewhere by a plugin, one by nothing else.
  AddPod(test::MakePod().Name("picky").NodeSelector("disk", "ssd").Req({{"cpu", "1"}}));
  AddPod(test::MakePod().Name("big").OnNode("n2").Req({{"cpu", "2"}}));
  AddPod(test::MakePod().Name("large").Req({{"cpu", "1"}}));
  Turn();
  AddPod(test::MakePod().Name("odd").OnNode("n1"));
  Advance(seconds(15));
  EXPECT_THAT(Bindings(), testing::IsEmpty()) << "another pod still closes the node";
  DeletePod(test::MakePod().Name("odder").OnNode("n1").Ptr());
  Advance(seconds(15));
  EXPECT_THAT(Bindings(),
              testing::UnorderedElementsAre("default/picky -> n1", "default/large -> n1"));
}

TEST_F(SchedulerTest, TheLogNamesEventsInKubeSchedulersWords) {
  base::SetLogVerbosity(4);
  testing::internal::CaptureStderr();
  Synced();
  const auto pod = test::MakePod().Name("web").ResourceVersion("1");
  AddPod(pod);
  Turn();
  UpdatePod(pod.Ptr(), test::PodBuilder(pod).ResourceVersion("2").Ptr());
  DeletePod(pod.Ptr());
  AddPod(test::MakePod().Name("going").DeletedAt(Now()));
  const auto node = test::MakeNode("n1").Ptr();
  AddNode(node);
  UpdateNode(node, test::MakeNode("n1").Label("a", "b").Ptr());
  const auto placed = test::MakePod().Name("db").OnNode("n1").Ptr();
  AddPod(placed);
  UpdatePod(placed, test::MakePod().Name("db").OnNode("n1").Label("a", "b").Ptr());
  DeletePod(placed);
  PostEvent(informers::EventType::kDeleted, informers::Kind::kNode, node, {});
  Turn();
  base::FlushLogs();
  const std::string log = testing::internal::GetCapturedStderr();
  base::SetLogVerbosity(0);
  for (const char* line : {
           "\"Add event for unscheduled pod\" pod=\"default/web\"",
           "\"About to try and schedule pod\" pod=\"default/web\"",
           "\"Unable to schedule pod; no nodes are registered to the cluster; waiting\" "
           "pod=\"default/web\"",
           "\"Update event for unscheduled pod\" pod=\"default/web\"",
           "\"Delete event for unscheduled pod\" pod=\"default/web\"",
           "\"Skip schedule deleting pod\" pod=\"default/going\"",
           "\"Add event for scheduled pod\" pod=\"default/db\"",
           "\"Update event for scheduled pod\" pod=\"default/db\"",
           "\"Delete event for scheduled pod\" pod=\"default/db\"",
       }) {
    EXPECT_THAT(log, HasSubstr(line));
  }
}

TEST_F(SchedulerTest, TheSameMessagesAndSeedGiveTheSameDecisions) {
  const auto run = [this] {
    Restart();
    Synced();
    for (int i = 0; i < 20; ++i) {
      AddNode(test::MakeNode("n" + std::to_string(i)).Allocatable({{"cpu", "16"}}));
    }
    for (int i = 0; i < 200; ++i) {
      AddPod(test::MakePod().Name("p" + std::to_string(i)).Req({{"cpu", "1"}}));
    }
    Turn();
    return Bindings();
  };
  const std::vector<std::string> first = run();
  EXPECT_THAT(first, SizeIs(200));
  EXPECT_EQ(first, run());
  options_.seed = 99;
  EXPECT_NE(first, run());
}

}  // namespace
}  // namespace berth::scheduler
