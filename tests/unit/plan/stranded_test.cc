// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>
#include <string>

#include "src/plan/plan.h"
#include "tests/unit/plan/plan_fixture.h"

namespace berth::plan {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class StrandedTest : public PlanTest {
 protected:
  // A node with devices.
  static test::NodeBuilder Gpu(std::string_view name, std::string_view cpu = "4") {
    return Node(name).Allocatable({{"cpu", cpu}, {"example.com/gpu", "2"}});
  }
  // A pod that waits for a device.
  void AddWaiting() {
    Apply(test::MakePod().Name("train").Req({{"cpu", "1"}, {"example.com/gpu", "1"}}));
  }
};

TEST_F(StrandedTest, PodsGoThatTakeWhatIsWantedBesides) {
  Apply(Gpu("g1"));
  Apply(Node("n1"));
  Apply(Replica("c", "4").OnNode("g1"));
  AddWaiting();
  const Plan plan = Find("stranded=example.com/gpu:1");
  EXPECT_EQ(plan.outcome, Plan::Outcome::kFound) << plan.why;
  EXPECT_THAT(Texts(plan), ElementsAre("1 c: g1 -> n1"));
  EXPECT_EQ(plan.before, 2);
  EXPECT_EQ(plan.after, 0);
  EXPECT_TRUE(plan.has_fewest());
  std::string text;
  AppendTable(plan, text);
  EXPECT_EQ(text,
            "Stranded example.com/gpu: 0 instead of 2 after 1 move; no plan has fewer.\n"
            "\n"
            "  WAVE  POD        FROM  TO  FREES\n"
            "     1  default/c  g1    n1  4 cpu\n");
  std::string json;
  AppendJson(plan, json);
  const auto document = nlohmann::json::parse(json);
  EXPECT_EQ(document["goal"], "stranded=example.com/gpu:1");
  EXPECT_EQ(document["before"], 2);
  EXPECT_EQ(document["after"], 0);
  EXPECT_EQ(document["gain"], 2);
  EXPECT_EQ(document["gainUnit"], "example.com/gpu");
}

TEST_F(StrandedTest, WhatIsLittleEnoughNeedsNoMove) {
  Apply(Gpu("g1"));
  Apply(Replica("c", "4").OnNode("g1"));
  AddWaiting();
  const Plan plan = Find("stranded=example.com/gpu:3");
  EXPECT_EQ(plan.outcome, Plan::Outcome::kFound);
  EXPECT_THAT(plan.moves, IsEmpty());
  std::string text;
  AppendTable(plan, text);
  EXPECT_EQ(text, "Stranded example.com/gpu: 2 as it is.\n");
}

// Though the other node with devices has the higher score.
TEST_F(StrandedTest, PodsGoToNodesThatOfferNoneOfIt) {
  Apply(Gpu("g1"));
  Apply(Gpu("g2", "16"));
  Apply(Node("n1"));
  Apply(Replica("c", "4").OnNode("g1"));
  AddWaiting();
  EXPECT_THAT(Texts(Find("stranded=example.com/gpu:1")), ElementsAre("1 c: g1 -> n1"));
}

// On g2, which it prefers, it would strand two more.
TEST_F(StrandedTest, PodsGoWhereTheyStrandNoMore) {
  Apply(Gpu("g1"));
  Apply(Gpu("g2").Label("fast", "yes"));
  Apply(Gpu("g3", "5"));
  Apply(Replica("c", "4").PreferNode(100, {test::MakeRequirement("fast", "Exists")}).OnNode("g1"));
  AddWaiting();
  EXPECT_THAT(Texts(Find("stranded=example.com/gpu:1")), ElementsAre("1 c: g1 -> g3"));
}

// One move of one pod is enough for what is missing, though two of g1's would free more.
TEST_F(StrandedTest, TheNodeIsFreedThatNeedsTheFewestMoves) {
  Apply(Node("g1").Allocatable({{"cpu", "2"}, {"example.com/gpu", "4"}}));
  Apply(Gpu("g2"));
  Apply(Node("n1", "8"));
  Apply(Replica("a").OnNode("g1"));
  Apply(Replica("b").OnNode("g1"));
  Apply(Replica("c", "4").OnNode("g2"));
  Apply(test::MakePod().Name("train").Req({{"cpu", "2"}, {"example.com/gpu", "1"}}));
  const Plan plan = Find("stranded=example.com/gpu:5");
  EXPECT_EQ(plan.before, 6);
  EXPECT_THAT(Texts(plan), ElementsAre("1 c: g2 -> n1"));
  EXPECT_EQ(plan.after, 4);
}

TEST_F(StrandedTest, OfThePodsThatMayGoThoseGoThatMatterLess) {
  Apply(Gpu("g1"));
  Apply(Node("n1"));
  Apply(Replica("large", "3").Priority(10).OnNode("g1"));
  Apply(Replica("small", "1").OnNode("g1"));
  AddWaiting();
  EXPECT_THAT(Texts(Find("stranded=example.com/gpu:1")), ElementsAre("1 small: g1 -> n1"));
}

TEST_F(StrandedTest, WhereNoMovesAreFoundItSaysWhichOfTwoItIs) {
  Apply(Gpu("g1"));
  Apply(Node("n1", "2"));
  Apply(Replica("c", "4").OnNode("g1"));
  AddWaiting();
  const Plan none = Find("stranded=example.com/gpu:1");
  EXPECT_EQ(none.outcome, Plan::Outcome::kNotFound);
  std::string text;
  AppendTable(none, text);
  EXPECT_EQ(text, "Stranded example.com/gpu stays 2: no moves were found\n");
  Apply(Replica("c", "4").Annotation("karpenter.sh/do-not-disrupt", "true").OnNode("g1"));
  const Plan impossible = Find("stranded=example.com/gpu:1");
  EXPECT_EQ(impossible.outcome, Plan::Outcome::kImpossible);
  EXPECT_EQ(impossible.why, "no pod may be moved");
}

TEST_F(StrandedTest, AResourceMustHaveFigures) {
  Apply(Gpu("g1"));
  simulation_->RunDue();
  EXPECT_THAT(FindPlan(*Goal::Parse("stranded=example.com/fpga:1"), *simulation_).error().message,
              testing::StartsWith("there are no figures of example.com/fpga"));
}

}  // namespace
}  // namespace berth::plan
