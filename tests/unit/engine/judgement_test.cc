// SPDX-License-Identifier: Apache-2.0
#include "src/engine/judgement.h"

#include <gmock/gmock.h>

#include "src/base/virtual_time.h"
#include "tests/support/fake_extender.h"
#include "tests/unit/engine/judgement_fixture.h"

namespace berth::engine {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;
using Kind = Judgement::Kind;

using JudgementTest = test::JudgementFixture;

TEST_F(JudgementTest, EveryFeasibleNodeIsScoredByEveryPlugin) {
  MakeWeighted({{"A", 2}, {"B", 1}});
  SetNodes(3);
  plugin("A").score_by_node = {{"n0", 10}, {"n2", 40}};
  plugin("B").score_by_node = {{"n0", 70}, {"n2", 10}};
  plugin("A").filter_by_node["n1"] = Make(Code::kUnschedulable, "full");
  const Judgement& judgement = Judge();
  EXPECT_EQ(judgement.kind(), Kind::kScheduled);
  EXPECT_EQ(judgement.message(), "");
  EXPECT_THAT(judgement.feasible(), ElementsAre(0, 2));
  EXPECT_THAT(judgement.totals(), ElementsAre(90, 90));
  EXPECT_THAT(judgement.Best(), ElementsAre(0, 2));
  ASSERT_THAT(judgement.scores(), SizeIs(2));
  EXPECT_EQ(judgement.scores()[0].entry->name, "A");
  EXPECT_THAT(judgement.scores()[0].raw, ElementsAre(10, 40));
  EXPECT_THAT(judgement.scores()[1].raw, ElementsAre(70, 10));
  EXPECT_EQ(judgement.statuses().plugin(1), "A");
  EXPECT_EQ(judgement.statuses().Get(1).message(), "full");
}

TEST_F(JudgementTest, ASingleFeasibleNodeIsScoredToo) {
  Make({"A"});
  SetNodes(2);
  plugin("A").filter_by_node["n0"] = Make(Code::kUnschedulable, "full");
  plugin("A").score_by_node["n1"] = 7;
  EXPECT_THAT(Judge().totals(), ElementsAre(7));
}

TEST_F(JudgementTest, APluginThatPreScoreSkippedHasNoScores) {
  Make({"A", "B"});
  SetNodes(1);
  plugin("A").pre_score = Status::Skip();
  const Judgement& judgement = Judge();
  ASSERT_THAT(judgement.scores(), SizeIs(1));
  EXPECT_EQ(judgement.scores()[0].entry->name, "B");
}

TEST_F(JudgementTest, ReasonsAreAskedForByExplainOnly) {
  Make({"A"});
  SetNodes(2);
  plugin("A").filter = Make(Code::kUnschedulable, "full");
  Judgement& judgement = Decide(test::MakePod());
  EXPECT_EQ(judgement.kind(), Kind::kUnschedulable);
  EXPECT_EQ(judgement.message(), "");
  judgement.Explain();
  EXPECT_EQ(judgement.message(), "0/2 nodes are available: 2 full.");
  EXPECT_THAT(judgement.Best(), IsEmpty());
}

TEST_F(JudgementTest, TheFirstPluginInProfileOrderRejectsANode) {
  Make({"A", "B"});
  SetNodes(2);
  plugin("A").filter_by_node["n0"] = Make(Code::kUnschedulable, "a");
  plugin("B").filter = Make(Code::kUnschedulableAndUnresolvable, "b");
  const Judgement& judgement = Judge();
  EXPECT_EQ(judgement.statuses().plugin(0), "A");
  EXPECT_EQ(judgement.statuses().plugin(1), "B");
  EXPECT_EQ(judgement.message(), "0/2 nodes are available: 1 a, 1 b.");
}

TEST_F(JudgementTest, NodesThatPreFilterDidNotLeaveHaveNoVerdictOfTheirOwn) {
  Make({"A"});
  SetNodes(3);
  plugin("A").pre_filter.node_names = {"n1"};
  const Judgement& judgement = Judge();
  EXPECT_EQ(judgement.kind(), Kind::kScheduled);
  EXPECT_THAT(judgement.feasible(), ElementsAre(1));
  EXPECT_FALSE(judgement.statuses().explicit_nodes().Test(0));
  EXPECT_FALSE(judgement.statuses().explicit_nodes().Test(2));
}

TEST_F(JudgementTest, APreFilterRejectionSpeaksForAllNodes) {
  Make({"A"});
  SetNodes(2);
  plugin("A").pre_filter.status = Make(Code::kUnschedulable, "no claim");
  const Judgement& judgement = Judge();
  EXPECT_EQ(judgement.kind(), Kind::kUnschedulable);
  EXPECT_EQ(judgement.message(), "0/2 nodes are available: no claim.");
  EXPECT_EQ(judgement.statuses().num_explicit(), 0u);
}

TEST_F(JudgementTest, PreEnqueueGatesAPodBeforeAnyNodeIsLookedAt) {
  Make({"A"});
  SetNodes(1);
  plugin("A").pre_enqueue = Make(Code::kUnschedulableAndUnresolvable, "waiting for gates");
  const Judgement& judgement = Judge();
  EXPECT_EQ(judgement.kind(), Kind::kGated);
  EXPECT_EQ(judgement.message(), "waiting for gates");
  EXPECT_THAT(log_, ElementsAre("A.PreEnqueue"));
}

TEST_F(JudgementTest, NobodysPodsAndPodsBeingDeletedAreIgnored) {
  Make({"A"});
  SetNodes(1);
  EXPECT_EQ(Judge(test::MakePod().DeletedAt(Time())).kind(), Kind::kIgnored);
  profile_.reset();
  EXPECT_EQ(Judge().kind(), Kind::kIgnored);
  EXPECT_EQ(judgement_->profile(), nullptr);
}

TEST_F(JudgementTest, WhatAPluginFailsAtIsAnError) {
  const struct {
    const char* name;
    std::function<void(test::EverywherePlugin&, const Status&)> plant;
    std::string want;
  } cases[] = {
      {"PreFilter", [](auto& plugin, const Status& lost) { plugin.pre_filter.status = lost; },
       "running PreFilter plugin \"A\": lost"},
      {"Filter", [](auto& plugin, const Status& lost) { plugin.filter_by_node["n1"] = lost; },
       "running \"A\" filter plugin: lost"},
      {"PreScore", [](auto& plugin, const Status& lost) { plugin.pre_score = lost; },
       "running PreScore plugin \"A\": lost"},
      {"Score", [](auto& plugin, const Status& lost) { plugin.score_status = lost; },
       "running Score plugins: plugin \"A\" failed with: lost"},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    Make({"A"});
    SetNodes(2);
    c.plant(plugin("A"), Make(Code::kError, "lost"));
    const Judgement& judgement = Judge();
    EXPECT_EQ(judgement.kind(), Kind::kError);
    EXPECT_EQ(judgement.message(), c.want);
    EXPECT_THAT(judgement.Best(), IsEmpty());
  }
}

// A cycle would not ask for it.
TEST_F(JudgementTest, AFailureOverTheScoresOfTheOnlyNodeIsARemark) {
  Make({"A"});
  SetNodes(2);
  plugin("A").filter_by_node["n0"] = Make(Code::kUnschedulable, "full");
  plugin("A").score_status = Make(Code::kError, "lost");
  const Judgement& judgement = Judge();
  EXPECT_EQ(judgement.kind(), Kind::kScheduled);
  EXPECT_THAT(judgement.Best(), ElementsAre(1));
  EXPECT_EQ(judgement.remark(), "running Score plugins: plugin \"A\" failed with: lost");
  EXPECT_EQ(judgement.message(), "");
  EXPECT_THAT(judgement.scores(), IsEmpty());
  EXPECT_THAT(judgement.totals(), ElementsAre(0));
}

TEST_F(JudgementTest, BehindAFeasibleNominatedNodeAFailureIsThatOfItsNode) {
  Make({"A"});
  SetNodes(4);
  plugin("A").filter_by_node["n0"] = Make(Code::kError, "lost");
  plugin("A").filter_by_node["n1"] = Make(Code::kUnschedulable, "full");
  plugin("A").score_by_node = {{"n2", 90}};
  const Judgement& judgement = Judge(test::MakePod().NominatedNode("n3"));
  EXPECT_EQ(judgement.kind(), Kind::kScheduled);
  EXPECT_THAT(judgement.feasible(), ElementsAre(2, 3));
  EXPECT_THAT(judgement.Best(), ElementsAre(2));
  EXPECT_EQ(judgement.remark(), "running \"A\" filter plugin: lost");
  EXPECT_EQ(judgement.statuses().Get(0).code(), Code::kError);
  EXPECT_EQ(judgement.statuses().Get(1).message(), "full");
  plugin("A").score_status = Make(Code::kError, "no scores");
  EXPECT_THAT(Judge(test::MakePod().NominatedNode("n3")).Best(), ElementsAre(3));
  plugin("A").filter_by_node["n3"] = Make(Code::kUnschedulable, "full");
  EXPECT_EQ(Judge(test::MakePod().NominatedNode("n3")).kind(), Kind::kError);
}

TEST_F(JudgementTest, WithoutNodesThereIsAnErrorInUpstreamsWords) {
  Make({"A"});
  SetNodes(0);
  const Judgement& judgement = Judge();
  EXPECT_EQ(judgement.kind(), Kind::kError);
  EXPECT_EQ(judgement.message(), "no nodes available to schedule pods");
}

TEST_F(JudgementTest, OthersNominationsCountAndThePodsOwnDoesNot) {
  std::vector<PluginRegistration> registry = Registry();
  registry.push_back(
      {"OnePod", [this](const ConfigValue&, Handle&) {
         return Result<Plugin>(AsPlugin(
             "OnePod", std::make_unique<test::OnePodFilter>(Make(Code::kUnschedulable, "full"))));
       }});
  config::Profile config;
  config.plugins.multi_point.enabled = {{"Sort"}, {"A"}, {"OnePod"}};
  profile_ = std::move(*framework::Profile::Make(config, registry, handle_));
  SetNodes(2);
  nominated_.AddNominatedPod(test::MakePod().Name("vip").Info(handle_.names),
                             {NominatingMode::kOverride, "n0"});
  EXPECT_THAT(Judge(test::MakePod().Name("other")).feasible(), ElementsAre(1));
  EXPECT_EQ(judgement_->statuses().Get(0).message(), "full");
  EXPECT_THAT(Judge(test::MakePod().Name("vip")).feasible(), ElementsAre(0, 1));
  // All nodes are looked at, not just the one that the pod is nominated for.
  EXPECT_THAT(Judge(test::MakePod().Name("vip").NominatedNode("n0")).feasible(), ElementsAre(0, 1));
}

TEST_F(JudgementTest, ExtendersHaveTheirSayWhereTheyAreAsked) {
  Make({"A"});
  SetNodes(3);
  plugin("A").score_by_node = {{"n0", 3}};
  const auto extender = std::make_shared<test::FakeExtender>();
  extender->filters = extender->prioritizes = true;
  extender->failed["n1"] = "busy";
  extender->scores = {{"n2", 7}};
  base::VirtualClock clock;
  extender::Extenders extenders({extender}, clock);
  extenders_ = &extenders;
  const Judgement& judgement = Judge();
  EXPECT_THAT(judgement.feasible(), ElementsAre(0, 2));
  EXPECT_THAT(judgement.totals(), ElementsAre(3, 70));
  EXPECT_EQ(judgement.statuses().plugin(1), "Extender");
  EXPECT_EQ(judgement.statuses().Get(1).message(), "busy");
}

TEST_F(JudgementTest, OnlyForAnUnschedulablePodIsPostFilterAskedWhatItWouldDo) {
  MakeWeighted({{"A", 1}, {"Preempts", 1}});
  SetNodes(2);
  EXPECT_FALSE(JudgeWithPreemption().preemption());
  plugin("A").filter_by_node = {{"n0", Make(Code::kUnschedulable, "full")},
                                {"n1", Make(Code::kUnschedulableAndUnresolvable, "small")}};
  preemption_->preview.message = "preemption: no";
  EXPECT_FALSE(Judge().preemption());
  ASSERT_TRUE(JudgeWithPreemption().preemption());
  EXPECT_EQ(judgement_->preemption()->message, "preemption: no");
  EXPECT_THAT(preemption_->codes,
              ElementsAre(Code::kUnschedulable, Code::kUnschedulableAndUnresolvable));
}

TEST_F(JudgementTest, WhereNoPostFilterCanTellNothingIsSaidOfPreemption) {
  MakeWeighted({{"A", 1}, {"PostX", 1}});
  SetNodes(1);
  plugin("A").filter = Make(Code::kUnschedulable, "full");
  EXPECT_FALSE(JudgeWithPreemption().preemption());
}

TEST_F(JudgementTest, APostFilterThatThrowsSaysSoInsteadOfWhatItWouldDo) {
  MakeWeighted({{"A", 1}, {"Preempts", 1}});
  SetNodes(1);
  plugin("A").filter = Make(Code::kUnschedulable, "full");
  preemption_->throws = true;
  preemption_->preview.candidates.push_back({.row = 0, .victims = {}, .num_pdb_violations = 0});
  ASSERT_TRUE(JudgeWithPreemption().preemption());
  EXPECT_THAT(judgement_->preemption()->message, testing::HasSubstr("no idea"));
  EXPECT_TRUE(judgement_->preemption()->candidates.empty());
}

TEST_F(JudgementTest, ForPreemptionTheNominatedNodeIsAskedThoughPreFilterLeavesItOut) {
  MakeWeighted({{"A", 1}, {"Preempts", 1}});
  SetNodes(3);
  plugin("A").pre_filter.node_names = {"n2"};
  plugin("A").filter = Make(Code::kUnschedulable, "full");
  const Code out = Code::kUnschedulableAndUnresolvable;
  JudgeWithPreemption();
  EXPECT_THAT(preemption_->codes, ElementsAre(out, out, Code::kUnschedulable));
  JudgeWithPreemption(test::MakePod().NominatedNode("n1"));
  EXPECT_THAT(preemption_->codes, ElementsAre(out, Code::kUnschedulable, Code::kUnschedulable));
  // What the document says of the nodes stays.
  EXPECT_FALSE(judgement_->statuses().explicit_nodes().Test(1));
}

}  // namespace
}  // namespace berth::engine
