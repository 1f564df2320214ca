// SPDX-License-Identifier: Apache-2.0
#include "src/plan/plan.h"

#include <gmock/gmock.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "berth/in_tree/eviction.h"
#include "tests/unit/plan/plan_fixture.h"

namespace berth::plan {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST_F(PlanTest, OnePodMovesAndTheOtherFits) {
  Apply(Node("n1"));
  Apply(Node("n2"));
  Apply(Replica("a", "1").OnNode("n1"));
  Apply(Replica("b", "2").OnNode("n1"));
  Apply(Replica("c", "2").OnNode("n2"));
  Apply(Replica("big", "3"));
  const Plan plan = Find("fit=default/big");
  EXPECT_EQ(plan.outcome, Plan::Outcome::kFound) << plan.why;
  EXPECT_THAT(Texts(plan), ElementsAre("1 b: n1 -> n2", "1 big: - -> n1"));
  EXPECT_TRUE(plan.has_fewest());
  EXPECT_THAT(plan.moves[0].frees, ElementsAre(std::pair<std::string, int64_t>("cpu", 2000)));
  // Nothing is done.
  EXPECT_EQ(NodeOf("default/b"), "n1");
  EXPECT_EQ(NodeOf("default/big"), "");
}

TEST_F(PlanTest, WhatFitsNeedsNoMove) {
  Apply(Node("n1"));
  Apply(Replica("a"));
  const Plan plan = Find("fit=default/a");
  EXPECT_EQ(plan.outcome, Plan::Outcome::kFound);
  EXPECT_THAT(Texts(plan), ElementsAre("1 a: - -> n1"));
  std::string text;
  AppendTable(plan, text);
  EXPECT_THAT(text, testing::StartsWith("default/a fits as it is.\n"));
}

// b fits only on n3, where c has to leave for n2 first.
TEST_F(PlanTest, APodThatMakesRoomMayNeedRoomItself) {
  Apply(Node("n1", "4"));
  Apply(Node("n2", "1"));
  Apply(Node("n3", "2"));
  Apply(Replica("b", "2").OnNode("n1"));
  Apply(Replica("c", "1").OnNode("n3"));
  Apply(test::MakePod().Name("bare").Req({{"cpu", "1"}}).OnNode("n1"));
  Apply(Replica("big", "3"));
  const Plan plan = Find("fit=default/big");
  EXPECT_EQ(plan.outcome, Plan::Outcome::kFound) << plan.why;
  EXPECT_THAT(Texts(plan), ElementsAre("1 c: n3 -> n2", "1 b: n1 -> n3", "1 big: - -> n1"));
  // By what is requested one move could do.
  EXPECT_EQ(plan.fewest, 1u);
  EXPECT_FALSE(plan.has_fewest());
  const Plan shallow = Find("fit=default/big", {.depth = 1});
  EXPECT_EQ(shallow.outcome, Plan::Outcome::kNotFound);
  EXPECT_THAT(shallow.why, HasSubstr("no moves were found"));
}

TEST_F(PlanTest, WhatMustNotMoveStays) {
  Apply(Node("n1", "2"));
  Apply(Node("n2", "2"));
  const auto with = [](std::string_view name, std::string_view value) {
    return Replica("a", "2").Annotation(name, value).OnNode("n1");
  };
  api::Volume scratch;
  scratch.name = "scratch";
  scratch.empty_dir.emplace();
  Apply(test::MakePod().Name("holds").Req({{"cpu", "1"}}).OnNode("n2"));
  Apply(Replica("big", "2"));
  for (const test::PodBuilder& pod : {
           test::MakePod().Name("a").Req({{"cpu", "1"}}).OnNode("n1"),
           test::MakePod().Name("a").Req({{"cpu", "1"}}).Owner("DaemonSet", "d", "u").OnNode("n1"),
           with("cluster-autoscaler.kubernetes.io/safe-to-evict", "false"),
           with("karpenter.sh/do-not-disrupt", "true"),
           with("kubernetes.io/config.mirror", "x"),
           test::MakePod().Name("a").Req({{"cpu", "1"}}).Owner("Node", "n1", "u").OnNode("n1"),
           Replica("a", "2").Volume(scratch).OnNode("n1"),
           Replica("a", "2").SchedulingGroup("gang").OnNode("n1"),
           Replica("a", "2").ResourceClaim("gpu").OnNode("n1"),
       }) {
    SCOPED_TRACE(WhyItStays(pod));
    Apply(pod);
    const Plan plan = Find("fit=default/big");
    EXPECT_EQ(plan.outcome, Plan::Outcome::kImpossible);
    EXPECT_THAT(plan.moves, IsEmpty());
    EXPECT_NE(WhyItStays(pod), "");
  }
}

TEST_F(PlanTest, ABudgetIsKeptInEachWave) {
  Apply(Node("n1", "2"));
  Apply(Node("n2", "2"));
  Apply(Replica("a", "1").OnNode("n1"));
  Apply(Replica("b", "1").OnNode("n1"));
  Apply(Replica("big", "2").Label("app", "other"));
  Apply(test::MakePod().Name("bare").Req({{"cpu", "0"}}).OnNode("n2"));
  // n1 for it, n2 for the two, or n2 at once: make that impossible.
  Apply(Node("n2", "2").Taint("only", "web", "NoSchedule"));
  Apply(Replica("a", "1").Tolerate("only", "Exists", "", "").OnNode("n1"));
  Apply(Replica("b", "1").Tolerate("only", "Exists", "", "").OnNode("n1"));
  ApplyBudget(1);
  EXPECT_THAT(Texts(Find("fit=default/big")),
              ElementsAre("1 b: n1 -> n2", "2 a: n1 -> n2", "2 big: - -> n1"));
  ApplyBudget(0);
  const Plan none = Find("fit=default/big");
  EXPECT_EQ(none.outcome, Plan::Outcome::kImpossible);
  EXPECT_THAT(none.why, HasSubstr("whichever pods move"));
}

TEST_F(PlanTest, AllThatWaitGetNodesTheImportantFirst) {
  Apply(Node("n1", "4"));
  Apply(Node("n2", "4"));
  Apply(Replica("a", "1").OnNode("n1"));
  Apply(Replica("b", "2").OnNode("n2"));
  Apply(Replica("small", "2"));
  Apply(Replica("large", "4").Priority(10));
  Apply(Replica("late", "1"));
  const Plan plan = Find("pending");
  // large needs a node of its own; late finds no place then.
  EXPECT_EQ(plan.outcome, Plan::Outcome::kPartly);
  EXPECT_THAT(Texts(plan), ElementsAre("1 a: n1 -> n2", "1 large: - -> n1", "1 late: - -> n2"));
  ASSERT_EQ(plan.left_out.size(), 1u);
  EXPECT_EQ(plan.left_out[0].pod, "default/small");
  std::string text;
  AppendTable(plan, text);
  EXPECT_THAT(text, testing::StartsWith(
                        "2 of 3 pending pods fit after 1 move; no plan has nodes for more.\n"));
  EXPECT_THAT(text, HasSubstr("WAITS, SINCE"));
  const Plan important = Find("pending=10");
  EXPECT_EQ(important.outcome, Plan::Outcome::kFound);
  EXPECT_THAT(Texts(important), ElementsAre("1 a: n1 -> n2", "1 large: - -> n1"));
  EXPECT_TRUE(important.has_fewest());
}

// Four nodes with 3 of 4 cores free each; by the scores two of them would get a pod more.
TEST_F(PlanTest, WherePodsStillWaitMovedPodsGoToWhereTheLeastIsLeft) {
  for (const char* name : {"n1", "n2", "n3", "n4"}) {
    Apply(Node(name));
    Apply(Replica(std::string("on-") + name, "1").OnNode(name));
  }
  for (const char* name : {"p1", "p2", "p3"}) Apply(Replica(name, "4"));
  const Plan plan = Find("pending");
  EXPECT_EQ(plan.outcome, Plan::Outcome::kFound) << plan.why;
  EXPECT_EQ(plan.evictions(), 3u);
  for (const Move& move : plan.moves) {
    if (!move.from.empty()) {
      EXPECT_EQ(move.to, "n2") << move.pod;
    }
  }
}

TEST_F(PlanTest, WherePodsStillWaitSmallOnesComeFirst) {
  Apply(Node("n1"));
  Apply(Replica("large", "4"));
  Apply(Replica("small-1", "2"));
  Apply(Replica("small-2", "2"));
  const Plan plan = Find("pending");
  EXPECT_THAT(Texts(plan), ElementsAre("1 small-1: - -> n1", "1 small-2: - -> n1"));
  EXPECT_TRUE(plan.most);
  // Not before one of a higher priority.
  Apply(Replica("large", "4").Priority(1));
  const Plan important = Find("pending");
  EXPECT_THAT(Texts(important), ElementsAre("1 large: - -> n1"));
  EXPECT_TRUE(important.most);
}

TEST_F(PlanTest, ThatNoneHasNodesForMoreIsProvedByWhatIsFree) {
  Apply(Node("n1"));
  Apply(Node("n2"));
  Apply(Replica("a", "3").OnNode("n1"));
  Apply(Replica("b", "3").OnNode("n2"));
  Apply(Replica("p", "3"));
  // 2 cores are free.
  const Plan none = Find("pending");
  EXPECT_EQ(none.outcome, Plan::Outcome::kImpossible);
  EXPECT_TRUE(none.most);
  std::string text;
  AppendTable(none, text);
  EXPECT_THAT(text, testing::StartsWith("1 pending pod gets no node: all nodes together have no "
                                        "room for another\n"));
  AppendJson(none, text);
  EXPECT_THAT(text, HasSubstr(R"("most":true)"));
  // In two parts, and no pod has a place elsewhere to begin with.
  Apply(Replica("p", "2"));
  const Plan stuck = Find("pending");
  EXPECT_EQ(stuck.outcome, Plan::Outcome::kImpossible);
  EXPECT_TRUE(stuck.most);
  // Where one has, what no move changes is not seen.
  Apply(Node("n3", "1"));
  Apply(Node("n4", "1"));
  Apply(Replica("c", "1").OnNode("n3"));
  const Plan parts = Find("pending");
  EXPECT_EQ(parts.outcome, Plan::Outcome::kNotFound);
  EXPECT_FALSE(parts.most);
  // Once a has ended there is room, which a pod that is being deleted does not take.
  Apply(Replica("p", "3"));
  Apply(Replica("a", "3").OnNode("n1").DeletedAt(Time()));
  EXPECT_FALSE(Find("pending").most);
}

// A pod may ask for less than the kubelet still allocates to it: it takes less where it moves to.
TEST_F(PlanTest, WhatAPodTakesLessElsewhereIsNoProof) {
  Apply(Node("n1"));
  Apply(Node("n2"));
  auto shrunk = std::make_shared<api::Pod>(Replica("a", "1").OnNode("n1").Obj());
  api::ContainerStatus& status = shrunk->status.container_statuses.emplace_back();
  status.name = shrunk->spec.containers.front().name;
  status.allocated_resources = {{"cpu", *api::Quantity::Parse("3")}};
  simulation_->Apply(PodPtr(std::move(shrunk)));
  Apply(Replica("b", "2").OnNode("n2"));
  Apply(Replica("p", "4"));
  // Free are 1 and 2 cores; with a on n2 there are 4 on n1.
  EXPECT_FALSE(Find("pending", {.judged = 2}).most);
  const Plan plan = Find("pending");
  EXPECT_THAT(Texts(plan), ElementsAre("1 a: n1 -> n2", "1 p: - -> n1"));
}

TEST_F(PlanTest, ANodeIsEmptied) {
  for (const char* name : {"n1", "n2", "n3"}) Apply(Node(name, "3"));
  Apply(Replica("a", "1").OnNode("n1"));
  Apply(Replica("b", "2").OnNode("n1"));
  Apply(Replica("c", "1").OnNode("n2"));
  Apply(Replica("d", "2").OnNode("n3"));
  Apply(test::MakePod().Name("agent").Owner("DaemonSet", "d", "u").OnNode("n1"));
  const Plan plan = Find("empty=n1");
  EXPECT_EQ(plan.outcome, Plan::Outcome::kFound) << plan.why;
  EXPECT_THAT(Texts(plan), ElementsAre("1 b: n1 -> n2", "1 a: n1 -> n3"));
  EXPECT_TRUE(plan.has_fewest());
  // It takes pods again afterwards.
  EXPECT_FALSE(simulator::FindIn<api::Node>(simulation_->api(), informers::Kind::kNode, "n1")
                   ->spec.unschedulable);
}

// The drain of n1 that kubectl would make leaves b without a node.
TEST_F(PlanTest, ANodeIsEmptiedByMovesOnOthers) {
  Apply(Node("n1", "3"));
  Apply(Node("n2", "3"));
  Apply(Node("n3", "1"));
  Apply(Replica("b", "3").OnNode("n1"));
  Apply(Replica("c", "1").OnNode("n2"));
  EXPECT_THAT(Texts(Find("empty=n1")), ElementsAre("1 c: n2 -> n3", "1 b: n1 -> n2"));
}

// Its pods would be put on it again otherwise.
TEST_F(PlanTest, AnEmptiedNodeTakesNoPodThatToleratesAnything) {
  Apply(Node("n1", "8"));
  Apply(Node("n2", "1"));
  Apply(Replica("a").Tolerate("", "Exists", "", "").OnNode("n1"));
  EXPECT_THAT(Texts(Find("empty=n1")), ElementsAre("1 a: n1 -> n2"));
}

TEST_F(PlanTest, WhatHoldsANodeIsNamed) {
  Apply(Node("n1"));
  Apply(Node("n2"));
  Apply(Replica("a").OnNode("n1"));
  Apply(test::MakePod().Name("bare").OnNode("n1"));
  const Plan plan = Find("empty=n1");
  EXPECT_EQ(plan.outcome, Plan::Outcome::kImpossible);
  std::string text;
  AppendTable(plan, text);
  EXPECT_EQ(text,
            "n1 cannot be emptied: pods on it stay\n"
            "\n"
            "  POD           STAYS, SINCE\n"
            "  default/bare  no controller makes it again\n");
}

// n1 has room for big once b has ended: nothing else has to go.
TEST_F(PlanTest, NothingIsEvictedForWhatFitsOncePodsThatAreBeingDeletedHaveEnded) {
  Apply(Node("n1"));
  Apply(Node("n2"));
  Apply(Replica("a", "1").OnNode("n1"));
  Apply(Replica("b", "2").OnNode("n1").DeletedAt(Time(std::chrono::seconds(5))));
  Apply(Replica("c", "2").OnNode("n2"));
  Apply(Replica("big", "3"));
  const Plan fit = Find("fit=default/big");
  EXPECT_EQ(fit.outcome, Plan::Outcome::kNotFound);
  EXPECT_EQ(fit.why, "it fits on n1 once default/b, which is being deleted, has ended");
  EXPECT_THAT(fit.moves, IsEmpty());
  const Plan pending = Find("pending");
  EXPECT_THAT(pending.moves, IsEmpty());
  ASSERT_EQ(pending.left_out.size(), 1u);
  EXPECT_EQ(pending.left_out[0].why, fit.why);
}

TEST_F(PlanTest, WhatIsSaidOfAllPlansHoldsForTheTimeAfterPodsHaveEndedToo) {
  Apply(Node("n1"));
  Apply(Node("n2"));
  Apply(Replica("a", "2").OnNode("n1").DeletedAt(Time(std::chrono::seconds(5))));
  Apply(Replica("b", "2").Annotation("karpenter.sh/do-not-disrupt", "true").OnNode("n1"));
  Apply(Replica("c", "3").OnNode("n2"));
  Apply(Replica("big", "4"));
  // c must go, and nothing takes it until a has ended.
  const Plan plan = Find("fit=default/big");
  EXPECT_EQ(plan.outcome, Plan::Outcome::kNotFound);
  EXPECT_EQ(plan.fewest, 1u);
}

TEST_F(PlanTest, ANodeIsEmptiedOfPodsThatAreBeingDeletedByTheirEnd) {
  Apply(Node("n1"));
  Apply(Node("n2"));
  Apply(Replica("a").OnNode("n1"));
  Apply(Replica("b").OnNode("n1").DeletedAt(Time(std::chrono::seconds(5))));
  EXPECT_THAT(Texts(Find("empty=n1")), ElementsAre("1 a: n1 -> n2"));
}

TEST_F(PlanTest, APodThatIsBeingDeletedGetsNoNode) {
  Apply(Node("n1"));
  Apply(Replica("big", "9").DeletedAt(Time(std::chrono::seconds(5))));
  const Plan plan = Find("fit=default/big");
  EXPECT_EQ(plan.outcome, Plan::Outcome::kImpossible);
  EXPECT_EQ(plan.why, "it is being deleted");
  EXPECT_THAT(Find("pending").left_out, IsEmpty());
}

TEST_F(PlanTest, ASearchEndsWhenItHasJudgedEnough) {
  for (const char* name : {"n1", "n2", "n3"}) {
    Apply(Node(name, "2"));
    Apply(Replica(std::string("a-") + name, "1").OnNode(name));
    Apply(Replica(std::string("b-") + name, "1").OnNode(name));
  }
  Apply(Replica("big", "2"));
  const Plan plan = Find("fit=default/big", {.judged = 10});
  EXPECT_EQ(plan.outcome, Plan::Outcome::kNotFound);
  EXPECT_LT(plan.judged, 40u);
}

// Moves that are tried and taken back count, too.
TEST_F(PlanTest, ASearchEndsWhenItHasChangedEnough) {
  for (const char* name : {"n1", "n2", "n3", "n4", "n5", "n6"}) {
    Apply(Node(name, "2"));
    Apply(Replica(std::string("a-") + name, "1").OnNode(name));
    Apply(Replica(std::string("b-") + name, "1").OnNode(name));
  }
  Apply(Replica("big", "2"));
  const Plan plan = Find("fit=default/big", {.judged = 400});
  EXPECT_EQ(plan.outcome, Plan::Outcome::kNotFound);
  EXPECT_GT(plan.judged, 100u);
  EXPECT_LT(plan.judged, 350u);
}

// Each pod that waits costs at least two judgements.
TEST_F(PlanTest, ASearchForManyPodsEndsWhenItHasJudgedEnough) {
  for (const char* name : {"n1", "n2", "n3"}) {
    Apply(Node(name, "2"));
    Apply(Replica(std::string("a-") + name, "1").OnNode(name));
  }
  for (int i = 0; i < 200; ++i) Apply(Replica("p" + std::to_string(i), "2"));
  const Plan plan = Find("pending", {.judged = 10});
  EXPECT_LT(plan.judged, 50u);
  ASSERT_GE(plan.left_out.size(), 198u);
  EXPECT_EQ(plan.left_out.back().why, "the search ended before its turn");
}

// Of two nodes that one pod has to leave, that of the pod that matters less.
TEST_F(PlanTest, OfAsManyMovesThoseOfPodsThatMatterLess) {
  const std::string_view cost = "controller.kubernetes.io/pod-deletion-cost";
  Apply(Node("n1"));
  Apply(Node("n2"));
  Apply(Node("n3", "3"));
  Apply(Replica("a", "3").Priority(5).OnNode("n1"));
  Apply(Replica("b", "3").OnNode("n2"));
  Apply(Replica("big", "4"));
  EXPECT_THAT(Texts(Find("fit=default/big")), ElementsAre("1 b: n2 -> n3", "1 big: - -> n2"));
  Apply(Replica("b", "3").Priority(5).Annotation(cost, "-1").OnNode("n2"));
  EXPECT_THAT(Texts(Find("fit=default/big")), ElementsAre("1 b: n2 -> n3", "1 big: - -> n2"));
  Apply(Replica("b", "3").Priority(5).Annotation(cost, "1").OnNode("n2"));
  EXPECT_THAT(Texts(Find("fit=default/big")), ElementsAre("1 a: n1 -> n3", "1 big: - -> n1"));
}

// Of one node either would do: the smaller one is put back first, unless the larger one matters
// more.
TEST_F(PlanTest, OfOneNodeThePodsLeaveThatMatterLess) {
  Apply(Node("n1"));
  Apply(Node("n2", "2").Taint("only", "web", "NoSchedule"));
  Apply(Replica("big", "2"));
  const auto movable = [](const test::PodBuilder& pod) {
    return test::PodBuilder(pod).Tolerate("only", "Exists", "", "").OnNode("n1");
  };
  Apply(movable(Replica("large", "2")));
  Apply(movable(Replica("small", "1")));
  EXPECT_THAT(Texts(Find("fit=default/big")), ElementsAre("1 large: n1 -> n2", "1 big: - -> n1"));
  Apply(movable(Replica("large", "2").Priority(7)));
  EXPECT_THAT(Texts(Find("fit=default/big")), ElementsAre("1 small: n1 -> n2", "1 big: - -> n1"));
  // Where it has no place, the other one goes.
  Apply(movable(Replica("small", "1").NodeSelector("kubernetes.io/hostname", "n1")));
  EXPECT_THAT(Texts(Find("fit=default/big")), ElementsAre("1 large: n1 -> n2", "1 big: - -> n1"));
}

class PlanOfGroupsTest : public PlanTest {
 protected:
  PlanOfGroupsTest() { Restart(test::OptionsWithPodGroups()); }
  void ApplyGang(const std::string& name, int32_t min_count) {
    auto group = std::make_shared<api::PodGroup>();
    group->metadata.namespace_ = "default";
    group->metadata.name = name;
    group->metadata.uid = "uid-group-" + name;
    group->spec.scheduling_policy.gang = api::GangSchedulingPolicy{min_count};
    simulation_->Apply(std::shared_ptr<const api::PodGroup>(std::move(group)));
  }
  static test::PodBuilder Member(std::string_view name, std::string_view cpu = "2") {
    return test::MakePod().Name(name).Req({{"cpu", cpu}}).SchedulingGroup("gang");
  }
};

TEST_F(PlanOfGroupsTest, AGroupIsPlacedWhole) {
  for (const char* node : {"n1", "n2", "n3"}) Apply(Node(node, "2"));
  Apply(Replica("a", "1").OnNode("n1"));
  Apply(Replica("b", "1").OnNode("n2"));
  Apply(Replica("c", "1").OnNode("n3"));
  ApplyGang("gang", 2);
  Apply(Member("g0"));
  Apply(Member("g1"));
  const Plan none = Find("fit=default/g0");
  EXPECT_EQ(none.outcome, Plan::Outcome::kNotFound);
  EXPECT_THAT(none.why, HasSubstr("its pod group default/gang does not start: minCount (2)"));
  EXPECT_THAT(none.moves, IsEmpty()) << "for one of the two there is room to be made";

  Apply(Node("n4", "1"));
  const Plan found = Find("fit=default/g0");
  EXPECT_EQ(found.outcome, Plan::Outcome::kFound) << found.why;
  EXPECT_EQ(found.evictions(), 2u);
  EXPECT_EQ(found.moves.size(), 4u);
  EXPECT_EQ(found.fewest, 1u) << "each pod needs one";
  EXPECT_EQ(Texts(Find("pending")), Texts(found));
}

TEST_F(PlanOfGroupsTest, AGroupThatCannotStartLeavesTheRoomToOthers) {
  Apply(Node("n1", "2"));
  ApplyGang("gang", 2);
  Apply(Member("g0"));
  Apply(Member("g1"));
  Apply(Replica("web", "2"));
  const Plan plan = Find("pending");
  EXPECT_EQ(plan.outcome, Plan::Outcome::kPartly);
  EXPECT_THAT(Texts(plan), ElementsAre("1 web: - -> n1"));
  ASSERT_EQ(plan.left_out.size(), 2u);
  EXPECT_EQ(plan.left_out[0].pod, "default/g0");
  EXPECT_THAT(plan.left_out[0].why, HasSubstr("its pod group default/gang does not start"));
}

TEST_F(PlanOfGroupsTest, AGangThatHasStartedIsHelpedPodByPod) {
  Apply(Node("n1", "2"));
  Apply(Node("n2", "3"));
  ApplyGang("gang", 1);
  Apply(Member("g0").OnNode("n2"));
  Apply(Replica("a", "1").OnNode("n1"));
  Apply(Member("g1"));
  const Plan plan = Find("fit=default/g1");
  EXPECT_EQ(plan.outcome, Plan::Outcome::kFound) << plan.why;
  EXPECT_THAT(Texts(plan), ElementsAre("1 a: n1 -> n2", "1 g1: - -> n1"));
}

TEST_F(PlanOfGroupsTest, NothingIsEvictedForAGroupThatStartsByItself) {
  Apply(Node("n1", "2"));
  Apply(Node("n2", "2"));
  Apply(Node("n3", "2"));
  Apply(Replica("going", "2").OnNode("n1").DeletedAt(Time()));
  Apply(Replica("a", "1").OnNode("n3"));
  ApplyGang("gang", 2);
  Apply(Member("g0"));
  Apply(Member("g1"));
  const Plan plan = Find("fit=default/g0");
  EXPECT_EQ(plan.outcome, Plan::Outcome::kNotFound);
  EXPECT_THAT(plan.why, HasSubstr("starts once pods that are being deleted have ended"));
}

TEST_F(PlanOfGroupsTest, AGroupThatIsNotThereIsNamed) {
  Apply(Node("n1", "2"));
  Apply(Member("g0"));
  const Plan plan = Find("fit=default/g0");
  EXPECT_EQ(plan.outcome, Plan::Outcome::kImpossible);
  EXPECT_EQ(plan.why, "its pod group default/gang is not there");
}

TEST_F(PlanTest, PendingPodsOfOneNamespaceAndOfOtherSchedulers) {
  Apply(Node("n1", "2"));
  Apply(Replica("a", "1"));
  Apply(Replica("b", "1").Namespace("shop"));
  Apply(Replica("other", "1").SchedulerName("mine"));
  simulation_->RunDue();
  Goal goal{.kind = Goal::Kind::kPending, .namespace_ = "shop"};
  const auto plan = FindPlan(goal, *simulation_);
  EXPECT_THAT(Texts(*plan), ElementsAre("1 b: - -> n1"));
  EXPECT_THAT(plan->left_out, IsEmpty());
  goal.namespace_.clear();
  const auto all = FindPlan(goal, *simulation_);
  ASSERT_EQ(all->left_out.size(), 1u);
  EXPECT_EQ(all->left_out[0].pod, "default/other");
  EXPECT_NE(all->left_out[0].why, "");
}

// db keeps big off its zone, and moves to another: that is not found, and is not impossible.
TEST_F(PlanTest, APodOnAnotherNodeMayBeWhatIsInTheWay) {
  const std::string_view key = "topology.kubernetes.io/zone";
  Apply(Node("n1", "4").Label(key, "a"));
  Apply(Node("n2", "2").Label(key, "a"));
  Apply(Node("n3", "2").Label(key, "b"));
  Apply(Replica("db", "1").Label("app", "db").OnNode("n2"));
  Apply(Replica("big", "4").PodAntiAffinity(key, {{"app", "db"}}));
  const Plan none = Find("fit=default/big");
  EXPECT_EQ(none.outcome, Plan::Outcome::kNotFound);
  EXPECT_THAT(none.why, HasSubstr("no moves were found"));
  // Nor is it proved that two pods must go, where they do.
  Apply(Node("n4", "4").Label(key, "c"));
  Apply(Node("n5", "1").Label(key, "c"));
  for (const char* name : {"x", "y"}) Apply(Replica(name, "1").OnNode("n4"));
  const Plan plan = Find("fit=default/big");
  EXPECT_EQ(plan.outcome, Plan::Outcome::kFound) << plan.why;
  EXPECT_EQ(plan.evictions(), 2u);
  EXPECT_EQ(plan.fewest, 1u);
  EXPECT_FALSE(plan.has_fewest());
}

TEST_F(PlanTest, ADocumentSaysTheSame) {
  Apply(Node("n1"));
  Apply(Node("n2"));
  Apply(Replica("a", "2").OnNode("n1"));
  Apply(Replica("c", "2").OnNode("n2"));
  Apply(Replica("big", "4"));
  std::string text;
  AppendJson(Find("fit=default/big"), text);
  const auto document = nlohmann::json::parse(text);
  EXPECT_EQ(document["goal"], "fit=default/big");
  EXPECT_EQ(document["outcome"], "found");
  EXPECT_EQ(document["proved"], true);
  EXPECT_EQ(document["moves"][0]["pod"], "default/a");
  EXPECT_EQ(document["moves"][0]["frees"]["cpu"], 2000);
  EXPECT_EQ(document["moves"][0]["wave"], 1);
  EXPECT_EQ(document["moves"][1]["pod"], "default/big");
  EXPECT_EQ(document["moves"][1]["to"], "n1");
  EXPECT_FALSE(document["moves"][1].contains("from"));
}

TEST_F(PlanTest, WhatIsAskedForMustBeThere) {
  Apply(Node("n1"));
  Apply(Replica("a").OnNode("n1"));
  simulation_->RunDue();
  const auto message = [this](const std::string& goal) {
    return FindPlan(*Goal::Parse(goal), *simulation_).error().message;
  };
  EXPECT_EQ(message("fit=default/none"), "the cluster has no pod default/none");
  EXPECT_EQ(message("fit=shop/a"),
            "the cluster has no pod shop/a; there is default/a (-n default)");
  EXPECT_EQ(message("fit=default/a"), "default/a is on n1 already");
  EXPECT_EQ(message("empty=n9"), "the cluster has no node n9");
  EXPECT_EQ(message("empty=m1"), "the cluster has no node m1; did you mean n1?");
}

TEST(GoalTest, AMisspeltOneIsAskedAbout) {
  EXPECT_EQ(Goal::Parse("epmty=n1").error().message, "\"epmty\" is no goal; did you mean empty?");
}

TEST(GoalTest, IsReadAndWritten) {
  for (const char* text :
       {"fit=shop/web-3", "empty=node-1", "pending", "pending=-5", "skew=shop/Deployment/web:2",
        "skew=StatefulSet/db:1@kubernetes.io/hostname", "stranded=nvidia.com/gpu:4",
        "stranded=memory:8Gi", "stranded=cpu:1500m"}) {
    EXPECT_EQ(Goal::Parse(text)->ToString(), text);
  }
  EXPECT_EQ(Goal::Parse("skew=shop/deploy/web:1@topology.kubernetes.io/zone")->ToString(),
            "skew=shop/Deployment/web:1");
  for (const char* text : {"empty=node/n1", "empty=Nodes/n1", "empty=no/n1"}) {
    EXPECT_EQ(Goal::Parse(text)->ToString(), "empty=n1");
  }
  for (const char* text : {"",
                           "fit",
                           "fit=",
                           "fit=web",
                           "empty=",
                           "empty=node/",
                           "empty=a/b",
                           "full=n1",
                           "pending=",
                           "pending=1x",
                           "skew=web:1",
                           "skew=shop/deploy/web",
                           "skew=shop/deploy/web:0",
                           "skew=shop/deploy/web:x",
                           "skew=shop/deploy/web:1@",
                           "skew=a/b/c/d:1",
                           "stranded=cpu",
                           "stranded=:1",
                           "stranded=cpu:0",
                           "stranded=cpu:-1",
                           "stranded=cpu:x"}) {
    EXPECT_THAT(Goal::Parse(text).error().message,
                HasSubstr("a goal is fit=NAMESPACE/NAME, pending, "))
        << text;
  }
}

}  // namespace
}  // namespace berth::plan
