// SPDX-License-Identifier: Apache-2.0
#include "tests/scenarios/runner/parse.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace berth::scenarios {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr std::string_view kHead = "name: a story\nplugin: NodeName\nsteps:\n";

Result<Scenario> ParseSteps(const std::string& steps) {
  return ParseScenario(std::string(kHead) + steps, "story.yaml");
}

TEST(ParseScenarioTest, ReadsEveryKindOfStep) {
  const auto scenario = ParseSteps(
      "- nodes: [{name: a}]\n"
      "  services: [{name: s, spec: {selector: {app: web}}}]\n"
      "- pods: [{name: web, requests: {cpu: 2}}]\n"
      "- note: why\n"
      "  update: {nodes: [{name: a, spec: {unschedulable: true}}]}\n"
      "- delete: {pods: [staging/web, web]}\n"
      "- advance: 1m30s\n"
      "- expect: {bound: 3, pods: {web: {node: null}}, evicted: [web]}\n");
  ASSERT_TRUE(scenario) << scenario.error().message;
  EXPECT_EQ(scenario->name, "a story");
  EXPECT_EQ(scenario->seed, 1U);
  ASSERT_EQ(scenario->steps.size(), 6U);
  EXPECT_EQ(std::get<Create>(scenario->steps[0].action).objects.size(), 2U);
  EXPECT_EQ(scenario->steps[1].line, 6);
  EXPECT_EQ(scenario->steps[2].note, "why");
  EXPECT_EQ(std::get<Update>(scenario->steps[2].action).patches[0].key, "a");
  const auto& deleted = std::get<Delete>(scenario->steps[3].action).objects;
  EXPECT_EQ(deleted[0].key, "staging/web");
  EXPECT_EQ(deleted[1].key, "default/web");
  EXPECT_EQ(std::get<Advance>(scenario->steps[4].action).by, std::chrono::seconds(90));
  const auto& expect = std::get<Expect>(scenario->steps[5].action);
  EXPECT_EQ(expect.counts[0].count, 3);
  EXPECT_EQ(expect.pods[0].key, "default/web");
  EXPECT_EQ(expect.pods[0].nodes, std::vector<std::string>{""});
  EXPECT_EQ(expect.evicted, std::vector<std::string>{"default/web"});
}

TEST(ParseScenarioTest, FillsInWhatObjectsLeaveOut) {
  const auto scenario = ParseSteps("- nodes: [{name: a}]\n  pods: [{name: web}]\n");
  ASSERT_TRUE(scenario) << scenario.error().message;
  const auto& objects = std::get<Create>(scenario->steps[0].action).objects;
  const auto& node = *api::As<api::Node>(objects[0]);
  EXPECT_EQ(api::Find(node.status.allocatable, "pods")->Value(), 110);
  const auto& pod = *api::As<api::Pod>(objects[1]);
  EXPECT_EQ(pod.metadata.Key(), "default/web");
  EXPECT_EQ(pod.spec.scheduler_name, "default-scheduler");
  EXPECT_EQ(pod.spec.containers[0].name, "main");
  EXPECT_NE(pod.metadata.uid, node.metadata.uid);
}

TEST(ParseScenarioTest, RepeatReplacesTheIndexInTextAndKeys) {
  const auto scenario =
      ParseSteps("- pods: [{name: web-$i, repeat: 3, labels: {app-$i: \"x$i$i\"}}]\n");
  ASSERT_TRUE(scenario) << scenario.error().message;
  const auto& objects = std::get<Create>(scenario->steps[0].action).objects;
  ASSERT_EQ(objects.size(), 3U);
  const auto& last = *api::As<api::Pod>(objects[2]);
  EXPECT_EQ(last.metadata.name, "web-2");
  EXPECT_EQ(last.metadata.labels, (api::StringMap{{"app-2", "x22"}}));
}

TEST(ParseScenarioTest, NamesFileLineAndFieldOfWhatIsWrong) {
  const struct {
    const char* name;
    const char* steps;
    const char* starts;
    const char* contains;
  } cases[] = {
      {"an unknown step", "- pods: []\n- jump: 3\n", "story.yaml:5: ", "unknown field \"jump\""},
      {"two things at once", "- advance: 1s\n  delete: {}\n",
       "story.yaml:5: ", "delete: a step does one thing"},
      {"objects and a wait", "- nodes: []\n  advance: 1s\n",
       "story.yaml:5: ", "advance: a step does one thing"},
      {"nothing at all", "- note: so what\n", "story.yaml:4: ", "does nothing"},
      {"a member the API lacks", "- pods:\n  - {name: a, spec: {nodename: x}}\n",
       "story.yaml:5: ", "pods: default/a: spec.nodename: unknown field"},
      {"a wrong type", "- nodes:\n  - {name: a, spec: {unschedulable: 1}}\n",
       "story.yaml:5: ", "spec.unschedulable: expected true or false"},
      {"a bad quantity", "- pods:\n  - {name: a, requests: {cpu: many}}\n",
       "story.yaml:5: ", "spec.containers[0].resources.requests[\"cpu\"]"},
      {"a bad selector",
       "- pods:\n  - name: a\n    spec: {affinity: {nodeAffinity: "
       "{requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: "
       "[{key: x, operator: Like}]}]}}}}\n",
       "story.yaml:5: ", "nodeSelectorTerms[0].matchExpressions[0]"},
      {"no name", "- pods:\n  - {labels: {a: b}}\n", "story.yaml:5: ", "name: is missing"},
      {"a name twice", "- pods:\n  - {name: a, metadata: {name: b}}\n",
       "story.yaml:5: ", "name: stands in metadata, too"},
      {"requests twice", "- pods:\n  - {name: a, requests: {cpu: 1}, spec: {containers: []}}\n",
       "story.yaml:5: ", "requests: the pod has spec.containers, too"},
      {"a bad repeat", "- pods:\n  - {name: a, repeat: -1}\n",
       "story.yaml:5: ", "repeat: expected"},
      {"an unknown list", "- update: {jobs: []}\n", "story.yaml:4: ", "\"update.jobs\""},
      {"a patch of no pod", "- update: {pods: [{labels: {}}]}\n",
       "story.yaml:4: ", "update.pods: name: is missing"},
      {"no duration", "- advance: 10\n", "story.yaml:4: ", "advance: expected a duration"},
      {"backwards", "- advance: -1s\n", "story.yaml:4: ", "advance: expected a duration"},
      {"an unknown expectation", "- expect: {bond: 1}\n", "story.yaml:4: ", "expect.bond"},
      {"an unknown place", "- expect:\n    pods:\n      a: {place: nowhere}\n",
       "story.yaml:6: ", "expect.pods.a.place: Unsupported value: \"nowhere\""},
      {"node and nodeIn", "- expect: {pods: {a: {node: x, nodeIn: [y]}}}\n",
       "story.yaml:4: ", "expect.pods.a.nodeIn"},
      {"an unknown member of a pod", "- expect: {pods: {a: {nod: x}}}\n",
       "story.yaml:4: ", "expect.pods.a.nod"},
      {"an unknown member of an event", "- expect: {events: [{type: Normal}]}\n",
       "story.yaml:4: ", "expect.events.type"},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    const auto scenario = ParseSteps(c.steps);
    ASSERT_FALSE(scenario);
    EXPECT_THAT(scenario.error().message, StartsWith(c.starts));
    EXPECT_THAT(scenario.error().message, HasSubstr(c.contains));
  }
}

TEST(ParseScenarioTest, RefusesWhatStandsAroundTheSteps) {
  const struct {
    const char* name;
    const char* text;
    const char* want;
  } cases[] = {
      {"bad YAML", "name: [", "story.yaml:"},
      {"no document", "", "story.yaml: a file holds one scenario, not 0"},
      {"two documents", "a: 1\n---\nb: 2\n", "one scenario, not 2"},
      {"a list", "- a\n", "story.yaml:1: a scenario is a map"},
      {"no name", "plugin: NodeName\nsteps: []\n", "name: Required value"},
      {"no plugin", "name: x\nsteps: []\n", "plugin: Required value"},
      {"no steps", "name: x\nplugin: NodeName\n", "steps: Required value"},
      {"a negative seed", "name: x\nplugin: NodeName\nseed: -1\nsteps: []\n",
       "seed: Invalid value: -1"},
      {"an unknown plugin", "name: x\nplugin: Nod\nsteps: []\n", "plugin: \"Nod\" is neither"},
      {"an unknown key", "name: x\nplugin: NodeName\nstep: []\nsteps: []\n",
       "unknown field \"step\""},
      {"an unknown gate", "name: x\nplugin: NodeName\nfeatureGates: {Foo: true}\nsteps: []\n",
       "story.yaml:3: featureGates: "},
      {"a gate that is no bool",
       "name: x\nplugin: NodeName\nfeatureGates: {PodLevelResources: 1}\nsteps: []\n",
       "featureGates.PodLevelResources: expected true or false"},
      {"evictions in a list", "name: x\nplugin: NodeName\nevictions: [web]\nsteps: []\n",
       "story.yaml:3: evictions: expected a map"},
      {"an unknown fate", "name: x\nplugin: NodeName\nevictions: {web: goes}\nsteps: []\n",
       "story.yaml:3: evictions.web: expected lingers or refused"},
      {"a bad configuration", "name: x\nplugin: NodeName\nconfig: {parallelism: -1}\nsteps: []\n",
       "story.yaml:3: "},
      {"an unknown member of it", "name: x\nplugin: NodeName\nconfig: {foo: 1}\nsteps: []\n",
       "foo"},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    const auto scenario = ParseScenario(c.text, "story.yaml");
    ASSERT_FALSE(scenario);
    EXPECT_THAT(scenario.error().message, StartsWith("story.yaml:"));
    EXPECT_THAT(scenario.error().message, HasSubstr(c.want));
  }
}

TEST(ReadScenarioTest, NamesAFileThatIsNotThere) {
  const auto scenario = ReadScenario("tests/scenarios/none.yaml");
  ASSERT_FALSE(scenario);
  EXPECT_THAT(scenario.error().message, HasSubstr("tests/scenarios/none.yaml"));
}

}  // namespace
}  // namespace berth::scenarios
