// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <chrono>
#include <set>
#include <string>
#include <vector>

#include "tests/unit/scheduler/pod_group_fixture.h"

// Pod groups with a topology constraint.
namespace berth::scheduler {
namespace {

using std::chrono::seconds;
using testing::Each;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

class PodGroupTopologyTest : public test::PodGroupFixture {
 protected:
  PodGroupTopologyTest() {
    options_.features.topology_aware_workload_scheduling = true;
    std::vector<config::PluginRef> plugins = test::DefaultPlugins();
    plugins.insert(plugins.end(),
                   {{"GangScheduling"}, {"TopologyPlacementGenerator"}, {"PodGroupPodsCount", 1}});
    options_.configuration = config::DefaultConfiguration({plugins});
    Restart();
    Synced();
  }

  static GroupPtr InOneRack(const std::string& name, int32_t min_count, int32_t priority = 0) {
    auto group = std::make_shared<api::PodGroup>(*MakeGroup(name, min_count, priority));
    group->spec.scheduling_constraints.emplace().topology.push_back({"rack"});
    return group;
  }
  void AddRackNode(const std::string& rack, int number, int cpu) {
    AddNode(test::MakeNode(rack + std::to_string(number))
                .Label("rack", rack)
                .Allocatable({{"cpu", std::to_string(cpu)}, {"memory", "32Gi"}, {"pods", "110"}}));
  }
};

TEST_F(PodGroupTopologyTest, OfTwoRacksThatAGangFitsIntoTheFullerOneIsTaken) {
  AddRackNode("a", 0, 8);
  AddRackNode("b", 0, 3);
  AddGroup(InOneRack("train", 3));
  AddMembers("train", 3);
  Turn();
  EXPECT_THAT(Bindings(), SizeIs(3));
  EXPECT_THAT(Bindings(), Each(HasSubstr(" -> b0")));
}

TEST_F(PodGroupTopologyTest, OfEqualRacksEachIsTakenNowAndThen) {
  std::set<std::string> racks;
  for (uint64_t seed = 1; seed < 20; ++seed) {
    options_.seed = seed;
    Restart();
    Synced();
    AddRackNode("a", 0, 2);
    AddRackNode("b", 0, 2);
    AddGroup(InOneRack("train", 2));
    AddMembers("train", 2);
    Turn();
    ASSERT_FALSE(Bindings().empty());
    racks.insert(Bindings().back().substr(Bindings().back().size() - 2));
  }
  EXPECT_THAT(racks, testing::ElementsAre("a0", "b0"));
}

TEST_F(PodGroupTopologyTest, ATryInOneRackLeavesNothingForTheNext) {
  AddRackNode("a", 0, 2);
  AddRackNode("b", 0, 2);
  AddRackNode("b", 1, 1);
  AddGroup(InOneRack("train", 4));
  AddMembers("train", 4);
  Turn();
  EXPECT_THAT(Bindings(), IsEmpty());
  EXPECT_EQ(scheduler().cache().num_assumed(), 0u);
  EXPECT_THAT(GroupStatusPatches("train"),
              Each(HasSubstr("0/2 placements are available, first placement status: minCount (4) "
                             "cannot be satisfied: 3 scheduled, 0 remaining")));
  AddRackNode("a", 1, 2);
  Advance(seconds(20));
  EXPECT_THAT(Bindings(), SizeIs(4));
  EXPECT_THAT(Bindings(), Each(HasSubstr(" -> a")));
}

TEST_F(PodGroupTopologyTest, PodsOfAGroupInTwoRacksAreAnErrorOfTheGroup) {
  AddRackNode("a", 0, 2);
  AddRackNode("b", 0, 2);
  AddGroup(InOneRack("train", 1));
  AddPod(Member("train", 0).OnNode("a0"));
  AddPod(Member("train", 1).OnNode("b0"));
  AddPod(Member("train", 2));
  Turn();
  EXPECT_THAT(GroupStatusPatches("train"),
              Each(HasSubstr("cannot determine domain for already scheduled pods: more than 1 "
                             "domain found for pod group: ")));
}

TEST_F(PodGroupTopologyTest, AGangPreemptsInOneRack) {
  AddRackNode("a", 0, 2);
  AddRackNode("b", 0, 2);
  AddRackNode("b", 1, 1);
  const auto low = test::MakePod().Name("low").Uid("uid-low").Req({{"cpu", "2"}});
  AddPod(test::PodBuilder(low).OnNode("b0"));
  AddGroup(InOneRack("train", 3, 10));
  for (int i = 0; i < 3; ++i) AddPod(Member("train", i).Priority(10));
  Turn();
  EXPECT_THAT(Bindings(), IsEmpty());
  DeletePod(test::PodBuilder(low).OnNode("b0").Ptr());
  Advance(seconds(20));
  EXPECT_THAT(Bindings(), SizeIs(3));
  EXPECT_THAT(Bindings(), Each(HasSubstr(" -> b")));
}

TEST_F(PodGroupTopologyTest, PlacementsAreCounted) {
  AddRackNode("a", 0, 1);
  AddRackNode("b", 0, 3);
  AddGroup(InOneRack("train", 3));
  AddMembers("train", 3);
  Turn();
  const std::string text = Metrics();
  EXPECT_THAT(text,
              HasSubstr("scheduler_generated_placements_total{profile=\"default-scheduler\"} 2"));
  for (const char* result : {"feasible", "infeasible"}) {
    EXPECT_THAT(text,
                HasSubstr("scheduler_placement_evaluations_total{profile=\"default-scheduler\","
                          "result=\"" +
                          std::string(result) + "\"} 1"));
  }
}

}  // namespace
}  // namespace berth::scheduler
