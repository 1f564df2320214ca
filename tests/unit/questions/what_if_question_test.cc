// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include "src/questions/what_if.h"
#include "tests/unit/simulator/simulator_fixture.h"

namespace berth::questions {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr std::string_view kEverything = R"({
  "add": [
    {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "there"}, "spec": {"nodeName": "n1"}},
    {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n9"}}
  ],
  "addNodes": {"count": 3, "like": "n1"},
  "removeNodes": ["n2"],
  "scale": [{"kind": "Deployment", "name": "web", "replicas": 5},
            {"namespace": "shop", "kind": "Job", "name": "sum", "replicas": 0}],
  "cordon": ["n5"],
  "drain": ["n3", "n4"],
  "reschedule": true,
  "newConfig": "apiVersion: x",
  "fill": {"pod": {"metadata": {"name": "p", "namespace": "shop"},
                   "spec": {"containers": [{"name": "c"}]}},
           "most": 7}
})";

std::string Message(std::string_view json) {
  const auto question = ParseWhatIf(json);
  return question ? "" : question.error().message;
}

TEST(QuestionTest, ADocumentIsRead) {
  const auto question = ParseWhatIf(kEverything);
  ASSERT_TRUE(question) << question.error().message;
  ASSERT_EQ(question->add.size(), 2u);
  ASSERT_NE(api::As<api::Node>(question->add[0]), nullptr) << "nodes come first";
  ASSERT_NE(api::As<api::Pod>(question->add[1]), nullptr);
  EXPECT_EQ(api::As<api::Pod>(question->add[1])->metadata.Key(), "default/there");
  EXPECT_EQ(question->add_nodes, 3u);
  EXPECT_EQ(question->like, "n1");
  EXPECT_THAT(question->remove_nodes, ElementsAre("n2"));
  ASSERT_EQ(question->scale.size(), 2u);
  EXPECT_EQ(question->scale[0].namespace_, "default");
  EXPECT_EQ(question->scale[0].kind, "Deployment");
  EXPECT_EQ(question->scale[0].name, "web");
  EXPECT_EQ(question->scale[0].replicas, 5u);
  EXPECT_EQ(question->scale[1].namespace_, "shop");
  EXPECT_THAT(question->drain, ElementsAre("n3", "n4"));
  EXPECT_THAT(question->cordon, ElementsAre("n5"));
  EXPECT_TRUE(question->reschedule);
  EXPECT_EQ(question->new_config, "apiVersion: x");
  ASSERT_NE(question->fill, nullptr);
  EXPECT_EQ(question->fill->metadata.Key(), "shop/p");
  EXPECT_EQ(question->fill->spec.scheduler_name, "default-scheduler");
  EXPECT_EQ(question->most, 7u);
  EXPECT_TRUE(question->any());
}

TEST(QuestionTest, AnEmptyDocumentAsksNothing) {
  const auto question = ParseWhatIf("{}");
  ASSERT_TRUE(question);
  EXPECT_FALSE(question->any());
  EXPECT_EQ(question->most, kMostCopies);
}

TEST(QuestionTest, WhatIsWrongIsToldWithItsPath) {
  const struct {
    const char* json;
    const char* want;
  } cases[] = {
      {"", "unexpected end of input"},
      {"[", "line 1, column 2: syntax error"},
      {"[]", "<root>: Invalid value: []: must be a map"},
      {R"({"drian": ["n1"]})", R"(unknown field "drian"; did you mean "drain"?)"},
      {R"({"addNodes": {"count": 0, "like": "n1"}})",
       "addNodes.count: Invalid value: 0: must be between 1 and 10000"},
      {R"({"addNodes": {"count": 10001, "like": "n1"}})", "addNodes.count: Invalid value: 10001"},
      {R"({"addNodes": {"like": "n1"}})", "addNodes.count: Required value"},
      {R"({"addNodes": {"count": 2}})", "addNodes.like: Required value"},
      {R"({"addNodes": {"count": 2, "like": "n1", "zone": "a"}})",
       R"(unknown field "addNodes.zone")"},
      {R"({"scale": [{"kind": "Job", "name": "b", "replica": 2, "replicas": 1}]})",
       R"(unknown field "scale[0].replica"; did you mean "replicas"?)"},
      {R"({"removeNodes": "n1"})", R"(removeNodes: Invalid value: "n1": must be a list)"},
      {R"({"drain": ["n1", 2]})", "drain[1]: Invalid value: 2: must be a string"},
      {R"({"scale": [{"kind": "Job", "name": "b"}]})", "scale[0].replicas: Required value"},
      {R"({"scale": [{"replicas": 1}]})",
       "scale[0].kind: Required value, scale[0].name: Required value"},
      {R"({"scale": [{"kind": "Job", "name": "b", "replicas": 100001}]})",
       "scale[0].replicas: Invalid value: 100001: must be between 0 and 100000"},
      {R"({"fill": {"most": 5}})", "fill.pod: Required value"},
      {R"({"fill": {"pod": {"metadata": {"name": "p"}}, "most": 0}})", "fill.most: Invalid value"},
      {R"({"fill": {"pod": {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "p"}}}})",
       "fill.pod: must be a pod"},
      {R"({"fill": {"pod": {"spec": {}}}})", "fill.pod: metadata.name: Required value"},
      {R"({"fill": {"pod": {"metadata": {"name": "p"}, "spec": {"priority": "x"}}}})",
       "fill.pod.spec.priority: expected an integer, got a string"},
      {R"({"add": [{"metadata": {"name": "p"}}]})", "add[0]: kind: must be stated"},
      {R"({"add": [7]})", "add[0]: expected an object"},
      {R"({"add": [{"apiVersion": "networking.k8s.io/v1", "kind": "Ingress", "metadata": {"name": "p"}}]})",
       "add[0]: kind: scheduling does not read Ingress of networking.k8s.io/v1"},
      {R"({"add": [{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"},
                    "spec": {"nodeSelectors": {}}}]})",
       R"(add[0]: unknown field "spec.nodeSelectors"; did you mean "nodeSelector"?)"},
      {R"({"fill": {"pod": {"metadata": {"name": "p"}, "spec": {"toleration": []}}}})",
       R"(fill.pod: unknown field "spec.toleration"; did you mean "tolerations"?)"},
      {R"({"add": [{"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "d"},
                    "spec": {"template": {"spec": {"containers": [{}], "priority": "x"}}}}]})",
       "add[0].spec.template.spec.priority: expected an integer, got a string"},
      {R"({"add": [{"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "d"},
                    "spec": {"template": {"spec": {"containers": []}}}}]})",
       "add[0]: Deployment default/d: spec.template.spec.containers: Required value"},
      {R"({"add": [{"apiVersion": "apps/v1", "kind": "ReplicaSet",
                    "metadata": {"name": "r", "namespace": "shop"}, "spec": {}}]})",
       "add[0]: ReplicaSet shop/r: spec.template.spec.containers: Required value"},
      {R"({"add": [{"apiVersion": "batch/v1", "kind": "CronJob", "metadata": {"name": "c"}}]})",
       "add[0]: CronJob default/c: spec.jobTemplate.spec.template.spec.containers: Required "
       "value"},
      {R"({"add": [{"apiVersion": "v2", "kind": "Pod", "metadata": {"name": "p"}}]})",
       "add[0]: apiVersion: Pod is read in version v1, not v2"},
      {R"({"add": [{"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n"}},
                   {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n"}}]})",
       R"(add[1]: metadata.name: Duplicate value: "n")"},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.json);
    EXPECT_THAT(Message(c.json), HasSubstr(c.want));
  }
}

TEST(QuestionTest, ANodeThatStandsTwiceCountsOnce) {
  const auto question = ParseWhatIf(
      R"({"cordon": ["a", "b", "a"], "drain": ["c", "c"], "removeNodes": ["e", "d", "e"]})");
  ASSERT_TRUE(question) << question.error().message;
  EXPECT_THAT(question->cordon, ElementsAre("a", "b"));
  EXPECT_THAT(question->drain, ElementsAre("c"));
  EXPECT_THAT(question->remove_nodes, ElementsAre("e", "d"));
}

TEST(QuestionTest, ListsHaveABound) {
  std::string names = R"("n")";
  std::string objects = "1";
  for (size_t i = 0; i < kMostNames; ++i) names += R"(,"n")";
  for (size_t i = 0; i < kMostObjects; ++i) objects += ",1";
  EXPECT_THAT(Message(R"({"drain":[)" + names + "]}"), HasSubstr("drain: Too many"));
  EXPECT_THAT(Message(R"({"removeNodes":[)" + names + "]}"), HasSubstr("removeNodes: Too many"));
  EXPECT_THAT(Message(R"({"scale":[)" + names + "]}"), HasSubstr("scale: Too many"));
  EXPECT_THAT(Message(R"({"add":[)" + objects + "]}"), HasSubstr("add: Too many"));
}

class AskTest : public test::SimulatorFixture {
 protected:
  AskTest() {
    Apply(test::MakeNode("n1").Allocatable({{"cpu", "4"}}));
    Apply(test::MakePod().Name("web").Req({{"cpu", "1"}}).Owner("ReplicaSet", "web", "uid"));
  }
  Result<WhatIfAnswer> AskJson(std::string_view json) {
    const auto question = ParseWhatIf(json);
    if (!question) return Fail(question.error());
    return AskWhatIf(*question, *simulation_);
  }
};

TEST_F(AskTest, EvictionsOfThePendingPodsAreToldApartFromThoseThen) {
  Apply(test::MakePod().Name("low").OnNode("n1").Priority(-5).Req({{"cpu", "3"}}));
  Apply(test::MakePod().Name("high").Priority(5).Req({{"cpu", "2"}}));
  const auto answer = AskJson(R"({"add": [{"apiVersion": "v1", "kind": "Pod",
    "metadata": {"name": "higher"}, "spec": {"priority": 9, "containers": [
      {"name": "c", "resources": {"requests": {"cpu": "4"}}}]}}]})");
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(answer->now.pending, 2u);
  EXPECT_EQ(answer->now.evicted, 0u);
  EXPECT_THAT(answer->evicted_before, ElementsAre("default/low"));
  EXPECT_EQ(answer->before.evicted, 1u);
  EXPECT_THAT(answer->evicted, testing::UnorderedElementsAre("default/high", "default/web"));
  EXPECT_EQ(answer->after.evicted, 3u);
  std::string table;
  AppendAnswerTable(*answer, table);
  EXPECT_THAT(table, HasSubstr("\nEvicted by preemption, for the pods that are pending now: "
                               "default/low\n"));
}

// As kubectl does: what is not asked for is not named, and counts.
TEST_F(AskTest, OnlyPodsOfTheNamespaceAreNamed) {
  Apply(test::MakeNode("n2").Allocatable({{"cpu", "4"}}));
  Apply(test::MakePod().Namespace("shop").Name("a").OnNode("n2").Owner("Job", "a", "u"));
  auto answer = AskJson(R"({"drain": ["n1", "n2"]})");
  ASSERT_TRUE(answer) << answer.error().message;
  answer->evicted = {"shop/a", "default/b"};
  std::string all;
  AppendAnswer(*answer, all);
  const bool ok = answer->ok();
  answer->namespace_ = "shop";
  std::string document;
  AppendAnswer(*answer, document);
  std::string table;
  AppendAnswerTable(*answer, table);
  EXPECT_THAT(all, HasSubstr("\"default/"));
  EXPECT_THAT(document,
              testing::AllOf(HasSubstr("\"shop/"), testing::Not(HasSubstr("\"default/"))));
  EXPECT_THAT(table, testing::AllOf(HasSubstr("shop/"), testing::Not(HasSubstr("default/"))));
  EXPECT_EQ(document.substr(0, document.find("drained")), all.substr(0, all.find("drained")))
      << "figures are the cluster's";
  EXPECT_EQ(answer->ok(), ok);
  answer->namespace_ = "sho";
  EXPECT_TRUE(answer->Moved().empty());
}

TEST_F(AskTest, ADaemonSetIsNotScaled) {
  Apply(test::MakePod().Name("agent-n1").Owner("DaemonSet", "agent", "uid").OnNode("n1"));
  const auto answer = AskJson(R"({"scale": [{"kind": "ds", "name": "agent", "replicas": 5}]})");
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().message,
            "scale: a DaemonSet is not scaled: each node that it is for has one of its pods");
}

// As of a chart: all of it at once, with what admission would make of it.
TEST_F(AskTest, WorkloadsBecomeTheirPods) {
  Apply(test::MakeNode("n2").Allocatable({{"cpu", "4"}}));
  const auto answer = AskJson(R"({"add": [
    {"apiVersion": "apps/v1", "kind": "DaemonSet", "metadata": {"name": "agent"},
     "spec": {"template": {"spec": {"containers": [
       {"name": "c", "resources": {"requests": {"cpu": "1"}}}]}}}},
    {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": "gold"},
     "value": 9},
    {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "api"},
     "spec": {"replicas": 3, "selector": {"matchLabels": {"app": "api"}},
              "template": {"metadata": {"labels": {"app": "api"}}, "spec": {
                "priorityClassName": "gold",
                "containers": [{"name": "c", "resources": {"limits": {"cpu": "1"}}}]}}}}
]})");
  ASSERT_TRUE(answer) << answer.error().message;
  std::vector<std::string> moved;
  for (const MovedPod& pod : answer->Moved()) {
    if (!pod.before) moved.push_back(pod.pod + " " + pod.after.value_or("?"));
  }
  EXPECT_THAT(moved, ElementsAre("default/agent-n1 n1", "default/agent-n2 n2",
                                 testing::StartsWith("default/api-new-0 n"),
                                 testing::StartsWith("default/api-new-1 n"),
                                 testing::StartsWith("default/api-new-2 n")));
  const auto made = simulation_->FindPod("default/api-new-0");
  EXPECT_EQ(made->priority(), 9);
  EXPECT_EQ(made->spec.containers[0].resources.requests, test::MakeResources({{"cpu", "1"}}));
}

TEST_F(AskTest, ChangesAreMadeOneAfterTheOtherAndAnsweredTogether) {
  const auto answer = AskJson(R"({
    "add": [{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "there"},
             "spec": {"nodeName": "n1", "containers": [
               {"name": "c", "resources": {"requests": {"cpu": "1"}}}]}}],
    "addNodes": {"count": 1, "like": "n1"},
    "scale": [{"kind": "ReplicaSet", "name": "web", "replicas": 2}],
    "drain": ["n1"],
    "fill": {"pod": {"metadata": {"name": "p"}, "spec": {"containers": [
               {"name": "c", "resources": {"limits": {"cpu": "1"}}}]}}}})");
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(answer->before.nodes, 1u);
  EXPECT_EQ(answer->before.pods.size(), 1u);
  EXPECT_EQ(answer->after.nodes, 2u);
  ASSERT_EQ(answer->drained.size(), 1u);
  EXPECT_THAT(answer->drained[0].unmanaged, ElementsAre("default/there"));
  ASSERT_TRUE(answer->filled);
  // n1 is cordoned, and two of the new node's four cores are those of web.
  EXPECT_EQ(answer->filled->pods, 2u);
  EXPECT_THAT(answer->filled->stopped_by, HasSubstr("1 Insufficient cpu"));
}

TEST_F(AskTest, ACordonedNodeKeepsItsPodsAndTakesNoOthers) {
  Apply(test::MakeNode("n2").Allocatable({{"cpu", "2"}}));
  Apply(test::MakePod().Name("stays").OnNode("n1").Req({{"cpu", "1"}}));
  const auto answer = AskJson(R"({"cordon": ["n1", "n3"], "add": [
    {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n3"},
     "status": {"allocatable": {"cpu": "8", "pods": "10"}}},
    {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n4"}, "spec": {"unschedulable": true},
     "status": {"allocatable": {"cpu": "8", "pods": "10"}}}],
    "scale": [{"kind": "rs", "name": "web", "replicas": 4}]})");
  ASSERT_TRUE(answer) << answer.error().message;
  const api::Taint taint{"node.kubernetes.io/unschedulable", "", "NoSchedule"};
  for (const char* name : {"n1", "n3", "n4"}) {
    const auto node =
        simulator::FindIn<api::Node>(simulation_->api(), informers::Kind::kNode, name);
    ASSERT_NE(node, nullptr);
    EXPECT_TRUE(node->spec.unschedulable) << name;
    EXPECT_THAT(node->spec.taints, ElementsAre(taint)) << name;
  }
  EXPECT_EQ(answer->after.pods.at("default/stays").node, "n1");
  for (const auto& [key, pod] : answer->after.pods) {
    if (!answer->before.pods.contains(key)) EXPECT_THAT(pod.node, testing::AnyOf("n2", ""));
  }
  EXPECT_THAT(AskJson(R"({"cordon": ["n7"]})").error().message,
              testing::StartsWith("cordon: the cluster has no node n7"));
}

TEST_F(AskTest, APodThatWaitsSaysWhyInEachCase) {
  const auto answer = AskJson(R"({"add": [
    {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "gated"},
     "spec": {"schedulingGates": [{"name": "quota"}], "containers": [{"name": "c"}]}},
    {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "others"},
     "spec": {"schedulerName": "foo", "containers": [{"name": "c"}]}}]})");
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(answer->after.pods.at("default/gated").message,
            "waiting for scheduling gates: [quota]");
  EXPECT_EQ(answer->after.pods.at("default/others").message, "no profile is named \"foo\"");
}

TEST_F(AskTest, APodOfTheQuestionTakesANameThatIsFreeInTheCluster) {
  Apply(test::MakePod().Name("run-1").OnNode("n1"));
  const auto answer = AskJson(R"({"add": [
    {"apiVersion": "v1", "kind": "Pod", "metadata": {"generateName": "run-"},
     "spec": {"containers": [{"name": "c"}]}},
    {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "run-3"},
     "spec": {"containers": [{"name": "c"}]}},
    {"apiVersion": "v1", "kind": "Pod", "metadata": {"generateName": "run-"},
     "spec": {"containers": [{"name": "c"}]}}]})");
  ASSERT_TRUE(answer) << answer.error().message;
  std::vector<std::string> keys;
  for (const MovedPod& pod : answer->Moved()) keys.push_back(pod.pod);
  EXPECT_THAT(keys, ElementsAre("default/run-2", "default/run-3", "default/run-4"));
}

TEST_F(AskTest, AWorkloadOfTheQuestionMayAskForAName) {
  Apply(test::MakePod().Name("there").Owner("Job", "run-1", "uid").Req({{"cpu", "1"}}));
  const auto answer = AskJson(R"({"add": [
    {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"generateName": "run-"},
     "spec": {"template": {"spec": {"containers": [{"name": "c"}]}}}}]})");
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_TRUE(answer->after.pods.contains("default/run-2-new-0"));
}

TEST_F(AskTest, AWorkloadWithoutPodsScalesByItsTemplate) {
  const auto answer = AskJson(R"({"add": [
    {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "idle"},
     "spec": {"replicas": 0, "selector": {"matchLabels": {"app": "idle"}},
              "template": {"metadata": {"labels": {"app": "idle"}},
                           "spec": {"containers": [{"name": "c"}]}}}}],
    "scale": [{"kind": "deploy", "name": "idle", "replicas": 2}]})");
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(answer->after.pods.at("default/idle-new-0").node, "n1");
  EXPECT_EQ(answer->after.pods.at("default/idle-new-1").node, "n1");
}

TEST_F(AskTest, AFillEndsAtItsMost) {
  const auto answer = AskJson(R"({"fill": {"pod": {"metadata": {"name": "p"},
    "spec": {"containers": [{"name": "c", "resources": {"requests": {"cpu": "1"}}}]}}, "most": 2}})");
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(answer->filled->pods, 2u);
  EXPECT_EQ(answer->filled->stopped_by, "");
}

TEST_F(AskTest, WhatIsNotThereIsNamedByItsPart) {
  const struct {
    const char* json;
    const char* want;
  } cases[] = {
      {R"({"addNodes": {"count": 2, "like": "n9"}})", "addNodes.like: the cluster has no node n9"},
      {R"({"removeNodes": ["n9"]})", "removeNodes: the cluster has no node n9"},
      {R"({"drain": ["n9"]})", "drain: the cluster has no node n9"},
      {R"({"scale": [{"kind": "Job", "name": "b", "replicas": 1}]})",
       "scale: no pod of Job default/b is there to be copied"},
      {R"({"add": [{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"},
                    "spec": {"nodeName": "n9"}}]})",
       R"(add: default/p: spec.nodeName: Not found: "n9")"},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.json);
    const auto answer = AskJson(c.json);
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().message, c.want);
  }
}

}  // namespace
}  // namespace berth::questions
