// SPDX-License-Identifier: Apache-2.0
// The plugin Relocation in a whole scheduler, in front of the API server in memory.
#include <gmock/gmock.h>

#include <chrono>

#include "src/engine/judgement.h"
#include "tests/unit/simulator/relocation_fixture.h"

namespace berth::simulator {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::UnorderedElementsAre;
using namespace std::chrono_literals;

class RelocationTest : public test::SimulatorFixture {
 protected:
  RelocationTest() { Use({}); }

  void Use(const std::map<std::string, int64_t>& args) {
    Restart(test::OptionsWithRelocation(args));
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
  static test::PodBuilder Big(std::string_view cpu = "3") {
    return test::MakePod().Name("big").SchedulerName("default-scheduler").Req({{"cpu", cpu}});
  }
  static test::PodBuilder Other() {
    return test::MakePod().Name("other").SchedulerName("default-scheduler").Req({{"cpu", "1"}});
  }
  // Three cores on n1 are a pod away, which fits on n2 alone.
  void ApplyFragments() {
    for (const char* node : {"n1", "n2", "n3"}) Apply(Node(node));
    Apply(Web("web-0", "n1"));
    Apply(Web("web-1", "n1"));
    Apply(Alone("db", "n2", "3"));
    Apply(Alone("log", "n3", "3500m"));
  }
  // Until the pod's first attempt has failed, and it has waited as long as it has to.
  void Wait(Duration by = 61s) {
    simulation_->Start();
    simulation_->RunDue();
    simulation_->Advance(by);
  }
  const std::vector<std::string>& evicted() const { return simulation_->api().evicted(); }
  std::vector<std::string> Relocated() const {
    std::vector<std::string> notes;
    for (const WrittenEvent& event : simulation_->api().events()) {
      if (event.reason == "Relocated") notes.push_back(event.regarding + ": " + event.note);
    }
    return notes;
  }
};

TEST_F(RelocationTest, OneMoveMakesRoom) {
  ApplyFragments();
  Apply(Big());
  Wait(59s);
  EXPECT_THAT(evicted(), IsEmpty());
  EXPECT_THAT(MessageOf("default/big"),
              HasSubstr("relocation: the pod has not waited for minPendingSeconds"));
  simulation_->Advance(2s);
  EXPECT_THAT(evicted(), ElementsAre("default/web-1"));
  EXPECT_EQ(NodeOf("default/big"), "n1");
  EXPECT_THAT(Relocated(), ElementsAre("default/web-1: Evicted so that pod default/big has room on "
                                       "node n1; the pod in its place fits on node n2"));
}

TEST_F(RelocationTest, TheSmallestThatIsEnoughMovesWhereTheLargerFitsNowhere) {
  for (const char* node : {"n1", "n2"}) Apply(Node(node));
  Apply(Web("large", "n1", "2"));
  Apply(Web("small", "n1", "1"));
  Apply(Alone("db", "n2", "3"));
  Apply(Big("2"));
  Wait();
  EXPECT_THAT(evicted(), ElementsAre("default/small"));
  EXPECT_EQ(NodeOf("default/big"), "n1");
}

TEST_F(RelocationTest, WhoHasNoOtherPlaceStays) {
  for (const char* node : {"n1", "n2"}) Apply(Node(node));
  Apply(Web("web-0", "n1", "2"));
  Apply(Alone("db", "n1", "1"));
  Apply(Alone("log", "n2", "2500m"));
  Apply(Big("2500m"));
  Wait();
  EXPECT_THAT(evicted(), IsEmpty());
  EXPECT_THAT(MessageOf("default/big"), HasSubstr("relocation: no moves of other pods make room"));
}

TEST_F(RelocationTest, PodsOfHigherPriorityAndThoseOfNoControllerStay) {
  for (const char* node : {"n1", "n2"}) Apply(Node(node));
  Apply(Web("important", "n1").Priority(1));
  Apply(Alone("db", "n1", "1"));
  Apply(Big());
  Apply(Alone("log", "n2", "2"));
  Wait();
  EXPECT_THAT(evicted(), IsEmpty());
}

TEST_F(RelocationTest, APodThatMayNotPreemptMovesNoOther) {
  ApplyFragments();
  Apply(Big().PreemptionPolicy("Never"));
  Wait();
  EXPECT_THAT(evicted(), IsEmpty());
  EXPECT_THAT(MessageOf("default/big"),
              HasSubstr("relocation: not eligible due to preemptionPolicy=Never."));
}

TEST_F(RelocationTest, BudgetsAreKeptTogether) {
  for (const char* node : {"n1", "n2"}) Apply(Node(node));
  for (const char* name : {"web-0", "web-1", "web-2"}) Apply(Web(name, "n1"));
  simulation_->Apply(test::Budget("keep", "web", 1));
  Apply(Alone("db", "n2", "2"));
  Apply(Big());
  Wait();
  EXPECT_THAT(evicted(), IsEmpty()) << "two would have to go";
  simulation_->Apply(test::Budget("keep", "web", 2));
  simulation_->Advance(10min);
  EXPECT_THAT(evicted(), UnorderedElementsAre("default/web-1", "default/web-2"));
  EXPECT_EQ(NodeOf("default/big"), "n1");
}

TEST_F(RelocationTest, TheRestIsGivenUpWhereTheApiServerRefusesOne) {
  for (const char* node : {"n1", "n2"}) Apply(Node(node));
  for (const char* name : {"web-0", "web-1", "web-2"}) Apply(Web(name, "n1"));
  Apply(Alone("db", "n2", "2"));
  Apply(Big());
  simulation_->api().set_fault(
      [](const client::Request& request) -> std::optional<client::ResponseResult> {
        if (!request.path.ends_with("/eviction")) return std::nullopt;
        return tl::unexpected(client::ApiError{429, "TooManyRequests", "not now"});
      });
  Wait();
  EXPECT_THAT(evicted(), IsEmpty());
  EXPECT_THAT(Relocated(), IsEmpty());
  EXPECT_EQ(NodeOf("default/big"), "");
  simulation_->api().set_fault(nullptr);
  simulation_->Advance(30s);
  EXPECT_THAT(evicted(), IsEmpty()) << "it is not sought again at once";
  simulation_->Advance(31s);
  EXPECT_EQ(NodeOf("default/big"), "n1") << "what was refused is no move";
}

TEST_F(RelocationTest, NoMoreMoveForAPodThanTheArgSays) {
  Use({{"maxMovesPerPod", 1}, {"minPendingSeconds", 0}});
  for (const char* node : {"n1", "n2"}) Apply(Node(node));
  for (const char* name : {"web-0", "web-1", "web-2"}) Apply(Web(name, "n1"));
  Apply(Alone("db", "n2", "2"));
  Apply(Big());
  Wait();
  EXPECT_THAT(evicted(), IsEmpty());
}

TEST_F(RelocationTest, NoMoreMoveInAnHourThanTheArgSays) {
  Use({{"maxMovesPerHour", 1}});
  ApplyFragments();
  Apply(Node("n4"));
  Apply(Web("web-2", "n4"));
  Apply(Web("web-3", "n4"));
  Apply(Big());
  Apply(Big("3").Name("big-2").Uid("big-2"));
  Wait();
  EXPECT_EQ(evicted().size(), 1u);
  simulation_->Advance(50min);
  EXPECT_EQ(evicted().size(), 1u);
  simulation_->Advance(20min);
  EXPECT_EQ(evicted().size(), 2u);
}

TEST_F(RelocationTest, ThePlaceOfAPodUnderWayIsTaken) {
  // Either pod gets its room by a move to n3, which has room for one.
  for (const char* node : {"n1", "n2", "n3"}) Apply(Node(node));
  Apply(Web("web-0", "n1", "2"));
  Apply(Alone("a", "n1", "1"));
  Apply(Web("web-1", "n2", "2"));
  Apply(Alone("b", "n2", "1"));
  Apply(Alone("c", "n3", "2"));
  simulation_->api().set_pod_ends([] { return Duration(30s); });
  Apply(Big());
  Apply(Big().Name("big-2").Uid("big-2"));
  Wait(70s);
  EXPECT_EQ(evicted().size(), 1u);
}

TEST_F(RelocationTest, NothingMovesForRoomThatComesByItself) {
  ApplyFragments();
  Apply(Node("n4"));
  Apply(Alone("going", "n4", "3").DeletedAt(simulation_->now() + 10min));
  Apply(Big());
  Wait();
  EXPECT_THAT(evicted(), IsEmpty());
  EXPECT_THAT(MessageOf("default/big"),
              HasSubstr("relocation: the pod fits once pods that are being deleted have ended"));
}

TEST_F(RelocationTest, ThePodKeepsItsNodeUntilAllHaveGone) {
  ApplyFragments();
  simulation_->api().set_pod_ends([] { return Duration(30s); });
  Apply(Big());
  Wait(62s);
  EXPECT_THAT(evicted(), ElementsAre("default/web-1"));
  EXPECT_EQ(simulation_->FindPod("default/big")->status.nominated_node_name, "n1");
  Apply(Web("web-2", ""));
  simulation_->RunDue();
  EXPECT_EQ(NodeOf("default/web-2"), "n2");
  // Whatever wakes it meanwhile.
  Apply(Node("n5", "1"));
  simulation_->Advance(15s);
  EXPECT_EQ(simulation_->FindPod("default/big")->status.nominated_node_name, "n1");
  EXPECT_EQ(evicted().size(), 1u);
  simulation_->Advance(20s);
  EXPECT_EQ(NodeOf("default/big"), "n1");
}

// n2 has room for one pod of a core.
TEST_F(RelocationTest, ThePlaceOfTheNextPodIsHeld) {
  ApplyFragments();
  Apply(Big());
  Wait(62s);
  EXPECT_THAT(evicted(), ElementsAre("default/web-1"));
  Apply(Other());
  simulation_->RunDue();
  EXPECT_EQ(NodeOf("default/other"), "");
  Apply(Web("web-2", ""));
  simulation_->RunDue();
  EXPECT_EQ(NodeOf("default/web-2"), "n2");
  EXPECT_EQ(NodeOf("default/other"), "");
}

TEST_F(RelocationTest, APlaceThatIsHeldInVainIsGivenBack) {
  ApplyFragments();
  Apply(Big());
  Wait(62s);
  EXPECT_THAT(evicted(), ElementsAre("default/web-1"));
  Apply(Other());
  simulation_->Advance(110s);
  EXPECT_EQ(NodeOf("default/other"), "");
  simulation_->Advance(30s);
  EXPECT_EQ(NodeOf("default/other"), "n2");
  EXPECT_EQ(evicted().size(), 1u);
}

TEST_F(RelocationTest, NoPlaceIsHeldForAPodThatStays) {
  ApplyFragments();
  simulation_->api().set_fault(
      [](const client::Request& request) -> std::optional<client::ResponseResult> {
        if (!request.path.ends_with("/eviction")) return std::nullopt;
        return tl::unexpected(client::ApiError{429, "TooManyRequests", "not now"});
      });
  Apply(Big());
  Wait(70s);
  Apply(Alone("filler", "n1", "2"));
  Apply(Other());
  simulation_->RunDue();
  EXPECT_EQ(NodeOf("default/other"), "n2");
}

TEST_F(RelocationTest, APreviewTellsAndMovesNothing) {
  ApplyFragments();
  Apply(Big());
  simulation_->RunDue();
  const auto judgement = simulation_->scheduler().Judge(simulation_->FindPod("default/big"));
  judgement->Explain();
  judgement->PreviewPreemption();
  ASSERT_TRUE(judgement->preemption());
  EXPECT_TRUE(judgement->preemption()->moved);
  ASSERT_EQ(judgement->preemption()->candidates.size(), 1u);
  const PreemptionCandidate& candidate = judgement->preemption()->candidates.front();
  EXPECT_EQ(judgement->snapshot().node(candidate.row).metadata.name, "n1");
  ASSERT_EQ(candidate.victims.size(), 1u);
  EXPECT_EQ(candidate.victims.front()->pod->metadata.name, "web-1");
  simulation_->RunDue();
  EXPECT_THAT(evicted(), IsEmpty());
}

}  // namespace
}  // namespace berth::simulator
