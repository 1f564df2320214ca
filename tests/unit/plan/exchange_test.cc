// SPDX-License-Identifier: Apache-2.0
// Pods that exchange their places, or go round.
#include <gmock/gmock.h>

#include <string>

#include "tests/unit/plan/plan_fixture.h"

namespace berth::plan {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

constexpr std::string_view kHost = "kubernetes.io/hostname";

// x, y and z go only to nodes that have their label. Room for p is on n1 alone, which is full.
class ExchangeTest : public PlanTest {
 protected:
  test::PodBuilder Bound(const std::string& name, std::string_view cpu) {
    return Replica(name, cpu).NodeSelector(name, "1");
  }
  void ApplyPending() { Apply(Replica("p", "1").NodeSelector(kHost, "n1")); }
  // x fits only where y is, y where z is, and z where x is.
  void ApplyRound() {
    Apply(Node("n1", "10").Label("x", "1").Label("z", "1"));
    Apply(Node("n2", "9").Label("x", "1").Label("y", "1"));
    Apply(Node("n3", "9").Label("y", "1").Label("z", "1"));
    Apply(Bound("x", "9").OnNode("n1"));
    Apply(test::MakePod().Name("bare").Req({{"cpu", "1"}}).OnNode("n1"));
    Apply(Bound("y", "9").OnNode("n2"));
    Apply(Bound("z", "1").OnNode("n3"));
    ApplyPending();
  }
};

// x fits only where y is, and y best where x is: one of them goes to the free place first.
TEST_F(ExchangeTest, TwoPodsExchangeTheirPlacesByAFreeOne) {
  Apply(Node("n1", "10").Label("x", "1").Label("y", "1"));
  Apply(Node("n2", "9").Label("x", "1").Label("y", "1"));
  Apply(Node("n3", "1").Label("y", "1"));
  Apply(Bound("x", "9").OnNode("n1"));
  Apply(test::MakePod().Name("bare").Req({{"cpu", "1"}}).OnNode("n1"));
  Apply(Bound("y", "1").OnNode("n2"));
  ApplyPending();
  const Plan plan = Find("fit=default/p");
  EXPECT_EQ(plan.outcome, Plan::Outcome::kFound) << plan.why;
  EXPECT_THAT(Texts(plan), ElementsAre("1 y: n2 -> n3", "1 x: n1 -> n2", "1 p: - -> n1"));
}

TEST_F(ExchangeTest, ARoundOfThreeIsBrokenByAFreePlace) {
  ApplyRound();
  Apply(Node("n4", "1").Label("z", "1"));
  const Plan plan = Find("fit=default/p");
  EXPECT_EQ(plan.outcome, Plan::Outcome::kFound) << plan.why;
  EXPECT_THAT(Texts(plan),
              ElementsAre("1 z: n3 -> n4", "1 y: n2 -> n3", "1 x: n1 -> n2", "1 p: - -> n1"));
}

TEST_F(ExchangeTest, ARoundWithoutAFreePlaceIsImpossible) {
  ApplyRound();
  // It is free, and takes none of them.
  Apply(Node("n4", "100").Taint("only", "other", "NoSchedule"));
  for (const char* goal : {"fit=default/p", "pending"}) {
    SCOPED_TRACE(goal);
    const Plan plan = Find(goal);
    EXPECT_EQ(plan.outcome, Plan::Outcome::kImpossible);
    EXPECT_THAT(plan.why, StartsWith("no moves can begin"));
    EXPECT_THAT(plan.moves, IsEmpty());
  }
  EXPECT_TRUE(Find("pending").most);
}

// While one of them has a place elsewhere there may be such moves.
TEST_F(ExchangeTest, ARoundWithAFreePlaceThatDoesNotHelpIsNotImpossible) {
  ApplyRound();
  Apply(Node("n4", "9"));
  Apply(Replica("other", "1").NodeSelector("other", "1").OnNode("n4"));
  Apply(Node("n5", "1").Label("other", "1"));
  const Plan plan = Find("fit=default/p");
  EXPECT_EQ(plan.outcome, Plan::Outcome::kNotFound);
  EXPECT_THAT(plan.why, HasSubstr("no moves were found"));
}

// The free place is needed for q in the end: y goes there, and on to the place of x.
TEST_F(ExchangeTest, AFreePlaceThatIsNeededInTheEndIsLeftAgain) {
  Apply(Node("n1", "4").Label("x", "1").Label("y", "1"));
  Apply(Node("n2", "4").Label("x", "1").Label("y", "1"));
  Apply(Node("n3", "2").Label("y", "1"));
  Apply(Bound("x", "4").OnNode("n1"));
  Apply(Bound("y", "2").OnNode("n2"));
  Apply(Replica("p", "2").Priority(10).NodeSelector(kHost, "n1"));
  Apply(Replica("q", "2").NodeSelector(kHost, "n3"));
  const Plan plan = Find("pending");
  EXPECT_EQ(plan.outcome, Plan::Outcome::kFound) << plan.why;
  EXPECT_THAT(Texts(plan), ElementsAre("1 y: n2 -> n3", "1 x: n1 -> n2", "1 p: - -> n1",
                                       "2 y: n3 -> n1", "2 q: - -> n3"));
  ASSERT_EQ(plan.moves.size(), 5u);
  EXPECT_EQ(plan.moves[0].uid, plan.moves[3].uid);
  EXPECT_EQ(plan.evictions(), 3u);
  EXPECT_EQ(plan.placed(), 2u);
}

}  // namespace
}  // namespace berth::plan
