// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "src/explain/near_misses.h"
#include "src/explain/verdict_json.h"
#include "src/explain/verdict_table.h"
#include "tests/unit/engine/judgement_fixture.h"

namespace berth::explain {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

class VerdictTest : public test::JudgementFixture {
 protected:
  std::string Document(const test::PodBuilder& pod = test::MakePod()) {
    std::string out;
    VerdictWriter(*snapshot_).Append(Judge(pod), out);
    return out;
  }
  std::string Table(const test::PodBuilder& pod = test::MakePod(), const TableLimits& limits = {}) {
    std::string out;
    AppendTable(Judge(pod), limits, out);
    return out;
  }
};

TEST_F(VerdictTest, ADocumentHasItsMembersByNameAndLeavesOutWhatIsEmptyOrZero) {
  MakeWeighted({{"B", 3}, {"A", 1}});
  SetNodes(4);
  plugin("A").score_by_node = {{"n3", 5}};
  plugin("B").score_by_node = {{"n3", 2}};
  plugin("A").filter_by_node["n0"] = handle_.reason_table.Make(
      Code::kUnschedulable, ReasonSet{"too small", "Insufficient \"cpu\""});
  plugin("B").pre_filter.node_names = {"n0", "n2", "n3"};
  EXPECT_EQ(
      Document(),
      R"({"best":["n3"],"nodes":{)"
      R"("n0":{"code":"Unschedulable","feasible":false,"plugin":"A",)"
      R"("reasons":["Insufficient \"cpu\"","too small"]},)"
      R"("n1":{"code":"UnschedulableAndUnresolvable","feasible":false,"reasons":["prefilter"]},)"
      R"("n2":{"feasible":true,"scores":{"A":{"raw":0,"weighted":0},"B":{"raw":0,"weighted":0}}},)"
      R"("n3":{"feasible":true,"scores":{"A":{"raw":5,"weighted":5},"B":{"raw":2,"weighted":6}},)"
      R"("total":11}},"pod":"default/pod","preFilter":{"plugins":["B"],)"
      R"("reasons":["node(s) didn't satisfy plugin(s) [B]"]},)"
      R"("profile":"test-scheduler","result":"scheduled"})"
      "\n");
}

TEST_F(VerdictTest, ExtendersThatWereNotAskedAreNamed) {
  Make({"A"});
  SetNodes(1);
  extenders_not_asked_ = {"http://first", "http://second"};
  EXPECT_THAT(
      Document(),
      testing::StartsWith(R"({"best":["n0"],"extendersNotAsked":["http://first","http://second"],)"
                          R"("nodes":)"));
  EXPECT_THAT(Table(), testing::StartsWith("default/pod: scheduled (profile test-scheduler)\n"
                                           "  extender not asked: http://first\n"
                                           "  extender not asked: http://second\n"));
}

TEST_F(VerdictTest, NodesAreSortedAsTextAndSoIsTheBest) {
  Make({"A"});
  SetNodes(11);
  const std::string document = Document();
  EXPECT_THAT(document, testing::StartsWith(R"({"best":["n0","n1","n10","n2",)"));
  EXPECT_LT(document.find(R"("n10":)"), document.find(R"("n2":)"));
}

TEST_F(VerdictTest, EachResultSaysWhatItKnows) {
  SetNodes(2);
  const struct {
    std::string name;
    std::function<void()> set_up;
    test::PodBuilder pod;
    std::string want;
  } cases[] = {
      {"unschedulable", [this] { plugin("A").filter = Make(Code::kUnschedulable, "full"); },
       test::MakePod(),
       R"({"message":"0/2 nodes are available: 2 full.","nodes":{)"
       R"("n0":{"code":"Unschedulable","feasible":false,"plugin":"A","reasons":["full"]},)"
       R"("n1":{"code":"Unschedulable","feasible":false,"plugin":"A","reasons":["full"]}},)"
       R"("pod":"default/pod","profile":"test-scheduler","result":"unschedulable"})"},
      {"rejected by PreFilter",
       [this] { plugin("A").pre_filter.status = Make(Code::kUnschedulable, "no claim"); },
       test::MakePod(),
       R"({"message":"0/2 nodes are available: no claim.","nodes":{)"
       R"("n0":{"code":"UnschedulableAndUnresolvable","feasible":false,"reasons":["prefilter"]},)"
       R"("n1":{"code":"UnschedulableAndUnresolvable","feasible":false,"reasons":["prefilter"]}},)"
       R"("pod":"default/pod","preFilter":{"plugins":["A"],"reasons":["no claim"]},)"
       R"("profile":"test-scheduler","result":"unschedulable"})"},
      {"gated", [this] { plugin("A").pre_enqueue = Make(Code::kUnschedulable, "wait"); },
       test::MakePod(),
       R"({"message":"wait","nodes":{},"pod":"default/pod","profile":"test-scheduler",)"
       R"("result":"gated"})"},
      {"being deleted", [] {}, test::MakePod().DeletedAt(Time()),
       R"({"nodes":{},"pod":"default/pod","profile":"test-scheduler","result":"ignored"})"},
      {"another scheduler's", [this] { profile_.reset(); }, test::MakePod(),
       R"({"nodes":{},"pod":"default/pod","result":"ignored"})"},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    Make({"A"});
    c.set_up();
    EXPECT_EQ(Document(c.pod), c.want + "\n");
  }
}

TEST_F(VerdictTest, AnErrorShowsNoNodes) {
  Make({"A"});
  SetNodes(2);
  plugin("A").score_status = Make(Code::kError, "lost");
  const auto document = nlohmann::json::parse(Document());
  EXPECT_EQ(document["result"], "error");
  EXPECT_THAT(document["nodes"], IsEmpty());
  EXPECT_FALSE(document.contains("best"));
}

TEST_F(VerdictTest, TheNearestMissesComeFirst) {
  Make({"A", "B"});
  SetNodes(8);
  const Status evictable = Make(Code::kUnschedulable, "full");
  plugin("A").filter_by_node = {
      {"n0", Make(Code::kUnschedulableAndUnresolvable, "tainted")},
      {"n1", evictable},
  };
  plugin("B").filter_by_node = {
      {"n2", Make(Code::kUnschedulableAndUnresolvable, "too small")},
      {"n3", handle_.reason_table.Make(Code::kUnschedulable, ReasonSet{"cpu", "memory"})},
      {"n4", evictable},
      {"n5", evictable},
      {"n6", Make(Code::kUnschedulable, "busy")},
  };
  std::vector<std::string> order;
  for (const RejectedGroup& group : NearMisses(Judge())) {
    order.push_back(std::string(group.plugin) + ": " + group.reasons.front() + " x" +
                    std::to_string(group.nodes.size()));
  }
  EXPECT_THAT(order, ElementsAre("B: full x2", "B: busy x1", "B: cpu x1", "A: full x1",
                                 "B: too small x1", "A: tainted x1"));
}

TEST_F(VerdictTest, EqualReasonsOfTwoTablesAreOneGroup) {
  Make({"A"});
  SetNodes(2);
  ReasonTable other;
  plugin("A").filter_by_node = {{"n0", Make(Code::kUnschedulable, "full")},
                                {"n1", other.Make(Code::kUnschedulable, "full")}};
  const auto groups = NearMisses(Judge());
  ASSERT_EQ(groups.size(), 1u);
  EXPECT_THAT(groups[0].nodes, ElementsAre(0, 1));
}

TEST_F(VerdictTest, TheTableOfAnUnschedulablePodGroupsItsNodes) {
  Make({"A", "B"});
  SetNodes(5);
  plugin("A").filter_by_node["n4"] = Make(Code::kUnschedulableAndUnresolvable, "tainted");
  plugin("B").filter = Make(Code::kUnschedulable, "full");
  EXPECT_EQ(Table(),
            "default/pod: unschedulable (profile test-scheduler)\n"
            "  0/5 nodes are available: 1 tainted, 4 full.\n"
            "\n"
            "  Rejected nodes, nearest misses first:\n"
            "  NODES  PLUGIN  REASONS  CODE                          EXAMPLES\n"
            "      4  B       full     Unschedulable                 n0, n1, n2, ...\n"
            "      1  A       tainted  UnschedulableAndUnresolvable  n4\n");
}

// In documents they have no plugin, as kube-scheduler has none for them.
TEST_F(VerdictTest, TheTableNamesThePluginsByWhichPreFilterRulesNodesOut) {
  SetNodes(3);
  Make({"A", "B", "C"});
  plugin("B").pre_filter.node_names = {"n0", "n1"};
  plugin("C").pre_filter.node_names = {"n0", "n2"};
  plugin("A").filter = Make(Code::kUnschedulable, "full");
  EXPECT_THAT(Table(), HasSubstr("\n      2  B, C    prefilter: node(s) didn't satisfy plugin(s) "
                                 "[B C]  UnschedulableAndUnresolvable  n1, n2\n"));
  plugin("C").pre_filter.node_names = {"n2"};
  EXPECT_THAT(Table(), HasSubstr("\n      3  B, C    prefilter: node(s) didn't satisfy plugin(s) "
                                 "[B C] simultaneously  "));
  plugin("C").pre_filter = {.status = Make(Code::kUnschedulable, "no claim"), .node_names = {}};
  EXPECT_THAT(Table(), HasSubstr("\n      3  C       prefilter: no claim  "
                                 "UnschedulableAndUnresolvable  n0, n1, n2\n"));
}

TEST_F(VerdictTest, TheTableOfAScheduledPodShowsTheBestNodesAndWhatTheyScored) {
  MakeWeighted({{"A", 3}, {"B", 1}});
  SetNodes(4);
  plugin("A").score_by_node = {{"n2", 20}, {"n3", 10}};
  plugin("B").score_by_node = {{"n3", 30}};
  EXPECT_EQ(Table(test::MakePod(), {.best_nodes = 3, .groups = 1, .examples = 1}),
            "default/pod: scheduled (profile test-scheduler)\n"
            "\n"
            "  2 nodes of 4 feasible with the highest total; scores are weighted (raw):\n"
            "  NODE  TOTAL        A   B\n"
            "  n2       60  60 (20)   0\n"
            "  n3       60  30 (10)  30\n"
            "  n0        0        0   0\n"
            "  ... and 1 node\n");
}

TEST_F(VerdictTest, TheTableSaysWhyAPodIsIgnored) {
  Make({"A"});
  SetNodes(1);
  EXPECT_THAT(Table(test::MakePod().DeletedAt(Time())), HasSubstr("the pod is being deleted"));
  profile_.reset();
  EXPECT_THAT(Table(test::MakePod().SchedulerName("mine")),
              HasSubstr("no profile is named \"mine\""));
  EXPECT_THAT(Table(), Not(HasSubstr("profile test-scheduler")));
}

class PreemptionVerdictTest : public VerdictTest {
 protected:
  // Nodes n0 to n10, all full; pods a and b may have to go.
  void SetUp() override {
    MakeWeighted({{"A", 1}, {"Preempts", 1}});
    SetNodes(11);
    plugin("A").filter = Make(Code::kUnschedulable, "full");
    a_ = test::MakePod().Name("a").Priority(7).Info(handle_.names);
    b_ = test::MakePod().Namespace("shop").Name("b").Priority(-1).Info(handle_.names);
  }
  void Find(std::vector<PreemptionCandidate> candidates, std::vector<size_t> best) {
    preemption_->preview = {
        .candidates = std::move(candidates), .best = std::move(best), .message = ""};
  }
  std::string Member() {
    std::string out;
    VerdictWriter(*snapshot_).Append(JudgeWithPreemption(), out);
    const auto document = nlohmann::json::parse(out);
    return document.contains("preemption") ? document["preemption"].dump() : "none";
  }
  std::string Section(const TableLimits& limits = {}) {
    std::string out;
    AppendTable(JudgeWithPreemption(), limits, out);
    return out.substr(out.rfind("\n\n") + 2);
  }

  PodInfoPtr a_;
  PodInfoPtr b_;
};

TEST_F(PreemptionVerdictTest, ADocumentHasTheCandidatesTheirVictimsInOrderAndTheBest) {
  Find({{2, {b_.get(), a_.get()}, 0}, {9, {a_.get()}, 1}, {10, {a_.get()}, 0}}, {0, 2});
  EXPECT_EQ(Member(), R"({"best":["n10","n2"],"candidates":{"n10":{"victims":["default/a"]},)"
                      R"("n2":{"victims":["shop/b","default/a"]},)"
                      R"("n9":{"pdbViolations":1,"victims":["default/a"]}}})");
}

TEST_F(PreemptionVerdictTest, ADocumentHasWhatPostFilterSaysWhereEvictionsDoNotHelp) {
  preemption_->preview.message = "preemption: not \"helpful\"";
  EXPECT_EQ(Member(), R"({"message":"preemption: not \"helpful\""})");
  EXPECT_EQ(Section(), "  preemption: not \"helpful\"\n");
}

TEST_F(PreemptionVerdictTest, PreemptionStandsBetweenPodAndProfileAndOnlyWhenAskedFor) {
  EXPECT_THAT(Document(), Not(HasSubstr("preemption")));
  std::string out;
  VerdictWriter(*snapshot_).Append(JudgeWithPreemption(), out);
  EXPECT_THAT(out, HasSubstr(R"("pod":"default/pod","preemption":{},"profile":)"));
}

TEST_F(PreemptionVerdictTest, ATableHasTheBestCandidatesFirst) {
  Find({{2, {b_.get()}, 0}, {9, {a_.get(), b_.get()}, 1}, {10, {a_.get()}, 0}}, {1, 2});
  EXPECT_EQ(Section(),
            "  Preemption would help on 3 nodes; one of the best would be drawn:\n"
            "               BROKEN\n"
            "  NODE  BEST  BUDGETS  EVICTED\n"
            "  n10   yes         0  default/a (priority 7)\n"
            "  n9    yes         1  default/a (priority 7), shop/b (priority -1)\n"
            "  n2    no          0  shop/b (priority -1)\n");
}

TEST_F(PreemptionVerdictTest, ATableShowsNoMoreThanItsLimits) {
  Find({{2, {b_.get(), a_.get()}, 0}, {9, {a_.get()}, 0}}, {0});
  TableLimits limits;
  limits.candidates = 1;
  limits.victims = 1;
  EXPECT_THAT(Section(limits), HasSubstr("  n2    yes         0  shop/b (priority -1) and 1 other\n"
                                         "  ... and 1 node\n"));
}

}  // namespace
}  // namespace berth::explain
