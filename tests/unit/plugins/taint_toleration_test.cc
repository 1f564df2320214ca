// SPDX-License-Identifier: Apache-2.0
#include "plugins/taint_toleration/taint_toleration.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plugins/node_unschedulable/node_unschedulable.h"
#include "tests/unit/plugins/plugin_fixture.h"

namespace berth::plugins {
namespace {

using namespace berth::test;

class TaintTolerationTest : public testing::Test, public PluginFixture {};

TEST_F(TaintTolerationTest, FilterRejectsNodesWithARepellingTaintThatIsNotTolerated) {
  TaintToleration plugin(handle);
  const struct {
    const char* name;
    api::Pod pod;
    api::Node node;
    bool want;
  } cases[] = {
      {"no taint", MakePod(), MakeNode(), true},
      {"NoSchedule", MakePod(), MakeNode().Taint("gpu", "1", "NoSchedule"), false},
      {"NoExecute", MakePod(), MakeNode().Taint("gpu", "1", "NoExecute"), false},
      {"PreferNoSchedule does not repel", MakePod(),
       MakeNode().Taint("gpu", "1", "PreferNoSchedule"), true},
      {"tolerated", MakePod().Tolerate("gpu", "Equal", "1", "NoSchedule"),
       MakeNode().Taint("gpu", "1", "NoSchedule"), true},
      {"another value", MakePod().Tolerate("gpu", "Equal", "2", "NoSchedule"),
       MakeNode().Taint("gpu", "1", "NoSchedule"), false},
      {"one of two", MakePod().Tolerate("gpu", "Exists", "", ""),
       MakeNode().Taint("gpu", "1", "NoSchedule").Taint("spot", "", "NoSchedule"), false},
      {"all of them", MakePod().Tolerate("", "Exists", "", ""),
       MakeNode().Taint("gpu", "1", "NoSchedule").Taint("spot", "", "NoExecute"), true},
      {"comparison without its gate", MakePod().Tolerate("level", "Gt", "3", ""),
       MakeNode().Taint("level", "5", "NoSchedule"), false},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    const Status status = Filter(plugin, c.pod, c.node);
    EXPECT_EQ(status.code(), c.want ? Code::kSuccess : Code::kUnschedulableAndUnresolvable);
    EXPECT_EQ(status.message(), c.want ? "" : "node(s) had untolerated taint(s)");
  }
}

TEST_F(TaintTolerationTest, ComparisonsCountWithTheirGate) {
  const struct {
    const char* name;
    const char* op;
    const char* value;
    const char* taint_value;
    bool want;
  } cases[] = {
      {"greater", "Gt", "3", "5", true},
      {"not greater", "Gt", "5", "5", false},
      {"less", "Lt", "5", "-3", true},
      {"not less", "Lt", "5", "5", false},
      {"the taint is no number", "Gt", "3", "many", false},
      {"the toleration is no number", "Lt", "many", "3", false},
      {"a number not in plain form", "Gt", "3", "05", false},
  };
  for (const bool gate : {false, true}) {
    handle.gates.taint_toleration_comparison_operators = gate;
    TaintToleration plugin(handle);
    for (const auto& c : cases) {
      SCOPED_TRACE(std::string(c.name) + (gate ? ", with the gate" : ", without the gate"));
      const bool tolerated = gate && c.want;
      for (const char* effect : {"NoSchedule", "NoExecute"}) {
        const api::Node node = MakeNode().Taint("level", c.taint_value, effect);
        EXPECT_EQ(Filter(plugin, MakePod().Tolerate("level", c.op, c.value, ""), node).ok(),
                  tolerated);
        EXPECT_FALSE(Filter(plugin, MakePod().Tolerate("other", c.op, c.value, ""), node).ok());
      }
      const api::Node preferred = MakeNode().Taint("level", c.taint_value, "PreferNoSchedule");
      EXPECT_EQ(Score(plugin, MakePod().Tolerate("level", c.op, c.value, ""), preferred),
                tolerated ? 0 : 1);
      EXPECT_EQ(Score(plugin, MakePod().Tolerate("level", c.op, c.value, "NoSchedule"), preferred),
                1);
      const api::ObjectPtr node =
          Object(MakeNode().Taint("level", c.taint_value, "NoSchedule").Obj());
      EXPECT_EQ(Hint(plugin, kNodeAdd, MakePod().Tolerate("level", c.op, c.value, ""), {}, node),
                tolerated ? "queue" : "skip");
    }
  }
}

TEST_F(TaintTolerationTest, AnUnschedulableNodeHasNoValueToCompare) {
  handle.gates.taint_toleration_comparison_operators = true;
  NodeUnschedulable plugin(handle);
  const api::Node node = MakeNode().Unschedulable();
  const char* const key = "node.kubernetes.io/unschedulable";
  EXPECT_FALSE(Filter(plugin, MakePod().Tolerate(key, "Gt", "-1", ""), node).ok());
  EXPECT_FALSE(Filter(plugin, MakePod().Tolerate(key, "Lt", "1", ""), node).ok());
  EXPECT_TRUE(Filter(plugin, MakePod().Tolerate(key, "Exists", "", ""), node).ok());
}

TEST_F(TaintTolerationTest, ScoreCountsPreferNoScheduleTaintsThatAreNotTolerated) {
  TaintToleration plugin(handle);
  const api::Node node = MakeNode()
                             .Taint("a", "1", "PreferNoSchedule")
                             .Taint("b", "1", "PreferNoSchedule")
                             .Taint("c", "1", "NoSchedule");
  const struct {
    const char* name;
    api::Pod pod;
    int64_t want;
  } cases[] = {
      {"no toleration", MakePod(), 2},
      {"one tolerated", MakePod().Tolerate("a", "Exists", "", "PreferNoSchedule"), 1},
      {"one tolerated by any effect", MakePod().Tolerate("a", "Exists", "", ""), 1},
      {"of another effect", MakePod().Tolerate("a", "Exists", "", "NoSchedule"), 2},
      {"all tolerated", MakePod().Tolerate("", "Exists", "", ""), 0},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    EXPECT_EQ(Score(plugin, c.pod, node), c.want);
  }
}

TEST_F(TaintTolerationTest, FewerTaintsNormaliseToMore) {
  const TaintToleration plugin(handle);
  const struct {
    std::vector<int64_t> raw;
    std::vector<int64_t> want;
  } cases[] = {{{0, 1, 3}, {100, 67, 0}}, {{0, 0}, {100, 100}}, {{2, 2}, {0, 0}}};
  for (const auto& c : cases) {
    std::vector<int64_t> scores = c.raw;
    EXPECT_TRUE(plugin.NormalizeScore(state, *Info(MakePod()), {}, scores).ok());
    EXPECT_EQ(scores, c.want);
  }
}

TEST_F(TaintTolerationTest, QueuesWhenANodeBecomesTolerable) {
  const TaintToleration plugin(handle);
  const api::Pod pod = MakePod().Tolerate("ok", "Exists", "", "");
  const api::ObjectPtr bad = Object(MakeNode().Taint("gpu", "", "NoSchedule").Obj());
  const api::ObjectPtr good = Object(MakeNode().Taint("ok", "", "NoSchedule").Obj());
  EXPECT_EQ(Hint(plugin, kNodeAdd, pod, {}, good), "queue");
  EXPECT_EQ(Hint(plugin, kNodeAdd, pod, {}, bad), "skip");
  EXPECT_EQ(Hint(plugin, kNodeTaint, pod, bad, good), "queue");
  EXPECT_EQ(Hint(plugin, kNodeTaint, pod, good, good), "skip");
  EXPECT_EQ(Hint(plugin, kNodeTaint, pod, good, bad), "skip");
  EXPECT_EQ(Hint(plugin, kNodeTaint, pod, bad, Object(pod)), "error");
  EXPECT_EQ(Hint(plugin, kTargetPodToleration, pod, Object(pod), Object(pod)), "queue");
  EXPECT_EQ(Hint(plugin, kNodeLabel, pod, bad, good), "");
}

}  // namespace
}  // namespace berth::plugins
