// SPDX-License-Identifier: Apache-2.0
// The plugin Relocation and pod groups, in a whole scheduler, in front of the API server in memory.
#include <gmock/gmock.h>

#include <chrono>

#include "tests/unit/simulator/relocation_fixture.h"

namespace berth::simulator {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using testing::UnorderedElementsAre;
using namespace std::chrono_literals;

class GroupRelocationTest : public test::SimulatorFixture {
 protected:
  GroupRelocationTest() { Use({}); }

  void Use(const std::map<std::string, int64_t>& args) {
    simulator::SimulationOptions options = test::OptionsWithGroupRelocation(args);
    options.scheduler.on_pod_group = [this](const scheduler::PodGroupOutcome& outcome) {
      message_ = outcome.message;
    };
    Restart(std::move(options));
  }
  static test::NodeBuilder Node(std::string_view name, std::string_view cpu = "4") {
    return test::MakeNode(name).Allocatable({{"cpu", cpu}, {"pods", "20"}});
  }
  // A ReplicaSet's.
  static test::PodBuilder Web(std::string_view name, std::string_view node,
                              std::string_view cpu = "1") {
    return test::MakePod()
        .Name(name)
        .SchedulerName("default-scheduler")
        .Label("app", "web")
        .Owner("ReplicaSet", "web", "rs")
        .OnNode(node)
        .Req({{"cpu", cpu}})
        .Condition("Ready", "True", "", "");
  }
  static test::PodBuilder Alone(std::string_view name, std::string_view node,
                                std::string_view cpu) {
    return test::MakePod().Name(name).OnNode(node).Req({{"cpu", cpu}});
  }
  // "train-0" and so on, all of which must start.
  void ApplyGang(int count, std::string_view cpu = "3",
                 std::string_view preemption_policy = "PreemptLowerPriority") {
    auto group = std::make_shared<api::PodGroup>();
    group->metadata.namespace_ = "default";
    group->metadata.name = "train";
    group->metadata.uid = "uid-group-train";
    group->spec.scheduling_policy.gang = api::GangSchedulingPolicy{count};
    simulation_->Apply(std::shared_ptr<const api::PodGroup>(std::move(group)));
    for (int i = 0; i < count; ++i) {
      Apply(test::MakePod()
                .Name("train-" + std::to_string(i))
                .SchedulerName("default-scheduler")
                .Req({{"cpu", cpu}})
                .PreemptionPolicy(preemption_policy)
                .SchedulingGroup("train"));
    }
  }
  // Two nodes that each have three cores but for a pod, which n3 and n4 have room for.
  void ApplyPieces() {
    for (const char* node : {"n1", "n2", "n3", "n4"}) Apply(Node(node));
    Apply(Web("web-1", "n1", "2"));
    Apply(Web("web-2", "n2", "2"));
    Apply(Alone("db", "n3", "2"));
    Apply(Alone("log", "n4", "2"));
  }
  void Wait(Duration by = 61s) {
    simulation_->Start();
    simulation_->RunDue();
    simulation_->Advance(by);
  }
  const std::vector<std::string>& evicted() const { return simulation_->api().evicted(); }
  std::string message_;  // of the group's condition

  std::string NominatedOf(std::string_view key) const {
    return simulation_->FindPod(key)->status.nominated_node_name;
  }
};

TEST_F(GroupRelocationTest, AGangStartsWholeOnceOthersHaveMoved) {
  ApplyPieces();
  ApplyGang(2);
  Wait(59s);
  EXPECT_THAT(evicted(), IsEmpty());
  EXPECT_THAT(message_,
              HasSubstr("pod group relocation: the group has not waited for minPendingSeconds"));
  simulation_->Advance(2s);
  EXPECT_THAT(evicted(), UnorderedElementsAre("default/web-1", "default/web-2"));
  simulation_->Advance(20s);  // its backoff
  EXPECT_THAT(NodeOf("default/train-0") + " " + NodeOf("default/train-1"),
              testing::AnyOf("n1 n2", "n2 n1"));
  std::vector<std::string> notes;
  for (const WrittenEvent& event : simulation_->api().events()) {
    if (event.reason == "Relocated") notes.push_back(event.note);
  }
  EXPECT_THAT(notes, SizeIs(2));
  EXPECT_THAT(notes, Each(HasSubstr("Evicted so that pod group default/train has room; the pod in "
                                    "its place fits on node n")));
}

TEST_F(GroupRelocationTest, NothingMovesForAPartOfAGang) {
  ApplyPieces();
  ApplyGang(3);
  Wait(10min);
  EXPECT_THAT(evicted(), IsEmpty()) << "two of the three would have room";
  EXPECT_THAT(message_, HasSubstr("pod group relocation: no moves of other pods make room"));
}

TEST_F(GroupRelocationTest, WhoHasNoOtherPlaceStays) {
  for (const char* node : {"n1", "n2"}) Apply(Node(node));
  Apply(Web("web-1", "n1", "2"));
  Apply(Web("web-2", "n2", "2"));
  ApplyGang(2);
  Wait(10min);
  EXPECT_THAT(evicted(), IsEmpty());
}

TEST_F(GroupRelocationTest, OnlyThoseMoveThatAreNeeded) {
  ApplyPieces();
  for (const char* node : {"n1", "n2"}) Apply(Web(std::string("small-") + node, node, "1"));
  ApplyGang(2);
  Wait();
  EXPECT_THAT(evicted(), UnorderedElementsAre("default/web-1", "default/web-2"));
}

// Two of the four leave room for one pod of the group alone, and the other nowhere has any.
TEST_F(GroupRelocationTest, ANodeMakesRoomForSeveralPods) {
  Apply(Node("n1"));
  Apply(Node("n2").Taint("only", "web", "NoSchedule"));
  for (const char* name : {"web-1", "web-2", "web-3", "web-4"}) {
    Apply(Web(name, "n1").Tolerate("only", "Exists", "", ""));
  }
  ApplyGang(2, "2");
  Wait();
  EXPECT_THAT(evicted(), SizeIs(4));
  simulation_->Advance(20s);
  EXPECT_EQ(NodeOf("default/train-0"), "n1");
  EXPECT_EQ(NodeOf("default/train-1"), "n1");
}

TEST_F(GroupRelocationTest, BudgetsAreKeptTogether) {
  ApplyPieces();
  simulation_->Apply(test::Budget("keep", "web", 1));
  ApplyGang(2);
  Wait();
  EXPECT_THAT(evicted(), IsEmpty()) << "two would have to go";
  simulation_->Apply(test::Budget("keep", "web", 2));
  simulation_->Advance(10min);
  EXPECT_THAT(evicted(), SizeIs(2));
  EXPECT_NE(NodeOf("default/train-0"), "");
}

TEST_F(GroupRelocationTest, MovesOfAnHourAndOfThePodsAreCounted) {
  Use({{"maxMovesPerHour", 1}});
  ApplyPieces();
  ApplyGang(2);
  Wait(10min);
  EXPECT_THAT(evicted(), IsEmpty());
  // Each pod of the group may have one.
  Use({{"maxMovesPerPod", 1}});
  ApplyPieces();
  ApplyGang(2);
  Wait(10min);
  EXPECT_THAT(evicted(), SizeIs(2));
}

TEST_F(GroupRelocationTest, AGroupThatMayNotPreemptMovesNoOther) {
  ApplyPieces();
  ApplyGang(2, "3", "Never");
  Wait(10min);
  EXPECT_THAT(evicted(), IsEmpty());
  EXPECT_THAT(message_,
              HasSubstr("pod group relocation: not eligible due to preemptionPolicy=Never."));
}

TEST_F(GroupRelocationTest, NothingMovesForRoomThatComesByItself) {
  ApplyPieces();
  Apply(Node("n5"));
  Apply(Node("n6"));
  Apply(Alone("going-1", "n5", "3").DeletedAt(simulation_->now() + 10min));
  Apply(Alone("going-2", "n6", "3").DeletedAt(simulation_->now() + 10min));
  ApplyGang(2);
  Wait();
  EXPECT_THAT(evicted(), IsEmpty());
  EXPECT_THAT(
      message_,
      HasSubstr("pod group relocation: the group fits once pods that are being deleted have "
                "ended"));
}

TEST_F(GroupRelocationTest, TheGroupKeepsItsNodesUntilAllHaveGone) {
  ApplyPieces();
  simulation_->api().set_pod_ends([] { return Duration(30s); });
  ApplyGang(2);
  Wait(62s);
  EXPECT_THAT(evicted(), SizeIs(2));
  const std::string node = NominatedOf("default/train-0");
  EXPECT_THAT(node, testing::AnyOf("n1", "n2"));
  // Whatever wakes it meanwhile, and whoever wants the room.
  Apply(Node("n5", "1"));
  simulation_->Advance(15s);
  EXPECT_EQ(NominatedOf("default/train-0"), node);
  EXPECT_THAT(evicted(), SizeIs(2));
  simulation_->Advance(35s);
  EXPECT_EQ(NodeOf("default/train-0"), node);
  EXPECT_NE(NodeOf("default/train-1"), "");
}

TEST_F(GroupRelocationTest, TheRestIsGivenUpWhereTheApiServerRefusesOne) {
  ApplyPieces();
  ApplyGang(2);
  simulation_->api().set_fault(
      [](const client::Request& request) -> std::optional<client::ResponseResult> {
        if (!request.path.ends_with("/eviction")) return std::nullopt;
        return tl::unexpected(client::ApiError{429, "TooManyRequests", "not now"});
      });
  Wait(70s);
  EXPECT_THAT(evicted(), IsEmpty());
  EXPECT_EQ(NominatedOf("default/train-0"), "") << "what was held in vain is given back";
  simulation_->api().set_fault(nullptr);
  simulation_->Advance(2min);
  EXPECT_THAT(evicted(), SizeIs(2));
  EXPECT_NE(NodeOf("default/train-0"), "");
}

}  // namespace
}  // namespace berth::simulator
