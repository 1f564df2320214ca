// SPDX-License-Identifier: Apache-2.0
#include "src/extender/messages.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/builders.h"
#include "tests/support/plain_snapshot.h"

namespace berth::extender {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Optional;
using testing::Pair;

api::Pod WithText(const test::PodBuilder& pod, std::string_view text) {
  api::Pod object = pod.Obj();
  object.source.json = std::make_shared<const std::string>(text);
  return object;
}

api::Node WithText(const test::NodeBuilder& node, std::string_view text) {
  api::Node object = node.Obj();
  object.source.json = std::make_shared<const std::string>(text);
  return object;
}

class BodiesTest : public testing::Test {
 protected:
  test::PlainResourceNames names_;
  test::PlainSnapshot snapshot_{
      names_,
      {WithText(test::MakeNode("n2"), "{\"two\":2}"),
       WithText(test::MakeNode("n1"), "{\"one\":1}")},
      {WithText(test::MakePod().Name("a").Uid("ua").OnNode("n1"), "{\"a\":1}"),
       WithText(test::MakePod().Name("b").Uid("ub").OnNode("n2"), "{\"b\":1}"),
       WithText(test::MakePod().Name("c").Uid("uc").OnNode("n2"), "{\"c\":1}")}};
  const std::vector<NodeRow> rows_ = {0, 1};
  const api::Pod pod_ = WithText(test::MakePod().Name("web").Uid("u1"), "{\"pod\":1}");
};

TEST_F(BodiesTest, NodesGoByNameOrWhole) {
  EXPECT_EQ(ArgsBody(pod_, snapshot_, rows_, true),
            R"({"Pod":{"pod":1},"Nodes":null,"NodeNames":["n2","n1"]})");
  EXPECT_EQ(
      ArgsBody(pod_, snapshot_, rows_, false),
      R"({"Pod":{"pod":1},"Nodes":{"metadata":{},"items":[{"two":2},{"one":1}]},"NodeNames":null})");
}

TEST_F(BodiesTest, ObjectsWithoutTheirTextGoAsTheyAreKnown) {
  EXPECT_EQ(ArgsBody(test::MakePod().Name("web").Uid("u1"), snapshot_, {}, true),
            R"({"Pod":{"apiVersion":"v1","kind":"Pod","metadata":{"name":"web",)"
            R"("namespace":"default","uid":"u1"},"spec":{"schedulerName":"default-scheduler"}},)"
            R"("Nodes":null,"NodeNames":[]})");
}

TEST_F(BodiesTest, VictimsGoByUidOrWholeSortedByNode) {
  const PreemptionCandidate candidates[] = {
      {0, {&snapshot_.pod("c"), &snapshot_.pod("b")}, 1},
      {1, {&snapshot_.pod("a")}, 0},
  };
  EXPECT_EQ(PreemptionArgsBody(pod_, snapshot_, candidates, true),
            R"({"Pod":{"pod":1},"NodeNameToVictims":null,"NodeNameToMetaVictims":{)"
            R"("n1":{"Pods":[{"UID":"ua"}],"NumPDBViolations":0},)"
            R"("n2":{"Pods":[{"UID":"uc"},{"UID":"ub"}],"NumPDBViolations":1}}})");
  EXPECT_EQ(PreemptionArgsBody(pod_, snapshot_, candidates, false),
            R"({"Pod":{"pod":1},"NodeNameToVictims":{)"
            R"("n1":{"Pods":[{"a":1}],"NumPDBViolations":0},)"
            R"("n2":{"Pods":[{"c":1},{"b":1}],"NumPDBViolations":1}},)"
            R"("NodeNameToMetaVictims":null})");
}

TEST_F(BodiesTest, AVictimThatWasAssumedHasItsNode) {
  const struct {
    std::string_view text;
    std::string_view want;
  } cases[] = {
      {R"({"metadata":{"uid":"v"},"spec":{"priority":0},"status":{}})",
       R"({"metadata":{"uid":"v"},"spec":{"nodeName":"n1","priority":0},"status":{}})"},
      {R"({"spec":{}})", R"({"spec":{"nodeName":"n1"}})"},
      {R"({"metadata":{}})",
       R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"v","namespace":"default","uid":"v"},)"
       R"("spec":{"nodeName":"n1","schedulerName":"default-scheduler"}})"},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.text);
    PodInfo victim = snapshot_.pod("a");
    victim.pod =
        std::make_shared<const api::Pod>(WithText(test::MakePod().Name("v").Uid("v"), c.text));
    const PreemptionCandidate candidate{1, {&victim}, 0};
    EXPECT_THAT(PreemptionArgsBody(pod_, snapshot_, {&candidate, 1}, false),
                testing::HasSubstr("\"n1\":{\"Pods\":[" + std::string(c.want) + "]"));
  }
}

TEST_F(BodiesTest, ABindNamesPodAndNode) {
  EXPECT_EQ(BindingArgsBody(pod_, "n1"),
            R"({"PodName":"web","PodNamespace":"default","PodUID":"u1","Node":"n1"})");
}

TEST(FilterAnswerTest, IsReadInWhateverCase) {
  const auto answer = ReadFilterAnswer(R"({"nodenames":["n1","n2"],"nodes":null,
      "FAILEDNODES":{"n3":"busy","n4":"full"},"failedAndUnresolvableNodes":{"n5":"broken"},
      "error":"","more":1})");
  ASSERT_TRUE(answer.has_value()) << answer.error().message;
  EXPECT_THAT(answer->node_names, Optional(ElementsAre("n1", "n2")));
  EXPECT_EQ(answer->nodes, std::nullopt);
  EXPECT_THAT(answer->failed_nodes, ElementsAre(Pair("n3", "busy"), Pair("n4", "full")));
  EXPECT_THAT(answer->failed_and_unresolvable_nodes, ElementsAre(Pair("n5", "broken")));
  EXPECT_EQ(answer->error, "");
}

TEST(FilterAnswerTest, NodesAreKnownByTheirNames) {
  const auto answer = ReadFilterAnswer(
      R"({"Nodes":{"metadata":{},"items":[{"metadata":{"name":"n1","uid":"x"},"spec":{}},
      {"Metadata":{"Name":"n2"}}]},"NodeNames":null,"Error":"later"})");
  ASSERT_TRUE(answer.has_value()) << answer.error().message;
  EXPECT_THAT(answer->nodes, Optional(ElementsAre("n1", "n2")));
  EXPECT_EQ(answer->node_names, std::nullopt);
  EXPECT_EQ(answer->error, "later");
  EXPECT_THAT(ReadFilterAnswer(R"({"Nodes":{"items":null}})")->nodes, Optional(IsEmpty()));
  EXPECT_EQ(ReadFilterAnswer("null")->nodes, std::nullopt);
}

TEST(FilterAnswerTest, IsReadAsLooselyAsGoReads) {
  const auto names = [](std::string_view body) {
    const auto answer = ReadFilterAnswer(body);
    EXPECT_TRUE(answer.has_value()) << answer.error().message;
    return answer && answer->node_names ? *answer->node_names : std::vector<std::string>();
  };
  EXPECT_THAT(names(R"( {"NodeNames":["n1"]}{"Error":"x"})"), ElementsAre("n1"));
  EXPECT_THAT(names("{\"NodeNames\":[\"n1\"]}\nInternal Server Error"), ElementsAre("n1"));
  EXPECT_THAT(names(R"({"NodeNames":["n1"],"NodeNames":["n2"]})"), ElementsAre("n2"));
  EXPECT_THAT(names(R"({"NodeNames":["n1",null]})"), ElementsAre("n1", ""));
  EXPECT_THAT(names("{\"NodeNames\":[\"n\xff\"]}"), ElementsAre("n\xEF\xBF\xBD"));
  EXPECT_THAT(ReadFilterAnswer(R"({"FailedNodes":{"n1":null}})")->failed_nodes,
              ElementsAre(Pair("n1", "")));
}

TEST(AnswersTest, ThoseThatCannotBeReadTellWhere) {
  const struct {
    std::string_view body;
    std::string_view problem;
  } cases[] = {
      {"<html>", "line 1, column 1: syntax error"},
      {"", "unexpected end of input"},
      {"[]", "expected an object, got a list"},
      {R"({"NodeNames":"n1"})", "NodeNames: expected a list, got a string"},
      {R"({"NodeNames":["n1",2]})", "NodeNames.[1]: expected a string, got a number"},
      {R"({"FailedNodes":{"n1":["x"]}})", "FailedNodes.n1: expected a string, got a list"},
      {R"({"Nodes":{"items":[{"metadata":{"name":1}}]}})",
       "Nodes.items.[0].metadata.name: expected a string, got a number"},
      {R"({"Error":{}})", "Error: expected a string, got a map"},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.body);
    const auto answer = ReadFilterAnswer(c.body);
    ASSERT_FALSE(answer.has_value());
    EXPECT_THAT(answer.error().message, testing::HasSubstr(std::string(c.problem)));
  }
}

TEST(AnswersTest, ScoresAreWholeNumbers) {
  const auto scores = ReadHostPriorityList(R"([{"Host":"n1","Score":7},{"host":"n2"}])");
  ASSERT_TRUE(scores.has_value());
  ASSERT_EQ(scores->size(), 2u);
  EXPECT_EQ(scores->at(0).host, "n1");
  EXPECT_EQ(scores->at(0).score, 7);
  EXPECT_EQ(scores->at(1).score, 0);
  EXPECT_THAT(*ReadHostPriorityList("null"), IsEmpty());
  EXPECT_FALSE(ReadHostPriorityList(R"([{"Host":"n1","Score":7.5}])").has_value());
  EXPECT_FALSE(ReadHostPriorityList(R"({"Host":"n1"})").has_value());
}

TEST(AnswersTest, VictimsAreKnownByTheirUids) {
  const auto answer = ReadPreemptionAnswer(R"({"NodeNameToMetaVictims":{
      "n1":{"Pods":[{"UID":"u1"},{"uid":"u2"}],"NumPDBViolations":3},"n2":null}})");
  ASSERT_TRUE(answer.has_value());
  ASSERT_EQ(answer->size(), 2u);
  EXPECT_EQ(answer->at(0).node, "n1");
  EXPECT_THAT(answer->at(0).pod_uids, ElementsAre("u1", "u2"));
  EXPECT_EQ(answer->at(0).num_pdb_violations, 3);
  EXPECT_THAT(answer->at(1).pod_uids, IsEmpty());
  EXPECT_THAT(*ReadPreemptionAnswer("{}"), IsEmpty());
}

TEST(AnswersTest, ABindSaysOnlyWhatWentWrong) {
  EXPECT_EQ(*ReadBindingAnswer(R"({"Error":"no"})"), "no");
  EXPECT_EQ(*ReadBindingAnswer("{}"), "");
}

}  // namespace
}  // namespace berth::extender
