// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>
#include <string>

#include "src/plan/plan.h"
#include "tests/unit/plan/plan_fixture.h"

namespace berth::plan {
namespace {

using testing::StartsWith;

class GainTest : public PlanTest {
 protected:
  static api::Quantity Least(std::string_view text) { return *api::Quantity::Parse(text); }
  // "0.5 nodes"; "": it evicts nothing.
  static std::string TextOf(const Plan& plan) {
    const auto gain = GainOf(plan);
    return gain ? gain->Text() + " " + gain->unit : "";
  }
};

TEST_F(GainTest, IsWhatEachMoveBrings) {
  Apply(Node("n1", "4"));
  Apply(Node("n2", "2"));
  Apply(Node("n3", "2"));
  Apply(Replica("a").OnNode("n1"));
  Apply(Replica("b").OnNode("n1"));
  EXPECT_EQ(TextOf(Find("empty=n1")), "0.5 nodes");
  Apply(Replica("big", "4"));
  EXPECT_EQ(TextOf(Find("fit=default/big")), "0.5 pods");
  Apply(Replica("big", "3"));
  EXPECT_EQ(TextOf(Find("fit=default/big")), "1 pods");
  Apply(Replica("big", "1"));
  EXPECT_EQ(TextOf(Find("fit=default/big")), "");
}

// small fits as it is: the move is not for it.
TEST_F(GainTest, OfPendingPodsThoseCountThatNeedTheMoves) {
  Apply(Node("n1", "4"));
  Apply(Node("n2", "4"));
  Apply(Replica("a", "1").OnNode("n1"));
  Apply(Replica("b", "1").OnNode("n2"));
  Apply(Replica("large", "4").Priority(10));
  Apply(Replica("small", "1"));
  const Plan plan = Find("pending");
  EXPECT_EQ(plan.outcome, Plan::Outcome::kFound) << plan.why;
  EXPECT_EQ(plan.moves.size(), 3u);
  EXPECT_EQ(TextOf(plan), "1 pods");
}

TEST_F(GainTest, HasTheUnitOfWhatIsMeasured) {
  Plan plan;
  plan.moves.resize(2, Move{.pod = "default/a", .from = "n1", .to = "n2"});
  plan.goal = *Goal::Parse("stranded=memory:1Gi");
  plan.before = int64_t{4} << 30;
  plan.after = int64_t{1} << 30;
  EXPECT_EQ(TextOf(plan), "1.5Gi memory");
  EXPECT_EQ(GainOf(plan)->JsonText(), "1610612736");
  EXPECT_TRUE(GainOf(plan)->IsBelow(Least("2Gi")));
  EXPECT_FALSE(GainOf(plan)->IsBelow(Least("1536Mi")));
  plan.goal = *Goal::Parse("stranded=cpu:1");
  plan.before = 3500;
  plan.after = 500;
  EXPECT_EQ(TextOf(plan), "1.5 cpu");
  EXPECT_FALSE(GainOf(plan)->IsBelow(Least("1500m")));
  plan.goal = *Goal::Parse("skew=default/rs/web:1");
  plan.before = 3;
  plan.after = 1;
  plan.moves.resize(3, plan.moves.front());
  EXPECT_EQ(TextOf(plan), "0.67 pods of skew");
  EXPECT_EQ(GainOf(plan)->JsonText(), "0.667");
}

TEST_F(GainTest, APlanThatDoesNotPayIsRefused) {
  Apply(Node("n1", "4"));
  Apply(Node("n2", "2"));
  Apply(Replica("a").OnNode("n1"));
  Apply(Replica("b").OnNode("n1"));
  Apply(Replica("big", "4"));
  Plan plan = Find("fit=default/big");
  RefuseBelow(Least("500m"), plan);
  EXPECT_EQ(plan.outcome, Plan::Outcome::kFound);
  RefuseBelow(Least("1"), plan);
  EXPECT_EQ(plan.outcome, Plan::Outcome::kRefused);
  std::string text;
  AppendTable(plan, text);
  EXPECT_THAT(text,
              StartsWith("default/big fits after 2 moves, which do not pay: a move gains 0.5 pods, "
                         "and --min-gain asks for 1.\n\n  WAVE"));
  std::string json;
  AppendJson(plan, json);
  const auto document = nlohmann::json::parse(json);
  EXPECT_EQ(document["outcome"], "refused");
  EXPECT_EQ(document["why"], "a move gains 0.5 pods, and --min-gain asks for 1");
  EXPECT_EQ(document["gain"], 0.5);
  EXPECT_EQ(document["gainUnit"], "pods");
  EXPECT_EQ(document["moves"].size(), 3u);
}

TEST_F(GainTest, WhatNeedsNoMoveOrReachesNothingIsNotRefused) {
  Apply(Node("n1", "4"));
  Apply(Replica("a").OnNode("n1"));
  Apply(Replica("small"));
  Plan fits = Find("fit=default/small");
  RefuseBelow(Least("9"), fits);
  EXPECT_EQ(fits.outcome, Plan::Outcome::kFound);
  Apply(Replica("large", "5"));
  Plan none = Find("fit=default/large");
  RefuseBelow(Least("9"), none);
  EXPECT_EQ(none.outcome, Plan::Outcome::kImpossible);
}

}  // namespace
}  // namespace berth::plan
