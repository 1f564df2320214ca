// SPDX-License-Identifier: Apache-2.0
// Pods of lower priority that are evicted for good.
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>
#include <string>

#include "tests/unit/plan/plan_fixture.h"

namespace berth::plan {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

class EvictTest : public PlanTest {
 protected:
  void ApplyFull() {
    Apply(Node("n1", "2"));
    Apply(Replica("low", "2").OnNode("n1"));
    Apply(Replica("p", "2").Priority(10));
  }
};

TEST_F(EvictTest, OnlyWhereItIsAskedForAPodMakesRoomForGood) {
  ApplyFull();
  EXPECT_EQ(Find("fit=default/p").outcome, Plan::Outcome::kImpossible);
  EXPECT_THAT(Find("pending").moves, IsEmpty());
  const Plan plan = FindEvicting("fit=default/p");
  EXPECT_EQ(plan.outcome, Plan::Outcome::kFound) << plan.why;
  EXPECT_THAT(Texts(plan), ElementsAre("1 low: n1 -> -", "1 p: - -> n1"));
  EXPECT_EQ(plan.evicted_for_good(), 1u);
  std::string text;
  AppendTable(plan, text);
  EXPECT_THAT(text, StartsWith("default/p fits after 1 eviction for good; no plan has fewer.\n"));
  EXPECT_THAT(text, HasSubstr("1  default/low  n1    -   2 cpu\n"));
  text.clear();
  AppendJson(plan, text);
  const auto document = nlohmann::json::parse(text);
  EXPECT_EQ(document["evict"], true);
  EXPECT_EQ(document["moves"][0]["from"], "n1");
  EXPECT_FALSE(document["moves"][0].contains("to"));
  // Nothing is done.
  EXPECT_EQ(NodeOf("default/low"), "n1");
}

TEST_F(EvictTest, OfAllThatWaitAPodThatIsEvictedIsOne) {
  ApplyFull();
  const Plan plan = FindEvicting("pending");
  EXPECT_EQ(plan.outcome, Plan::Outcome::kPartly);
  EXPECT_THAT(Texts(plan), ElementsAre("1 low: n1 -> -", "1 p: - -> n1"));
  ASSERT_EQ(plan.left_out.size(), 1u);
  EXPECT_EQ(plan.left_out[0].pod, "default/low");
  std::string text;
  AppendTable(plan, text);
  EXPECT_THAT(text, StartsWith("1 of 2 pending pods fit after 1 eviction for good.\n"));
  // It is none of those that the goal is about.
  const Plan important = FindEvicting("pending=10");
  EXPECT_EQ(important.outcome, Plan::Outcome::kFound);
  EXPECT_THAT(important.left_out, IsEmpty());
}

TEST_F(EvictTest, NoPodIsEvictedForOneThatMattersNoMore) {
  ApplyFull();
  Apply(Replica("low", "2").Priority(10).OnNode("n1"));
  EXPECT_THAT(FindEvicting("fit=default/p").moves, IsEmpty());
  EXPECT_THAT(FindEvicting("pending").moves, IsEmpty());
  Apply(Replica("low", "2").Priority(11).OnNode("n1"));
  EXPECT_THAT(FindEvicting("pending").moves, IsEmpty());
}

TEST_F(EvictTest, NoPodIsEvictedWhereThatMakesNoRoom) {
  ApplyFull();
  Apply(Replica("p", "3").Priority(10));
  const Plan plan = FindEvicting("fit=default/p");
  EXPECT_EQ(plan.outcome, Plan::Outcome::kImpossible);
  EXPECT_THAT(plan.moves, IsEmpty());
}

// b could be evicted; it has a place once c has left it.
TEST_F(EvictTest, MovesComeFirst) {
  Apply(Node("n1", "4"));
  Apply(Node("n2", "1"));
  Apply(Node("n3", "2"));
  Apply(Replica("b", "2").OnNode("n1"));
  Apply(Replica("c", "1").OnNode("n3"));
  Apply(test::MakePod().Name("bare").Req({{"cpu", "1"}}).OnNode("n1"));
  Apply(Replica("big", "3").Priority(10));
  EXPECT_THAT(Texts(FindEvicting("fit=default/big")),
              ElementsAre("1 c: n3 -> n2", "1 b: n1 -> n3", "1 big: - -> n1"));
}

TEST_F(EvictTest, ThePodsOfTheLowestPriorityAreEvicted) {
  Apply(Node("n1", "2"));
  Apply(Node("n2", "2"));
  Apply(Replica("a", "2").Priority(3).OnNode("n1"));
  Apply(Replica("b", "2").Priority(1).OnNode("n2"));
  Apply(Replica("p", "2").Priority(10));
  EXPECT_THAT(Texts(FindEvicting("fit=default/p")), ElementsAre("1 b: n2 -> -", "1 p: - -> n2"));
}

// Of one node, although two must go where one would do.
TEST_F(EvictTest, MorePodsOfALowerPriorityAreEvictedThanOneOfAHigher) {
  Apply(Node("n1", "4"));
  Apply(Replica("a", "2").Priority(3).OnNode("n1"));
  Apply(Replica("b", "1").Priority(1).OnNode("n1"));
  Apply(Replica("c", "1").Priority(1).OnNode("n1"));
  Apply(Replica("p", "2").Priority(10));
  const Plan plan = FindEvicting("fit=default/p");
  EXPECT_THAT(Texts(plan),
              testing::UnorderedElementsAre("1 b: n1 -> -", "1 c: n1 -> -", "1 p: - -> n1"));
}

// There is one place elsewhere.
TEST_F(EvictTest, ThePodOfTheHigherPriorityGetsThePlaceThatIsLeft) {
  Apply(Node("n1", "4"));
  Apply(Node("n2", "2").Taint("only", "small", "NoSchedule"));
  Apply(Replica("a", "2").Priority(1).Tolerate("only", "Exists", "", "").OnNode("n1"));
  Apply(Replica("b", "2").Priority(3).Tolerate("only", "Exists", "", "").OnNode("n1"));
  Apply(Replica("p", "4").Priority(10));
  EXPECT_THAT(Texts(FindEvicting("fit=default/p")),
              ElementsAre("1 b: n1 -> n2", "1 a: n1 -> -", "1 p: - -> n1"));
}

TEST_F(EvictTest, BudgetsAreKept) {
  ApplyFull();
  ApplyBudget(0);
  EXPECT_THAT(FindEvicting("fit=default/p").moves, IsEmpty());
  ApplyBudget(1);
  EXPECT_THAT(Texts(FindEvicting("fit=default/p")), ElementsAre("1 low: n1 -> -", "1 p: - -> n1"));
  // What is evicted for good is missing in each later wave, too.
  Apply(Replica("low", "1").OnNode("n1"));
  Apply(Replica("low-2", "1").OnNode("n1"));
  EXPECT_THAT(FindEvicting("fit=default/p").moves, IsEmpty());
  EXPECT_THAT(FindEvicting("pending").moves, IsEmpty());
  ApplyBudget(2);
  EXPECT_EQ(FindEvicting("fit=default/p").evicted_for_good(), 2u);
}

TEST_F(EvictTest, PodsThatStaySinceNoControllerMakesThemAgainAreNotEvicted) {
  Apply(Node("n1", "2"));
  Apply(test::MakePod().Name("low").Req({{"cpu", "2"}}).OnNode("n1"));
  Apply(Replica("p", "2").Priority(10));
  EXPECT_EQ(FindEvicting("fit=default/p").outcome, Plan::Outcome::kImpossible);
}

}  // namespace
}  // namespace berth::plan
