// SPDX-License-Identifier: Apache-2.0
#include "src/framework/runtime.h"

#include <gmock/gmock.h>

#include "tests/unit/framework/profile_fixture.h"

namespace berth::framework {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class RuntimeTest : public test::ProfileFixture {
 protected:
  RuntimeTest()
      : snapshot_(handle_.names, {test::MakeNode("n1"), test::MakeNode("n2")}),
        pod_(test::MakePod().Info(handle_.names)) {}

  PreFilterVerdict PreFilter() { return RunPreFilter(*profile_, cycle_, *pod_, snapshot_); }
  PluginStatus Filter() {
    return RunFilter(*profile_, cycle_, cycle_.state, *pod_, snapshot_.view("n1"));
  }

  test::PlainSnapshot snapshot_;
  PodInfoPtr pod_;
  Cycle cycle_;
};

TEST_F(RuntimeTest, PreFilterSkipSwitchesThePluginsFilterOff) {
  Make({"A", "B"});
  plugin("A").pre_filter.status = Status::Skip();
  EXPECT_TRUE(PreFilter().verdict.status.ok());
  log_.clear();
  EXPECT_TRUE(Filter().status.ok());
  EXPECT_THAT(log_, ElementsAre("B.Filter"));
}

TEST_F(RuntimeTest, PreFilterGoesOnAfterUnschedulableAndTheLastOneWins) {
  Make({"A", "B", "C"});
  plugin("A").pre_filter.status = Make(Code::kUnschedulable, "from A");
  plugin("B").pre_filter.status = Make(Code::kUnschedulable, "from B");
  const PreFilterVerdict verdict = PreFilter();
  EXPECT_EQ(verdict.verdict.status.code(), Code::kUnschedulable);
  EXPECT_EQ(verdict.verdict.status.message(), "from B");
  EXPECT_EQ(verdict.verdict.plugin, "B");
  EXPECT_THAT(log_, ElementsAre("A.PreFilter", "B.PreFilter", "C.PreFilter"));
}

TEST_F(RuntimeTest, PreFilterStopsAtUnschedulableAndUnresolvable) {
  Make({"A", "B"});
  plugin("A").pre_filter.status = Make(Code::kUnschedulableAndUnresolvable, "never");
  const PreFilterVerdict verdict = PreFilter();
  EXPECT_EQ(verdict.verdict.status.message(), "never");
  EXPECT_THAT(log_, ElementsAre("A.PreFilter"));
}

TEST_F(RuntimeTest, PreFilterTurnsAnyOtherCodeIntoAnError) {
  Make({"A"});
  plugin("A").pre_filter.status = Make(Code::kWait, "why");
  const PreFilterVerdict verdict = PreFilter();
  EXPECT_EQ(verdict.verdict.status.code(), Code::kError);
  EXPECT_EQ(verdict.verdict.status.message(), "running PreFilter plugin \"A\": why");
}

TEST_F(RuntimeTest, PreFilterRestrictionsAreIntersected) {
  Make({"A", "B", "C"});
  plugin("A").pre_filter.node_names = {"n1", "n2"};
  plugin("C").pre_filter.node_names = {"n2", "n3"};
  const PreFilterVerdict verdict = PreFilter();
  EXPECT_TRUE(verdict.verdict.status.ok());
  ASSERT_TRUE(verdict.node_names);
  EXPECT_THAT(*verdict.node_names, ElementsAre("n2"));
  EXPECT_THAT(verdict.restricting_plugins, ElementsAre("A", "C"));
}

TEST_F(RuntimeTest, PreFilterRestrictionsThatLeaveNothingAreUnresolvable) {
  Make({"B", "A", "C"});
  plugin("B").pre_filter.node_names = {"n1"};
  plugin("A").pre_filter.node_names = {"n2"};
  PreFilterVerdict verdict = PreFilter();
  EXPECT_EQ(verdict.verdict.status.code(), Code::kUnschedulableAndUnresolvable);
  EXPECT_EQ(verdict.verdict.status.message(),
            "node(s) didn't satisfy plugin(s) [A B] simultaneously");
  EXPECT_EQ(verdict.verdict.plugin, "");
  EXPECT_THAT(log_, ElementsAre("B.PreFilter", "A.PreFilter"));

  Make({"A"});
  plugin("A").pre_filter.node_names = std::vector<std::string>{};
  verdict = PreFilter();
  EXPECT_EQ(verdict.verdict.status.message(), "node(s) didn't satisfy plugin A");
}

TEST_F(RuntimeTest, PreFilterThatOnePluginEndsNamesNoneThatRestrictedTheNodes) {
  for (const Code code : {Code::kUnschedulableAndUnresolvable, Code::kError}) {
    Make({"A", "B"});
    plugin("A").pre_filter.node_names = {"n1"};
    plugin("B").pre_filter.status = Make(code, "from B");
    const PreFilterVerdict verdict = PreFilter();
    EXPECT_EQ(verdict.verdict.plugin, "B");
    EXPECT_THAT(verdict.restricting_plugins, testing::IsEmpty());
  }
  plugin("B").pre_filter.status = Make(Code::kUnschedulable, "from B");
  EXPECT_THAT(PreFilter().restricting_plugins, ElementsAre("A"));
}

TEST_F(RuntimeTest, FilterReturnsTheFirstRejectionInProfileOrder) {
  Make({"A", "B", "C"});
  plugin("B").filter = Make(Code::kUnschedulable, "from B");
  plugin("C").filter = Make(Code::kUnschedulable, "from C");
  const PluginStatus verdict = Filter();
  EXPECT_EQ(verdict.plugin, "B");
  EXPECT_EQ(verdict.status.message(), "from B");
}

TEST_F(RuntimeTest, FilterTurnsAStatusThatIsNoRejectionIntoAnError) {
  Make({"A"});
  plugin("A").filter = Make(Code::kSkip, "odd");
  EXPECT_EQ(Filter().status.code(), Code::kError);
  EXPECT_EQ(Filter().status.message(), "running \"A\" filter plugin: odd");
}

TEST_F(RuntimeTest, PreScoreSkipSwitchesThePluginsScoreOff) {
  Make({"A", "B"});
  plugin("A").pre_score = Status::Skip();
  plugin("A").score_by_node = {{"n1", 100}};
  plugin("B").score_by_node = {{"n1", 10}, {"n2", 20}};
  ASSERT_TRUE(RunPreScore(*profile_, cycle_, *pod_, snapshot_, snapshot_.nodes()).ok());
  const std::vector<NodeRow> nodes = {0, 1};
  std::vector<int64_t> totals;
  std::vector<PluginScores> details;
  ASSERT_TRUE(RunScore(*profile_, cycle_, *pod_, snapshot_, nodes, totals, &details).ok());
  EXPECT_THAT(totals, ElementsAre(10, 20));
  ASSERT_EQ(details.size(), 1u);
  EXPECT_EQ(details[0].entry->name, "B");
  EXPECT_THAT(details[0].raw, ElementsAre(10, 20));
}

TEST_F(RuntimeTest, ScoreAddsUpByWeightAndRefusesScoresOutOfRange) {
  config::Plugins plugins;
  plugins.multi_point.enabled = {{"Sort"}, {"A", 3}, {"B", 2}};
  profile_ = std::move(*TryMake(plugins));
  plugin("A").score_by_node = {{"n1", 10}, {"n2", 20}};
  plugin("B").score_by_node = {{"n1", 100}};
  const std::vector<NodeRow> nodes = {0, 1};
  std::vector<int64_t> totals;
  ASSERT_TRUE(RunScore(*profile_, cycle_, *pod_, snapshot_, nodes, totals, nullptr).ok());
  EXPECT_THAT(totals, ElementsAre(230, 60));

  plugin("B").score_by_node = {{"n1", 101}};
  const Status status = RunScore(*profile_, cycle_, *pod_, snapshot_, nodes, totals, nullptr);
  EXPECT_EQ(status.code(), Code::kError);
  EXPECT_EQ(status.message(),
            "applying score defaultWeights on Score plugins: plugin \"B\" returns an invalid "
            "score 101, it should in the range of [0, 100] after normalizing");
}

TEST_F(RuntimeTest, ReserveStopsAtTheFirstFailureAndUnreserveRunsAllBackwards) {
  Make({"A", "B", "C"});
  plugin("B").reserve = Make(Code::kError, "no room in my books");
  const PluginStatus verdict = RunReserve(*profile_, cycle_, *pod_, "n1");
  EXPECT_EQ(verdict.status.message(), "running Reserve plugin \"B\": no room in my books");
  RunUnreserve(*profile_, cycle_, *pod_, "n1");
  EXPECT_THAT(log_,
              ElementsAre("A.Reserve", "B.Reserve", "C.Unreserve", "B.Unreserve", "A.Unreserve"));
}

TEST_F(RuntimeTest, PermitCollectsWaitsUnlessSomebodyRejects) {
  Make({"A", "B", "C"});
  plugin("A").permit = {Make(Code::kWait, "a"), std::chrono::hours(1)};
  plugin("C").permit = {Make(Code::kWait, "c"), std::chrono::seconds(3)};
  PermitVerdict verdict = RunPermit(*profile_, cycle_, *pod_, "n1");
  EXPECT_EQ(verdict.verdict.status.code(), Code::kWait);
  ASSERT_EQ(verdict.waits.size(), 2u);
  EXPECT_EQ(verdict.waits[0].timeout, std::chrono::minutes(15)) << "the cap";
  EXPECT_EQ(verdict.waits[1].timeout, std::chrono::seconds(3));

  plugin("B").permit = {Make(Code::kUnschedulable, "b"), {}};
  verdict = RunPermit(*profile_, cycle_, *pod_, "n1");
  EXPECT_EQ(verdict.verdict.plugin, "B");
  EXPECT_THAT(verdict.waits, IsEmpty());
}

TEST_F(RuntimeTest, PreFlightListsThePluginsThatHaveWork) {
  Make({"A", "B"});
  EXPECT_TRUE(RunPreBindPreFlight(*profile_, cycle_, *pod_, "n1").status.skip());
  plugin("B").pre_flight = Status::Success();
  PreFlightVerdict verdict = RunPreBindPreFlight(*profile_, cycle_, *pod_, "n1");
  EXPECT_TRUE(verdict.status.ok());
  ASSERT_EQ(verdict.to_run.size(), 1u);
  EXPECT_EQ(verdict.to_run.front().plugin, &plugin("B"));
  EXPECT_EQ(verdict.to_run.front().name, "B");
  plugin("A").pre_flight = Make(Code::kUnschedulable, "no");
  verdict = RunPreBindPreFlight(*profile_, cycle_, *pod_, "n1");
  EXPECT_EQ(verdict.status.code(), Code::kError);
}

TEST_F(RuntimeTest, PostFilterJoinsReasonsUntilOneSucceeds) {
  Make({"A", "PostX", "PostY"});
  const struct {
    const char* name;
    Status x;
    Status y;
    Code want_code;
    const char* want_message;
  } cases[] = {
      {"both unschedulable", Make(Code::kUnschedulable, "x"), Make(Code::kUnschedulable, "y"),
       Code::kUnschedulable, "x, y"},
      {"the second succeeds", Make(Code::kUnschedulable, "x"), Make(Code::kSuccess, "made room"),
       Code::kSuccess, "made room"},
      {"unresolvable ends it", Make(Code::kUnschedulableAndUnresolvable, "x"),
       Make(Code::kSuccess, "y"), Code::kUnschedulableAndUnresolvable, "x"},
      {"an error ends it", Make(Code::kError, "not found"), Make(Code::kSuccess, "y"), Code::kError,
       "not found"},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    post_filter("PostX").result.status = c.x;
    post_filter("PostY").result.status = c.y;
    struct NoStatuses final : NodeToStatus {
      Status Get(NodeRow) const override { return {}; }
    } statuses;
    const PostFilterVerdict verdict = RunPostFilter(*profile_, cycle_, *pod_, snapshot_, statuses);
    EXPECT_EQ(verdict.verdict.status.code(), c.want_code);
    EXPECT_EQ(verdict.message, c.want_message);
  }
}

TEST_F(RuntimeTest, PreEnqueueAsksTheLastGatingPluginFirst) {
  Make({"A", "B", "C"});
  plugin("C").pre_enqueue = Make(Code::kUnschedulableAndUnresolvable, "closed");
  EXPECT_EQ(RunPreEnqueue(*profile_, *pod_, "C", nullptr).plugin, "C");
  EXPECT_THAT(log_, ElementsAre("C.PreEnqueue"));
  log_.clear();
  plugin("C").pre_enqueue = Status::Success();
  EXPECT_EQ(RunPreEnqueue(*profile_, *pod_, "C", nullptr).plugin, "");
  EXPECT_THAT(log_, ElementsAre("C.PreEnqueue", "A.PreEnqueue", "B.PreEnqueue"));
}

}  // namespace
}  // namespace berth::framework
