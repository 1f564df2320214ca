// SPDX-License-Identifier: Apache-2.0
#include "tests/scenarios/runner/run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "src/documents/parse.h"
#include "tests/scenarios/runner/compare.h"
#include "tests/scenarios/runner/parse.h"
#include "tests/scenarios/runner/report.h"

namespace berth::scenarios {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr std::string_view kRunHead = "name: a story\nplugin: scheduler\nsteps:\n";

Scenario Parse(const std::string& steps) {
  auto scenario = ParseScenario(std::string(kRunHead) + steps, "story.yaml");
  EXPECT_TRUE(scenario) << scenario.error().message;
  return scenario ? *std::move(scenario) : Scenario();
}

// "what: expected / found" of each mismatch.
std::vector<std::string> MismatchesOf(const Outcome& outcome) {
  std::vector<std::string> texts;
  for (const Mismatch& m : outcome.mismatches) {
    texts.push_back(m.what + ": " + m.expected + " / " + m.found);
  }
  return texts;
}

ConfigValue Json(std::string_view text) { return documents::ParseJson(text, "").value(); }

std::vector<std::string> PathsOf(const std::vector<Mismatch>& mismatches) {
  std::vector<std::string> paths;
  for (const Mismatch& mismatch : mismatches) paths.push_back(mismatch.what);
  return paths;
}

TEST(CompareTreesTest, LooksOnlyAtWhatIsNamed) {
  const ConfigValue found = Json(R"({"a":1,"b":{"c":["x","y"],"d":{}},"e":"text"})");
  const struct {
    const char* name;
    const char* expected;
    std::vector<std::string> want;
  } cases[] = {
      {"a part", R"({"b":{"c":["x","y"]}})", {}},
      {"all of it", R"({"a":1,"b":{"c":["x","y"],"d":{}},"e":"text"})", {}},
      {"another number", R"({"a":2})", {"v.a"}},
      {"another type", R"({"a":"1"})", {"v.a"}},
      {"a part of a list", R"({"b":{"c":["x"]}})", {"v.b.c"}},
      {"a list in another order", R"({"b":{"c":["y","x"]}})", {"v.b.c"}},
      {"a member that is missing", R"({"f":1})", {"v.f"}},
      {"a map for a value", R"({"a":{"x":1}})", {"v.a"}},
      {"a value for a map", R"({"b":1})", {"v.b"}},
      {"an empty map", R"({"b":{"d":{}}})", {}},
      {"an empty map for a full one", R"({"b":{}})", {"v.b"}},
      {"null for what is not there", R"({"f":null,"b":{"f":null}})", {}},
      {"null for what is there", R"({"a":null,"b":{"c":null}})", {"v.a", "v.b.c"}},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    EXPECT_EQ(PathsOf(CompareTrees(Json(c.expected), found, "v")), c.want);
  }
}

TEST(RunScenarioTest, EachExpectationCanFail) {
  const struct {
    const char* expect;
    const char* want;
  } cases[] = {
      {"bound: 2", "bound: 2 / 1"},
      {"unschedulable: 0", "unschedulable: 0 / 1"},
      {"gated: 0", "gated: 0 / 1"},
      {"backoff: 1", "backoff: 1 / 0"},
      {"active: 1", "active: 1 / 0"},
      {"pods: {fits: {node: b}}", "pods.default/fits.node: \"b\" / \"a\""},
      {"pods: {fits: {node: null}}", "pods.default/fits.node: no node / \"a\""},
      {"pods: {fits: {nodeIn: [b, c]}}", "pods.default/fits.node: \"b\" or \"c\" / \"a\""},
      {"pods: {fits: {place: gone}}", "pods.default/fits.place: gone / bound"},
      {"pods: {fits: {attempts: 2}}", "pods.default/fits.attempts: 2 / 1"},
      {"pods: {fits: {nominatedNode: a}}", "pods.default/fits.nominatedNode: \"a\" / no node"},
      {"pods: {large: {message: x}}",
       "pods.default/large.message: \"x\" / \"0/1 nodes are available: 1 Insufficient cpu. "
       "preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling.\""},
      {"pods: {large: {plugins: [NodeName]}}",
       "pods.default/large.plugins: [\"NodeName\"] / [\"NodeResourcesFit\"]"},
      {"pods: {gated: {place: unschedulable}}", "pods.default/gated.place: unschedulable / gated"},
      {"pods: {absent: {node: null}}", "pods.default/absent.place: not gone / gone"},
      {"explain: {large: {result: scheduled}}",
       "explain.default/large.result: \"scheduled\" / \"unschedulable\""},
      {"explain: {absent: {result: gated}}", "explain.default/absent: a pod / none of this name"},
      {"evicted: [fits]", "evicted: [\"default/fits\"] / null"},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.expect);
    const Outcome outcome =
        RunScenario(Parse(std::string("- nodes: [{name: a}]\n"
                                      "- pods:\n"
                                      "  - {name: fits}\n"
                                      "  - {name: large, requests: {cpu: 9}}\n"
                                      "  - {name: gated, spec: {schedulingGates: [{name: x}]}}\n"
                                      "- advance: 0s\n"
                                      "- expect: {") +
                          c.expect + "}\n"));
    EXPECT_EQ(outcome.error, "");
    EXPECT_EQ(outcome.step, 3U);
    EXPECT_THAT(MismatchesOf(outcome), ElementsAre(HasSubstr(c.want)));
  }
}

TEST(RunScenarioTest, AnEventThatIsNotThereFails) {
  const Outcome outcome = RunScenario(Parse(
      "- nodes: [{name: a}]\n- pods: [{name: web}]\n"
      "- expect: {events: [{reason: Scheduled, pod: web}, {reason: Preempted, pod: web}]}\n"));
  ASSERT_EQ(outcome.mismatches.size(), 1U);
  EXPECT_THAT(outcome.mismatches[0].expected, HasSubstr("Preempted default/web"));
  EXPECT_THAT(outcome.mismatches[0].found, HasSubstr("Scheduled default/web"));
}

TEST(RunScenarioTest, DecidesNothingBeforeAStepNeedsIt) {
  const Outcome outcome =
      RunScenario(Parse("- nodes: [{name: a}]\n- pods: [{name: web}]\n"
                        "- expect: {explain: {web: {best: [a]}}}\n"
                        "- nodes: [{name: b, labels: {x: z}}]\n"
                        "- expect: {explain: {web: {best: [a, b]}}}\n"
                        "- expect: {pods: {web: {nodeIn: [a, b], attempts: 1}}}\n"));
  EXPECT_TRUE(outcome.ok()) << Report(Parse(""), outcome);
  EXPECT_EQ(outcome.cycles, 1U);
}

TEST(RunScenarioTest, APodWithANodeCannotBeExplained) {
  const Outcome outcome =
      RunScenario(Parse("- nodes: [{name: a}]\n- pods: [{name: web}]\n- expect: {bound: 1}\n"
                        "- expect: {explain: {web: {best: [a]}}}\n"));
  EXPECT_THAT(MismatchesOf(outcome), ElementsAre(HasSubstr("before the first step that lets")));
}

TEST(RunScenarioTest, AStepThatCannotBeCarriedOutEndsTheStory) {
  const struct {
    const char* steps;
    const char* want;
  } cases[] = {
      {"- pods: [{name: a}, {name: a}]\n", "default/a is there already"},
      {"- update: {pods: [{name: a, labels: {x: y}}]}\n", "default/a is not there"},
      {"- delete: {nodes: [a]}\n", "a is not there"},
      {"- nodes: [{name: a}]\n- update: {nodes: [{name: a, spec: {foo: 1}}]}\n",
       "a: spec.foo: unknown field"},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.steps);
    const Outcome outcome = RunScenario(Parse(std::string(c.steps) + "- expect: {bound: 7}\n"));
    EXPECT_FALSE(outcome.ok());
    EXPECT_THAT(outcome.error, HasSubstr(c.want));
    EXPECT_THAT(outcome.mismatches, IsEmpty());
  }
}

TEST(RunScenarioTest, AnUpdateIsAMergePatch) {
  const Outcome outcome = RunScenario(
      Parse("- nodes: [{name: a, labels: {x: \"1\", y: \"1\"}, spec: {unschedulable: true}}]\n"
            "- update: {nodes: [{name: a, labels: {x: \"2\", y: null}, spec: null}]}\n"
            "- pods:\n"
            "  - {name: new-label, spec: {nodeSelector: {x: \"2\"}}}\n"
            "  - {name: old-label, spec: {nodeSelector: {y: \"1\"}}}\n"
            "- expect: {pods: {new-label: {node: a}, old-label: {node: null}}}\n"));
  EXPECT_TRUE(outcome.ok()) << Report(Parse(""), outcome);
}

TEST(RunScenarioTest, ABadPluginArgIsAnError) {
  const auto scenario = ParseScenario(
      "name: x\nplugin: scheduler\nconfig: {profiles: [{schedulerName: default-scheduler, "
      "pluginConfig: [{name: InterPodAffinity, args: {hardPodAffinityWeight: 101}}]}]}\n"
      "steps: []\n",
      "story.yaml");
  ASSERT_FALSE(scenario);
  EXPECT_THAT(scenario.error().message, HasSubstr("hardPodAffinityWeight"));
}

TEST(ReportTest, NamesStepNoteLineAndBothSides) {
  const Scenario scenario = Parse(
      "- nodes: [{name: a}]\n- pods: [{name: web}]\n"
      "- note: no pod came\n  expect:\n    pods:\n      web: {node: null}\n");
  EXPECT_EQ(Report(scenario, RunScenario(scenario)),
            "FAIL  story.yaml: a story\n"
            "  step 3 of 3 (no pod came)\n"
            "  story.yaml:9: pods.default/web.node\n"
            "    expected no node\n"
            "    found    \"a\"\n");
  EXPECT_EQ(Report(scenario, Outcome()), "ok    story.yaml: a story\n");
}

}  // namespace
}  // namespace berth::scenarios
