// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>
#include <string>

#include "src/plan/measure.h"
#include "src/plan/plan.h"
#include "tests/unit/plan/plan_fixture.h"

namespace berth::plan {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

class SkewTest : public PlanTest {
 protected:
  static test::NodeBuilder In(std::string_view zone, std::string_view node,
                              std::string_view cpu = "8") {
    return Node(node, cpu).Label(kDefaultTopologyKey, zone);
  }
  // Of the workload, so many on the node.
  void AddPods(const std::string& node, int count) {
    for (int i = 1; i <= count; ++i) {
      Apply(Replica(node + "-" + std::to_string(i)).OnNode(node));
    }
  }
  static std::vector<std::pair<int64_t, int64_t>> Numbers(const Plan& plan) {
    std::vector<std::pair<int64_t, int64_t>> numbers;
    for (const Plan::Domain& domain : plan.domains) {
      numbers.emplace_back(domain.before, domain.after);
    }
    return numbers;
  }
};

TEST_F(SkewTest, PodsGoFromFullDomainsToEmptyOnes) {
  Apply(In("a", "n1"));
  Apply(In("b", "n2"));
  Apply(In("c", "n3"));
  AddPods("n1", 4);
  AddPods("n2", 1);
  AddPods("n3", 1);
  const Plan plan = Find("skew=default/rs/web:1");
  EXPECT_EQ(plan.outcome, Plan::Outcome::kFound) << plan.why;
  EXPECT_THAT(Texts(plan), ElementsAre("1 n1-1: n1 -> n2", "1 n1-2: n1 -> n3"));
  EXPECT_TRUE(plan.has_fewest());
  EXPECT_EQ(plan.before, 3);
  EXPECT_EQ(plan.after, 0);
  EXPECT_THAT(Numbers(plan), ElementsAre(std::pair(4, 2), std::pair(1, 2), std::pair(1, 2)));
  std::string text;
  AppendTable(plan, text);
  EXPECT_EQ(text,
            "default/ReplicaSet/web has a skew of 0 instead of 3 over topology.kubernetes.io/zone "
            "after 2 moves; no plan has fewer.\n"
            "\n"
            "  WAVE  POD           FROM  TO  FREES\n"
            "     1  default/n1-1  n1    n2  1 cpu\n"
            "     1  default/n1-2  n1    n3  1 cpu\n"
            "\n"
            "  DOMAIN  PODS  AFTER\n"
            "  a          4      2\n"
            "  b          1      2\n"
            "  c          1      2\n");
  // Nothing is done.
  EXPECT_EQ(NodeOf("default/n1-1"), "n1");
}

TEST_F(SkewTest, WhatIsEvenEnoughNeedsNoMove) {
  Apply(In("a", "n1"));
  Apply(In("b", "n2"));
  AddPods("n1", 2);
  const Plan plan = Find("skew=default/rs/web:2");
  EXPECT_EQ(plan.outcome, Plan::Outcome::kFound);
  EXPECT_THAT(plan.moves, IsEmpty());
  std::string text;
  AppendTable(plan, text);
  EXPECT_THAT(text, StartsWith("default/ReplicaSet/web has a skew of 2 over "
                               "topology.kubernetes.io/zone already.\n"));
}

TEST_F(SkewTest, NodesCountThatThePodMayBeOn) {
  Apply(In("a", "n1").Label("disk", "ssd"));
  Apply(In("b", "n2").Label("disk", "ssd"));
  Apply(In("c", "n3"));
  Apply(Node("n4").Label("disk", "ssd"));
  for (const char* name : {"w1", "w2", "w3"}) {
    Apply(Replica(name).NodeSelector("disk", "ssd").OnNode("n1"));
  }
  Apply(Replica("w4").NodeSelector("disk", "ssd").OnNode("n4"));  // it has no zone
  const Plan plan = Find("skew=default/rs/web:1");
  EXPECT_THAT(Texts(plan), ElementsAre("1 w1: n1 -> n2"));
  EXPECT_THAT(Numbers(plan), ElementsAre(std::pair(3, 2), std::pair(0, 1)));
  EXPECT_TRUE(plan.has_fewest());
}

// By another key, and of a Deployment, whose ReplicaSets count together; pods that are being
// deleted do not.
TEST_F(SkewTest, ADeploymentsPodsCountTogether) {
  for (const char* name : {"web-1", "web-2"}) {
    auto set = std::make_shared<api::ReplicaSet>();
    set->metadata.namespace_ = "default";
    set->metadata.name = name;
    set->metadata.uid = name;
    api::OwnerReference owner;
    owner.kind = "Deployment";
    owner.name = "web";
    owner.controller = true;
    set->metadata.owner_references = {owner};
    simulation_->Apply(std::shared_ptr<const api::ReplicaSet>(std::move(set)));
  }
  Apply(Node("n1"));
  Apply(Node("n2"));
  const auto pod = [](std::string_view name, std::string_view set) {
    return test::MakePod().Name(name).Req({{"cpu", "1"}}).Owner("ReplicaSet", set, set);
  };
  Apply(pod("a", "web-1").OnNode("n1"));
  Apply(pod("b", "web-2").OnNode("n1"));
  Apply(pod("c", "other").OnNode("n1"));
  Apply(pod("d", "web-1").OnNode("n2").DeletedAt(Time(std::chrono::seconds(5))));
  const Plan plan = Find("skew=default/deploy/web:1@kubernetes.io/hostname");
  EXPECT_THAT(Numbers(plan), ElementsAre(std::pair(2, 1), std::pair(0, 1)));
  EXPECT_THAT(Texts(plan), ElementsAre("1 a: n1 -> n2"));
}

TEST_F(SkewTest, PodsThatMatterLessGoFirst) {
  Apply(In("a", "n1"));
  Apply(In("b", "n2"));
  const std::string_view cost = "controller.kubernetes.io/pod-deletion-cost";
  Apply(Replica("p1").Priority(10).OnNode("n1"));
  Apply(Replica("p2").Annotation(cost, "5").OnNode("n1"));
  Apply(Replica("p3").Annotation(cost, "1").OnNode("n1"));
  EXPECT_THAT(Texts(Find("skew=default/rs/web:1")), ElementsAre("1 p3: n1 -> n2"));
}

TEST_F(SkewTest, OthersMakeRoom) {
  Apply(In("a", "n1", "4"));
  Apply(In("b", "n2", "2"));
  Apply(In("a", "n3", "4"));
  AddPods("n1", 3);
  Apply(
      test::MakePod().Name("other").Req({{"cpu", "2"}}).Owner("ReplicaSet", "o", "o").OnNode("n2"));
  const Plan plan = Find("skew=default/rs/web:1");
  EXPECT_EQ(plan.outcome, Plan::Outcome::kFound) << plan.why;
  EXPECT_THAT(Texts(plan), ElementsAre("1 other: n2 -> n3", "1 n1-1: n1 -> n2"));
  EXPECT_EQ(plan.fewest, 1u);
  EXPECT_FALSE(plan.has_fewest());
  const Plan shallow = Find("skew=default/rs/web:1", {.depth = 0});
  EXPECT_EQ(shallow.outcome, Plan::Outcome::kNotFound);
  EXPECT_THAT(shallow.why, HasSubstr("no moves were found"));
}

TEST_F(SkewTest, ABudgetIsKeptInEachWave) {
  Apply(In("a", "n1"));
  Apply(In("b", "n2"));
  AddPods("n1", 4);
  ApplyBudget(1);
  EXPECT_THAT(Texts(Find("skew=default/rs/web:1")),
              ElementsAre("1 n1-1: n1 -> n2", "2 n1-2: n1 -> n2"));
  ApplyBudget(0);
  const Plan none = Find("skew=default/rs/web:1");
  EXPECT_EQ(none.outcome, Plan::Outcome::kImpossible);
  ASSERT_EQ(none.left_out.size(), 4u);
  EXPECT_EQ(none.left_out[0].pod, "default/n1-1");
  EXPECT_EQ(none.left_out[0].why, "its PodDisruptionBudget allows no eviction: default/keep");
}

// As PodTopologySpread counts it, whatever its taints are.
TEST_F(SkewTest, ADomainThatTakesNoPodCounts) {
  Apply(In("a", "n1"));
  Apply(In("b", "n2"));
  Apply(In("c", "n3").Unschedulable());
  AddPods("n1", 2);
  AddPods("n2", 2);
  const Plan plan = Find("skew=default/rs/web:1");
  EXPECT_EQ(plan.outcome, Plan::Outcome::kImpossible);
  EXPECT_EQ(plan.why, "whichever pods move: no pod may be placed in c");
  std::string text;
  AppendTable(plan, text);
  EXPECT_THAT(text, StartsWith("default/ReplicaSet/web keeps a skew of 2 over "
                               "topology.kubernetes.io/zone: whichever pods move"));
}

// Of a pod that stays nothing is known of other domains.
TEST_F(SkewTest, ADomainIsClosedOnlyWhereAPodWasRefused) {
  Apply(In("a", "n1"));
  Apply(In("b", "n2"));
  Apply(In("c", "n3").Unschedulable());
  for (const char* name : {"s1", "s2"}) {
    Apply(Replica(name).Annotation("karpenter.sh/do-not-disrupt", "true").OnNode("n1"));
  }
  Plan plan = Find("skew=default/rs/web:1");
  EXPECT_EQ(plan.outcome, Plan::Outcome::kImpossible);
  EXPECT_EQ(plan.why, "none of its pods may move");
  EXPECT_EQ(plan.left_out.size(), 2u);
  std::string text;
  AppendTable(plan, text);
  EXPECT_THAT(text, StartsWith("default/ReplicaSet/web keeps a skew of 2 over "
                               "topology.kubernetes.io/zone: none of its pods may move\n"));
  AddPods("n2", 2);
  plan = Find("skew=default/rs/web:1");
  EXPECT_EQ(plan.outcome, Plan::Outcome::kImpossible);
  EXPECT_EQ(plan.why, "whichever pods move: no pod that may move may be placed in c");
}

// Three stay, so that the other domain needs two.
TEST_F(SkewTest, HowManyMovesAreNeededCountsThoseThatStay) {
  Apply(In("a", "n1"));
  Apply(In("b", "n2"));
  for (const char* name : {"s1", "s2", "s3"}) {
    Apply(Replica(name).Annotation("karpenter.sh/do-not-disrupt", "true").OnNode("n1"));
  }
  const Plan none = Find("skew=default/rs/web:1");
  EXPECT_EQ(none.outcome, Plan::Outcome::kImpossible);
  EXPECT_EQ(none.left_out.size(), 3u);
  AddPods("n1", 2);
  const Plan plan = Find("skew=default/rs/web:1");
  EXPECT_THAT(Texts(plan), ElementsAre("1 n1-1: n1 -> n2", "1 n1-2: n1 -> n2"));
  EXPECT_EQ(plan.fewest, 2u);
}

TEST_F(SkewTest, APodThatNoOtherDomainTakesStays) {
  Apply(In("a", "n1").Label("disk", "ssd"));
  Apply(In("b", "n2"));
  AddPods("n2", 1);
  for (const char* name : {"w1", "w2", "w3"}) {
    Apply(Replica(name).NodeSelector("disk", "ssd").OnNode("n1"));
  }
  // The pod that was made last may be on both.
  Apply(Replica("last").CreatedAt(Time(std::chrono::hours(1))).OnNode("n2"));
  EXPECT_EQ(Find("skew=default/rs/web:1").outcome, Plan::Outcome::kFound);
  Apply(Replica("w4").NodeSelector("disk", "ssd").OnNode("n1"));
  const Plan plan = Find("skew=default/rs/web:1");
  EXPECT_EQ(plan.outcome, Plan::Outcome::kImpossible);
  ASSERT_EQ(plan.left_out.size(), 4u);
  EXPECT_EQ(plan.left_out[0].why, "no node of another domain takes it");
}

TEST_F(SkewTest, ASearchEndsWhenItHasJudgedEnough) {
  Apply(In("a", "n1"));
  Apply(In("b", "n2"));
  AddPods("n1", 8);
  const Plan plan = Find("skew=default/rs/web:1", {.judged = 2});
  EXPECT_EQ(plan.outcome, Plan::Outcome::kNotFound);
  EXPECT_EQ(plan.fewest, 4u) << "what is not known counts as possible";
  EXPECT_LT(plan.judged, 5u);
}

TEST_F(SkewTest, WhatIsAskedForMustBeThere) {
  Apply(Node("n1"));
  Apply(Replica("a").OnNode("n1"));
  simulation_->RunDue();
  const auto message = [this](const std::string& goal) {
    return FindPlan(*Goal::Parse(goal), *simulation_).error().message;
  };
  EXPECT_EQ(message("skew=default/rs/wbe:1"),
            "no pod of ReplicaSet default/wbe is there; did you mean default/web?");
  EXPECT_EQ(message("skew=shop/rs/web:1"),
            "no pod of ReplicaSet shop/web is there; there is default/web (-n default)");
  EXPECT_EQ(message("skew=default/rs/web:1"),
            "no node that default/a may be on has the label topology.kubernetes.io/zone");
}

TEST_F(SkewTest, ADocumentSaysTheSame) {
  Apply(In("a", "n1"));
  Apply(In("b", "n2"));
  AddPods("n1", 2);
  std::string text;
  AppendJson(Find("skew=default/rs/web:1"), text);
  const auto document = nlohmann::json::parse(text);
  EXPECT_EQ(document["goal"], "skew=default/ReplicaSet/web:1");
  EXPECT_EQ(document["before"], 2);
  EXPECT_EQ(document["after"], 0);
  EXPECT_EQ(document["domains"][1]["domain"], "b");
  EXPECT_EQ(document["domains"][1]["after"], 1);
  EXPECT_EQ(document["gain"], 2);
  EXPECT_EQ(document["gainUnit"], "pods of skew");
}

}  // namespace
}  // namespace berth::plan
