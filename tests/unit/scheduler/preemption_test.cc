// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include "tests/unit/scheduler/scheduler_fixture.h"

namespace berth::scheduler {
namespace {

using std::chrono::seconds;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

class PreemptionTest : public test::SchedulerFixture {
 protected:
  static test::PodBuilder Pod(std::string_view name, std::string_view cpu, int32_t priority) {
    return test::MakePod().Name(name).Req({{"cpu", cpu}}).Priority(priority);
  }
  void SetUp() override {
    Synced();
    AddNode(test::MakeNode("n1").Allocatable({{"cpu", "2"}}));
  }
};

TEST_F(PreemptionTest, VictimsGoAndTheirRoomIsThePreemptors) {
  const auto low1 = Pod("low1", "1", 1).OnNode("n1").Ptr();
  const auto low2 = Pod("low2", "1", 1).OnNode("n1").Ptr();
  AddPod(low1);
  AddPod(low2);
  AddPod(Pod("high", "2", 10));
  Turn();
  EXPECT_THAT(Deletions(), ElementsAre("default/low1", "default/low2"));
  EXPECT_THAT(StatusPatches("low1"),
              ElementsAre(AllOf(HasSubstr("DisruptionTarget"), HasSubstr("PreemptionByScheduler"),
                                HasSubstr("default-scheduler: preempting to accommodate a higher "
                                          "priority pod"))));
  EXPECT_THAT(Events("Preempted"), ElementsAre("Preempted by pod default/high on node n1",
                                               "Preempted by pod default/high on node n1"));
  EXPECT_THAT(RelatedTo("Preempted"), ElementsAre("", "")) << "kube-scheduler cannot name a pod";
  EXPECT_THAT(StatusPatches("high"),
              ElementsAre(AllOf(HasSubstr("\"nominatedNodeName\":\"n1\""),
                                HasSubstr("0/1 nodes are available: 1 Insufficient cpu. "
                                          "preemption: found a potential placement for pod on node "
                                          "n1, preempting 2 victims"))));
  EXPECT_THAT(Bindings(), IsEmpty());

  DeletePod(low1);
  Advance(seconds(2));
  EXPECT_THAT(Bindings(), IsEmpty()) << "one victim is still there";
  DeletePod(low2);
  Advance(seconds(3));
  EXPECT_THAT(Bindings(), ElementsAre("default/high -> n1"));
}

TEST_F(PreemptionTest, TheRoomIsKeptFromPodsOfLowerPriority) {
  const auto low = Pod("low", "2", 1).OnNode("n1").Ptr();
  AddPod(low);
  AddPod(Pod("high", "2", 10));
  Turn();
  ASSERT_THAT(Deletions(), ElementsAre("default/low"));
  // It comes when the room is free but the preemptor still backs off.
  DeletePod(low);
  AddPod(Pod("sneaky", "2", 5));
  Advance(seconds(3));
  EXPECT_THAT(Bindings(), ElementsAre("default/high -> n1"));
}

TEST_F(PreemptionTest, TheRoomOfANominatedPodThatGoesElsewhereIsThatOfThoseThatWait) {
  const auto node = [](std::string_view name) {
    return test::MakeNode(name).Allocatable({{"cpu", "2"}});
  };
  AddNode(node("n2").Taint("closed", "", "NoSchedule"));
  const auto low = Pod("low", "2", 1).OnNode("n1").Ptr();
  AddPod(low);
  AddPod(Pod("high", "2", 10).Tolerate("high", "Exists", "", "NoSchedule"));
  Turn();
  ASSERT_THAT(Deletions(), ElementsAre("default/low"));
  DeletePod(low);
  // The room is promised to the first, and nothing that comes after helps the one that waits for
  // it.
  AddPod(Pod("other", "2", 10).Tolerate("other", "Exists", "", "NoSchedule"));
  UpdateNode(node("n1").Ptr(), node("n1").Taint("other", "", "NoSchedule").Ptr());
  UpdateNode(node("n2").Taint("closed", "", "NoSchedule").Ptr(),
             node("n2").Taint("high", "", "NoSchedule").Ptr());
  Advance(seconds(60));
  EXPECT_THAT(Bindings(), ElementsAre("default/high -> n2", "default/other -> n1"));
}

TEST_F(PreemptionTest, AMoreImportantPodTakesTheNominatedRoom) {
  const auto low = Pod("low", "2", 1).OnNode("n1").Ptr();
  AddPod(low);
  AddPod(Pod("high", "2", 10));
  Turn();
  AddPod(Pod("higher", "2", 20));
  Turn();
  DeletePod(low);
  Advance(seconds(3));
  EXPECT_THAT(Bindings(), ElementsAre("default/higher -> n1"));
}

TEST_F(PreemptionTest, EqualsNominatedForOneNodeGoEachWhenItsOwnVictimIsGone) {
  const auto low1 = Pod("low1", "1", 1).OnNode("n1").Ptr();
  const auto low2 = Pod("low2", "1", 2).OnNode("n1").Ptr();
  AddPod(low1);
  AddPod(low2);
  AddPod(Pod("first", "1", 10));
  Turn();
  ASSERT_THAT(Deletions(), ElementsAre("default/low1"));
  const auto ending = test::PodBuilder(Pod("low1", "1", 1).OnNode("n1"))
                          .DeletedAt(Now())
                          .Condition("DisruptionTarget", "True", "PreemptionByScheduler")
                          .Ptr();
  UpdatePod(low1, ending);
  AddPod(Pod("second", "1", 10));
  Turn();
  ASSERT_THAT(Deletions(), ElementsAre("default/low1", "default/low2"));
  // The first one's victim is gone, the second one's is not.
  DeletePod(ending);
  Advance(seconds(2));
  EXPECT_THAT(Bindings(), ElementsAre("default/first -> n1"));
  DeletePod(low2);
  Advance(seconds(3));
  EXPECT_THAT(Bindings(), ElementsAre("default/first -> n1", "default/second -> n1"));
}

TEST_F(PreemptionTest, NobodyIsEvictedForAPodThatWouldNotFitAnyway) {
  AddPod(Pod("low", "2", 1).OnNode("n1"));
  AddPod(Pod("huge", "3", 10));
  AddPod(Pod("polite", "2", 10).PreemptionPolicy("Never"));
  Turn();
  EXPECT_THAT(Deletions(), IsEmpty());
  EXPECT_THAT(Events("FailedScheduling"),
              UnorderedElementsAre(
                  "0/1 nodes are available: 1 Insufficient cpu. preemption: 0/1 nodes are "
                  "available: 1 Preemption is not helpful for scheduling.",
                  "0/1 nodes are available: 1 Insufficient cpu. preemption: not eligible due to "
                  "preemptionPolicy=Never."));
}

TEST_F(PreemptionTest, VictimsThatAreEndingAreWaitedForNotEvictedAgain) {
  const auto low = Pod("low", "2", 1).OnNode("n1").Ptr();
  AddPod(low);
  const auto high = Pod("high", "2", 10).ResourceVersion("1").Ptr();
  AddPod(high);
  Turn();
  ASSERT_EQ(Deletions().size(), 1u);
  auto ending = test::PodBuilder(Pod("low", "2", 1).OnNode("n1"))
                    .DeletedAt(Now())
                    .Condition("DisruptionTarget", "True", "PreemptionByScheduler");
  UpdatePod(low, ending.Ptr());
  UpdatePod(high, Pod("high", "2", 10).ResourceVersion("2").NominatedNode("n1").Ptr());
  // Something else wakes it early.
  AddNode(test::MakeNode("n2").Allocatable({{"cpu", "1"}}));
  UpdateNode(test::MakeNode("n2").Allocatable({{"cpu", "1"}}).Ptr(),
             test::MakeNode("n2").Allocatable({{"cpu", "2"}}).Taint("t", "", "NoSchedule").Ptr());
  Advance(seconds(3));
  EXPECT_EQ(Deletions().size(), 1u);
  EXPECT_THAT(Bindings(), IsEmpty());
  DeletePod(ending.Ptr());
  Advance(seconds(15));
  EXPECT_THAT(Bindings(), ElementsAre("default/high -> n1"));
}

}  // namespace
}  // namespace berth::scheduler
