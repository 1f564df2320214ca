// SPDX-License-Identifier: Apache-2.0
#include "src/extender/extenders.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "src/base/virtual_time.h"
#include "tests/support/builders.h"
#include "tests/support/fake_extender.h"
#include "tests/support/plain_snapshot.h"

namespace berth::extender {
namespace {

using std::chrono::seconds;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

// Two extenders and three nodes with one pod each; row i is node n<i>.
class ExtendersTest : public testing::Test {
 protected:
  Result<FilterResult> Filter() { return extenders_.Filter(pod_, snapshot_, {0, 1, 2}); }
  // The totals of `nodes`, which begin at 1.
  std::vector<int64_t> Prioritize(std::vector<NodeRow> order, std::vector<NodeRow> nodes) {
    std::vector<int64_t> totals(nodes.size(), 1);
    extenders_.Prioritize(pod_, snapshot_, order, nodes, totals);
    return totals;
  }
  Result<std::vector<PreemptionCandidate>> ProcessPreemption() {
    return extenders_.ProcessPreemption(
        pod_, snapshot_, {{0, {&snapshot_.pod("a")}, 0}, {1, {&snapshot_.pod("b")}, 0}});
  }
  // Leaves the candidate on `row` without a victim.
  static auto Spares(NodeRow row) {
    return [row](const Snapshot&, std::vector<PreemptionCandidate>& candidates) {
      for (PreemptionCandidate& candidate : candidates) {
        if (candidate.row == row) candidate.victims.clear();
      }
    };
  }
  static auto Drops(NodeRow row) {
    return [row](const Snapshot&, std::vector<PreemptionCandidate>& candidates) {
      std::erase_if(candidates, [row](const auto& candidate) { return candidate.row == row; });
    };
  }

  base::VirtualClock clock_;
  test::PlainResourceNames names_;
  test::PlainSnapshot snapshot_{
      names_,
      {test::MakeNode("n0"), test::MakeNode("n1"), test::MakeNode("n2")},
      {test::MakePod().Name("a").OnNode("n0"), test::MakePod().Name("b").OnNode("n1"),
       test::MakePod().Name("c").OnNode("n2")}};
  const api::Pod pod_ = test::MakePod().Name("web");
  std::shared_ptr<test::FakeExtender> first_ = std::make_shared<test::FakeExtender>("first");
  std::shared_ptr<test::FakeExtender> second_ = std::make_shared<test::FakeExtender>("second");
  Extenders extenders_{{first_, second_}, clock_};
};

TEST_F(ExtendersTest, WhatOneOfThemDoesAllOfThemDo) {
  EXPECT_FALSE(extenders_.empty());
  EXPECT_FALSE(extenders_.HasFilter());
  EXPECT_FALSE(extenders_.HasPrioritizer());
  EXPECT_FALSE(extenders_.Involved(pod_));
  second_->prioritizes = true;
  EXPECT_FALSE(extenders_.HasFilter());
  EXPECT_TRUE(extenders_.HasPrioritizer());
  EXPECT_TRUE(extenders_.Involved(pod_));
  second_->interested_in = "gpu";
  EXPECT_FALSE(extenders_.Involved(pod_));
  first_->filters = true;
  EXPECT_TRUE(extenders_.HasFilter());
  EXPECT_TRUE(extenders_.Involved(pod_));
}

TEST_F(ExtendersTest, EachIsAskedAboutWhatIsLeftInTheOrderOfTheAnswerBefore) {
  first_->filters = second_->filters = true;
  first_->failed["n1"] = "busy";
  first_->reverses = true;
  second_->unresolvable["n0"] = "broken";
  const auto left = Filter();
  ASSERT_TRUE(left);
  EXPECT_THAT(first_->calls, ElementsAre("filter web: n0 n1 n2"));
  EXPECT_THAT(second_->calls, ElementsAre("filter web: n2 n0"));
  EXPECT_THAT(left->nodes, ElementsAre(2));
  ASSERT_THAT(left->rejected, SizeIs(2));
  EXPECT_EQ(left->rejected[0].row, 1u);
  EXPECT_EQ(left->rejected[0].reason, "busy");
  EXPECT_EQ(left->rejected[1].row, 0u);
  EXPECT_EQ(left->rejected[1].code, Code::kUnschedulableAndUnresolvable);
  EXPECT_EQ(extenders_.num_calls(), 2u);
}

TEST_F(ExtendersTest, NoneIsAskedWhereNothingIsLeftOrItHasNoInterest) {
  first_->filters = second_->filters = true;
  first_->dropped = {{"n0", true}, {"n1", true}, {"n2", true}};
  EXPECT_THAT(Filter()->nodes, IsEmpty());
  EXPECT_THAT(second_->calls, IsEmpty());
  first_->interested_in = "gpu";
  EXPECT_THAT(Filter()->nodes, ElementsAre(0, 1, 2));
  EXPECT_THAT(first_->calls, SizeIs(1));
  EXPECT_THAT(second_->calls, SizeIs(1));
}

TEST_F(ExtendersTest, OneThatFailsIsPassedOverOnlyIfItIsIgnorable) {
  first_->filters = second_->filters = first_->preempts = true;
  first_->error = "on fire";
  second_->dropped["n1"] = true;
  EXPECT_EQ(Filter().error().message, "on fire");
  EXPECT_EQ(ProcessPreemption().error().message, "on fire");
  EXPECT_THAT(second_->calls, IsEmpty());
  first_->ignorable = true;
  EXPECT_THAT(Filter()->nodes, ElementsAre(0, 2));
  EXPECT_THAT(*ProcessPreemption(), SizeIs(2));
}

TEST_F(ExtendersTest, ScoresCountTenTimesTheWeightForNodesThatAreScored) {
  first_->prioritizes = second_->prioritizes = true;
  first_->weight = 3;
  first_->scores = {{"n0", 10}, {"n1", 5}};
  second_->scores = {{"n0", 1}, {"n2", 2}};
  EXPECT_THAT(Prioritize({2, 0}, {0, 2}), ElementsAre(1 + 300 + 10, 1 + 20));
  EXPECT_THAT(first_->calls, ElementsAre("prioritize web: n2 n0"));
  EXPECT_THAT(second_->calls, ElementsAre("prioritize web: n2 n0"));
  second_->interested_in = "gpu";
  EXPECT_THAT(Prioritize({0}, {0}), ElementsAre(1 + 300));
  EXPECT_EQ(extenders_.num_calls(), 0u) << "whom scores are asked of is not counted";
}

TEST_F(ExtendersTest, TheScoresOfOneThatFailsAreLeftOut) {
  first_->prioritizes = second_->prioritizes = true;
  first_->error = "on fire";
  second_->scores = {{"n0", 1}};
  EXPECT_THAT(Prioritize({0, 1}, {0, 1}), ElementsAre(11, 1));
}

TEST_F(ExtendersTest, CandidatesGoFromOneToTheNextAsLongAsThereAreAny) {
  first_->preempts = second_->preempts = true;
  first_->process_preemption = Drops(0);
  auto left = ProcessPreemption();
  ASSERT_TRUE(left);
  EXPECT_THAT(first_->calls, ElementsAre("preempt web: n0 n1"));
  EXPECT_THAT(second_->calls, ElementsAre("preempt web: n1"));
  ASSERT_THAT(*left, SizeIs(1));
  EXPECT_EQ(left->front().row, 1u);
  first_->process_preemption = [](const Snapshot&, auto& candidates) { candidates.clear(); };
  EXPECT_THAT(*ProcessPreemption(), IsEmpty());
  EXPECT_THAT(second_->calls, SizeIs(1));
  EXPECT_EQ(extenders_.num_calls(), 3u);
}

TEST_F(ExtendersTest, ACandidateWithoutVictimsIsAFailure) {
  first_->preempts = true;
  first_->process_preemption = Spares(1);
  EXPECT_EQ(ProcessPreemption().error().message, "expected at least one victim pod on node \"n1\"");
  first_->ignorable = true;
  const auto left = ProcessPreemption();
  ASSERT_TRUE(left);
  ASSERT_THAT(*left, SizeIs(1));
  EXPECT_EQ(left->front().row, 0u);
}

TEST_F(ExtendersTest, AWaitIsExcusedForTheTimeoutOfTheOneThatIsAsked) {
  first_->filters = true;
  first_->timeout = seconds(60);
  const Time began = clock_.Now();
  Time excused{};
  first_->on_wait = [&] {
    clock_.Advance(seconds(3));
    excused = extenders_.excused_until();
  };
  ASSERT_TRUE(Filter());
  EXPECT_EQ(excused, began + seconds(60));
  EXPECT_EQ(extenders_.excused_until(), began + seconds(3));
}

}  // namespace
}  // namespace berth::extender
