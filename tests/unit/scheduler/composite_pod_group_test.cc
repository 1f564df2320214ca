// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <chrono>
#include <map>
#include <set>
#include <string>

#include "tests/unit/scheduler/composite_fixture.h"

// Composite pod groups, decided whole.
namespace berth::scheduler {
namespace {

using std::chrono::seconds;
using testing::AllOf;
using testing::Contains;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;
using testing::UnorderedElementsAre;

class CompositePodGroupTest : public test::CompositeFixture {};

TEST_F(CompositePodGroupTest, AllChildrenStartOrNone) {
  AddNodeWithCpu("n1", 3);
  AddComposite(MakeComposite("job", 2));
  AddChild("left", 2, "job", 2);
  AddChild("right", 2, "job", 2);
  Turn();
  EXPECT_THAT(Bindings(), IsEmpty());
  EXPECT_EQ(scheduler().cache().num_assumed(), 0u);
  // The first one would fit; what keeps it waiting is the group above it.
  EXPECT_THAT(GroupStatusPatches("left"),
              ElementsAre(AllOf(HasSubstr("\"status\":\"False\""),
                                HasSubstr("0/1 placements are available, first placement status: "
                                          "minCount (2) cannot be satisfied: 1 scheduled, 0 "
                                          "remaining"))));
  EXPECT_THAT(GroupStatusPatches("right"),
              ElementsAre(HasSubstr("first placement status: minCount (2) cannot be satisfied: 1 "
                                    "scheduled, 0 remaining")));
  EXPECT_THAT(StatusPatches("left-0"), Each(HasSubstr("minCount (2) cannot be satisfied: 1 "
                                                      "scheduled, 0 remaining")));
  EXPECT_THAT(StatusPatches("right-1"), Each(HasSubstr("Insufficient cpu")));

  AddNodeWithCpu("n2", 1);
  Advance(seconds(20));
  EXPECT_THAT(Bindings(), SizeIs(4));
  EXPECT_THAT(GroupStatusPatches("left"), Contains(HasSubstr("\"status\":\"True\"")));
  EXPECT_THAT(GroupStatusPatches("right"), Contains(HasSubstr("\"status\":\"True\"")));
}

TEST_F(CompositePodGroupTest, TheOutcomeOfEachGroupFollowsThatOfItsPods) {
  std::vector<std::string> told;
  options_.on_cycle = [&](const CycleOutcome& outcome) {
    told.push_back(outcome.pod.metadata.name);
  };
  options_.on_pod_group = [&](const PodGroupOutcome& outcome) {
    told.push_back(outcome.pod_group.metadata.name);
  };
  Restart();
  Synced();
  AddNodeWithCpu("n1", 1);
  AddComposite(MakeComposite("job", 2));
  AddChild("left", 1, "job", 1);
  AddGroup(MakeChild("right", 1, "job"));
  AddPod(Member("right", 0).Priority(7));
  Turn();
  EXPECT_THAT(told, ElementsAre("left-0", "left", "right-0", "right")) << "a priority of its own";
}

TEST_F(CompositePodGroupTest, TheOtherChildrenStartWithoutOneThatIsNotNeeded) {
  AddNodeWithCpu("n1", 3);
  AddComposite(MakeComposite("job", 2));
  AddChild("a", 1, "job", 1);
  AddChild("big", 3, "job", 3);
  AddChild("c", 2, "job", 2);
  Turn();
  EXPECT_THAT(Bindings(),
              UnorderedElementsAre("default/a-0 -> n1", "default/c-0 -> n1", "default/c-1 -> n1"));
  EXPECT_THAT(GroupStatusPatches("big"), Each(HasSubstr("\"status\":\"False\"")));
  AddNodeWithCpu("n2", 3);
  Advance(seconds(20));
  EXPECT_THAT(Bindings(), SizeIs(6));
  EXPECT_THAT(GroupStatusPatches("big"), Contains(HasSubstr("\"status\":\"True\"")));
}

TEST_F(CompositePodGroupTest, PodsWaitUntilEachGroupThatIsNeededHasItsPods) {
  AddNodeWithCpu("n1", 10);
  AddComposite(MakeComposite("job", 2));
  AddComposite(MakeComposite("inner", 2, "job"));
  AddChild("a", 2, "inner", 2);
  AddChild("b", 1, "inner", 0);
  AddChild("c", 1, "job", 1);
  Advance(seconds(30));
  EXPECT_THAT(Bindings(), IsEmpty());
  EXPECT_THAT(GroupStatusPatches("a"), IsEmpty()) << "nothing was tried";
  AddMembers("b", 1);
  Advance(seconds(5));
  EXPECT_THAT(Bindings(), SizeIs(4));
}

TEST_F(CompositePodGroupTest, APodThatComesLaterJoinsWhatHasStarted) {
  AddNodeWithCpu("n1", 10);
  AddComposite(MakeComposite("job", 2));
  AddChild("left", 1, "job", 1);
  AddChild("right", 1, "job", 1);
  Turn();
  ASSERT_THAT(Bindings(), SizeIs(2));
  AddPod(Member("left", 7));
  Advance(seconds(5));
  EXPECT_THAT(Bindings(), Contains("default/left-7 -> n1"));
}

TEST_F(CompositePodGroupTest, ChildrenAreTriedInTheOrderOfTheirCreation) {
  AddNodeWithCpu("n1", 1);
  AddComposite(MakeComposite("job", 0));
  const auto created = [&](const std::string& name, int second) {
    api::PodGroup group = *MakeChild(name, 1, "job");
    group.metadata.creation_timestamp = Time(seconds(second));
    AddGroup(std::make_shared<const api::PodGroup>(std::move(group)));
    AddMembers(name, 1);
  };
  created("a", 3);
  created("b", 2);
  created("c", 2);
  Turn();
  EXPECT_THAT(Bindings(), ElementsAre("default/b-0 -> n1"));
}

TEST_F(CompositePodGroupTest, AChildThatDoesNotFitLeavesItsRoomToTheNext) {
  AddNodeWithCpu("n1", 3);
  AddComposite(MakeComposite("job", 1));
  AddComposite(MakeComposite("inner", 2, "job"));
  AddChild("a", 2, "inner", 2);
  AddChild("b", 2, "inner", 2);
  AddChild("z", 3, "job", 3);
  Turn();
  EXPECT_THAT(Bindings(), SizeIs(3));
  EXPECT_THAT(Bindings(), Each(HasSubstr("default/z-")));
}

TEST_F(CompositePodGroupTest, TheWholeTreeGoesToOneZoneAndEachGroupToOneRack) {
  AddNodeIn("a1", "a", "a1", 2);
  AddNodeIn("a2", "a", "a2", 1);
  AddNodeIn("b1", "b", "b1", 2);
  AddNodeIn("b2", "b", "b2", 2);
  AddNodeIn("b3", "b", "b3", 1);
  api::CompositePodGroup job = MakeComposite("job", 2);
  KeepIn("zone", job);
  AddComposite(std::move(job));
  for (const std::string name : {"left", "right"}) {
    api::PodGroup group = *MakeChild(name, 2, "job");
    KeepIn("rack", group);
    AddGroup(std::make_shared<const api::PodGroup>(std::move(group)));
    AddMembers(name, 3);
  }
  Turn();
  // Of the three pods of a group two fit into a rack of the zone; the third may not leave it.
  EXPECT_THAT(Bindings(), SizeIs(4));
  EXPECT_THAT(Bindings(), Each(HasSubstr(" -> b")));
  EXPECT_THAT(Bindings(), Each(Not(HasSubstr("b3"))));
  std::map<std::string, std::set<std::string>> nodes;
  for (const std::string& binding : Bindings()) {
    nodes[binding.substr(8, 4)].insert(binding.substr(binding.size() - 2));
  }
  for (const auto& [group, used] : nodes) EXPECT_THAT(used, SizeIs(1)) << group;
}

TEST_F(CompositePodGroupTest, AProblemOfOnePodFailsTheWholeTree) {
  AddNodeWithCpu("n1", 10);
  AddComposite(MakeComposite("job", 2));
  AddChild("left", 1, "job", 1);
  AddGroup(MakeChild("right", 1, "job"));
  AddPod(Member("right", 0).Priority(7));
  Turn();
  EXPECT_THAT(Bindings(), IsEmpty());
  for (const std::string name : {"left", "right"}) {
    EXPECT_THAT(GroupStatusPatches(name),
                ElementsAre(AllOf(HasSubstr("SchedulerError"), HasSubstr("got 7 and 0"))));
  }
}

TEST_F(CompositePodGroupTest, APreviewOfOnePodTriesItsWholeTree) {
  AddNodeWithCpu("n1", 3);
  AddComposite(MakeComposite("job", 2));
  AddChild("left", 2, "job", 2);
  AddChild("right", 2, "job", 2);
  Turn();
  const auto group = scheduler().PreviewPodGroup(*Member("right", 0).Ptr());
  ASSERT_TRUE(group);
  EXPECT_EQ(group->composite_pod_group, "default/job");
  EXPECT_EQ(group->pod_group, "default/right");
  EXPECT_EQ(group->min_group_count, 2);
  EXPECT_EQ(group->existing, 4u);
  EXPECT_THAT(group->waiting, SizeIs(4));
  EXPECT_EQ(group->fitting, 3u);
  EXPECT_FALSE(group->starts);
  EXPECT_THAT(group->message, HasSubstr("minCount (2) cannot be satisfied: 1 scheduled"));
  EXPECT_EQ(scheduler().cache().num_assumed(), 0u);

  AddNodeWithCpu("n2", 1);
  Advance(std::chrono::milliseconds(10));
  EXPECT_TRUE(scheduler().PreviewPodGroup(*Member("left", 0).Ptr())->starts);
}

TEST_F(CompositePodGroupTest, APreviewSaysThatAGroupAboveIsMissing) {
  AddChild("left", 1, "job", 1);
  Turn();
  const auto group = scheduler().PreviewPodGroup(*Member("left", 0).Ptr());
  ASSERT_TRUE(group);
  EXPECT_TRUE(group->exists);
  EXPECT_EQ(group->message, "a composite pod group above it is not found");
}

class CompositePreemptionTest : public test::CompositeFixture {
 protected:
  static test::PodBuilder Placed(const std::string& name, const std::string& node) {
    return test::MakePod().Name(name).Uid("uid-" + name).Req({{"cpu", "1"}}).OnNode(node);
  }
};

TEST_F(CompositePreemptionTest, ATreeMakesRoomForAllOfItAndStartsOnceItIsThere) {
  std::map<std::string, std::shared_ptr<const api::Pod>> low;
  for (const std::string node : {"n1", "n2", "n3"}) {
    AddNodeWithCpu(node, 1);
    AddPod(low[node] = Placed("low-" + node, node).Ptr());
  }
  AddComposite(MakeComposite("job", 2, {}, 10));
  AddGroup(MakeChild("left", 1, "job", 10));
  AddGroup(MakeChild("right", 1, "job", 10));
  AddPod(Member("left", 0).Priority(10));
  AddPod(Member("right", 0).Priority(10));
  Turn();
  EXPECT_THAT(Deletions(), SizeIs(2));
  EXPECT_THAT(Events("Preempted"),
              Each("Preempted by compositepodgroup uid-composite-job on node cluster"));
  EXPECT_THAT(RelatedTo("Preempted"),
              Each("scheduling.k8s.io/v1alpha3 CompositePodGroup default/job uid-composite-job"));
  EXPECT_THAT(GroupStatusPatches("left"),
              ElementsAre(HasSubstr("found a placement for podgroup, preempting 2 victims")));
  EXPECT_EQ(scheduler().cache().num_assumed(), 0u);
  for (const auto& [node, pod] : low) {
    if (testing::Value(Deletions(), Contains("default/" + pod->metadata.name))) DeletePod(pod);
  }
  Advance(seconds(20));
  EXPECT_THAT(Bindings(), SizeIs(2));
}

// As kube-scheduler does: room is made also for what found a node in a group that does not start.
TEST_F(CompositePreemptionTest, APodOfAGroupThatDoesNotFitKeepsTheNodeItFoundInTheDryRun) {
  for (const std::string node : {"n1", "n2"}) {
    AddNodeWithCpu(node, 1);
    AddPod(Placed("low-" + node, node));
  }
  AddComposite(MakeComposite("job", 1, {}, 10));
  AddGroup(MakeChild("left", 1, "job", 10));
  AddGroup(MakeChild("right", 2, "job", 10));
  AddPod(Member("left", 0).Priority(10));
  AddPod(Member("right", 0).Priority(10));
  AddPod(Member("right", 1).Priority(10));
  Turn();
  EXPECT_THAT(Deletions(), SizeIs(2));
  EXPECT_THAT(GroupStatusPatches("right"),
              ElementsAre(HasSubstr("found a placement for podgroup, preempting 2 victims")));
}

// As kube-scheduler does: the pods of both groups have got the same nodes, and together they never
// fit, whatever comes back where none of them is.
TEST_F(CompositePreemptionTest, NothingIsSparedWhereAGroupThatDoesNotFitHasTakenTheRoomOfOthers) {
  for (const std::string node : {"n1", "n2"}) {
    AddNodeWithCpu(node, 1);
    AddPod(Placed("low-" + node, node));
  }
  AddNode(test::MakeNode("closed")
              .Allocatable({{"cpu", "1"}, {"memory", "32Gi"}, {"pods", "110"}})
              .Taint("closed", "", "NoSchedule"));
  AddPod(Placed("low-closed", "closed"));
  AddComposite(MakeComposite("job", 1, {}, 10));
  AddGroup(MakeChild("left", 3, "job", 10));
  AddGroup(MakeChild("right", 1, "job", 10));
  for (int i = 0; i < 3; ++i) AddPod(Member("left", i).Priority(10));
  AddPod(Member("right", 0).Priority(10));
  Turn();
  EXPECT_THAT(Deletions(),
              UnorderedElementsAre("default/low-n1", "default/low-n2", "default/low-closed"));
}

TEST_F(CompositePreemptionTest, WhatAGroupThatDoesNotFitHadPlacedIsUnknownToTheNextOnesFilters) {
  AddNodeIn("n1", "east", "r1", 3);
  AddPod(Placed("low-small", "n1"));
  AddPod(test::MakePod().Name("low-large").Uid("uid-low-large").Req({{"cpu", "2"}}).OnNode("n1"));
  AddComposite(MakeComposite("job", 1, {}, 10));
  AddGroup(MakeChild("left", 2, "job", 10));
  AddGroup(MakeChild("right", 1, "job", 10));
  AddPod(Member("left", 0).Priority(10).Label("app", "left"));
  AddPod(Member("left", 1).Priority(10).Req({{"cpu", "9"}}));
  AddPod(Member("right", 0).Priority(10).PodAntiAffinity("zone", {{"app", "left"}}));
  Turn();
  EXPECT_THAT(Deletions(), ElementsAre("default/low-large"));
}

TEST_F(CompositePreemptionTest, ATreeThatIsEvictedWholeGoesWithAllGroupsBelowIt) {
  AddNodeWithCpu("n1", 1);
  AddNodeWithCpu("n2", 1);
  api::CompositePodGroup job = MakeComposite("job", 2, {}, 1);
  job.spec.disruption_mode.emplace().all.emplace();
  AddComposite(std::move(job));
  // Its own priority does not count: the root's does.
  AddGroup(MakeChild("left", 1, "job", 50));
  AddGroup(MakeChild("right", 1, "job", 50));
  AddPod(Placed("left-0", "n1").SchedulingGroup("left").Priority(1));
  AddPod(Placed("right-0", "n2").SchedulingGroup("right").Priority(1));
  AddPod(test::MakePod().Name("web").Uid("uid-web").Req({{"cpu", "1"}}).Priority(5));
  Turn();
  EXPECT_THAT(Deletions(), UnorderedElementsAre("default/left-0", "default/right-0"));
}

}  // namespace
}  // namespace berth::scheduler
