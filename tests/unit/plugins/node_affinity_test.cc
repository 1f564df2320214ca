// SPDX-License-Identifier: Apache-2.0
#include "plugins/node_affinity/node_affinity.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/plugins/plugin_fixture.h"

namespace berth::plugins {
namespace {

using namespace berth::test;
using testing::ElementsAre;
using testing::Optional;

class NodeAffinityTest : public testing::Test, public PluginFixture {
 public:
  static api::NodeSelectorRequirement Zone(std::string value) {
    return MakeRequirement("zone", "In", {std::move(value)});
  }
  static api::NodeSelectorRequirement Named(std::string value) {
    return MakeRequirement("metadata.name", "In", {std::move(value)});
  }
  static NodeAffinityArgs Added(const PodBuilder& pod) {
    return {pod.Obj().spec.affinity->node_affinity};
  }
};

TEST_F(NodeAffinityTest, FilterWantsThePodsAndTheAddedAffinity) {
  const api::Node node = MakeNode("n1").Label("zone", "a").Label("disk", "ssd");
  const NodeAffinityArgs in_a = Added(MakePod().RequireNode({Zone("a")}));
  const NodeAffinityArgs in_b = Added(MakePod().RequireNode({Zone("b")}));
  const struct {
    const char* name;
    NodeAffinityArgs args;
    api::Pod pod;
    const char* want;
  } cases[] = {
      {"selector", {}, MakePod().NodeSelector("disk", "ssd"), ""},
      {"another selector",
       {},
       MakePod().NodeSelector("disk", "hdd"),
       "node(s) didn't match Pod's node affinity/selector"},
      {"affinity", {}, MakePod().RequireNode({Zone("a")}), ""},
      {"no usable term",
       {},
       MakePod().RequireNode({}),
       "node(s) didn't match Pod's node affinity/selector"},
      {"a broken term",
       {},
       MakePod().RequireNode({MakeRequirement("zone", "Near", {"a"})}),
       "node(s) didn't match Pod's node affinity/selector"},
      {"added affinity", in_a, MakePod(), ""},
      {"another added affinity", in_b, MakePod(),
       "node(s) didn't match scheduler-enforced node affinity"},
      {"the added one is asked first", in_b, MakePod().NodeSelector("disk", "hdd"),
       "node(s) didn't match scheduler-enforced node affinity"},
      {"both", in_a, MakePod().NodeSelector("disk", "hdd"),
       "node(s) didn't match Pod's node affinity/selector"},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    NodeAffinity plugin(c.args, handle);
    const Status status = Filter(plugin, c.pod, node);
    EXPECT_EQ(status.message(), c.want);
    EXPECT_EQ(status.code(),
              status.message().empty() ? Code::kSuccess : Code::kUnschedulableAndUnresolvable);
    // Without PreFilter the answer is the same.
    const PlainSnapshot snapshot = Cluster({node});
    EXPECT_EQ(plugin.Filter(CycleState(), *Info(c.pod), NodeView(snapshot, 0)), status);
  }
}

TEST_F(NodeAffinityTest, PreFilterSkipsPodsThatRequireNothing) {
  NodeAffinity plain({}, handle);
  NodeAffinity adding(Added(MakePod().RequireNode({Zone("a")})), handle);
  NodeAffinity preferring(Added(MakePod().PreferNode(1, {Zone("a")})), handle);
  const PlainSnapshot snapshot = Cluster({});
  const api::Pod indifferent = MakePod().PreferNode(1, {Zone("a")});
  EXPECT_TRUE(plain.PreFilter(state, *Info(indifferent), snapshot).status.skip());
  EXPECT_TRUE(preferring.PreFilter(state, *Info(indifferent), snapshot).status.skip());
  EXPECT_TRUE(adding.PreFilter(state, *Info(indifferent), snapshot).status.ok());
  EXPECT_TRUE(
      plain.PreFilter(state, *Info(MakePod().NodeSelector("a", "b")), snapshot).status.ok());
}

TEST_F(NodeAffinityTest, PreFilterNarrowsToNodesThatEveryTermNames) {
  NodeAffinity plugin({}, handle);
  const PlainSnapshot snapshot = Cluster({});
  const struct {
    const char* name;
    api::Pod pod;
    testing::Matcher<std::optional<std::vector<std::string>>> want;
  } cases[] = {
      {"one name", MakePod().RequireNode({}, {Named("n1")}), Optional(ElementsAre("n1"))},
      {"terms add up", MakePod().RequireNode({}, {Named("n2")}).RequireNode({}, {Named("n1")}),
       Optional(ElementsAre("n1", "n2"))},
      {"a term without a name allows every node",
       MakePod().RequireNode({}, {Named("n1")}).RequireNode({Zone("a")}),
       testing::Eq(std::nullopt)},
      {"NotIn does not narrow",
       MakePod().RequireNode({}, {MakeRequirement("metadata.name", "NotIn", {"n1"})}),
       testing::Eq(std::nullopt)},
      {"one term contradicts itself",
       MakePod().RequireNode({}, {Named("n1"), Named("n2")}).RequireNode({}, {Named("n3")}),
       Optional(ElementsAre("n3"))},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    const PreFilterResult result = plugin.PreFilter(state, *Info(c.pod), snapshot);
    EXPECT_TRUE(result.status.ok());
    EXPECT_THAT(result.node_names, c.want);
  }
  const PreFilterResult conflict = plugin.PreFilter(
      state, *Info(MakePod().RequireNode({}, {Named("n1"), Named("n2")})), snapshot);
  EXPECT_EQ(conflict.status.code(), Code::kUnschedulableAndUnresolvable);
  EXPECT_EQ(conflict.status.message(), "pod affinity terms conflict");
}

TEST_F(NodeAffinityTest, ScoreAddsTheWeightsOfMatchingTerms) {
  const api::Node node = MakeNode("n1").Label("zone", "a");
  const NodeAffinityArgs added = Added(MakePod().PreferNode(5, {Zone("a")}));
  const struct {
    const char* name;
    NodeAffinityArgs args;
    api::Pod pod;
    int64_t want;  // -1: skipped
  } cases[] = {
      {"nothing preferred", {}, MakePod(), -1},
      {"one of two matches",
       {},
       MakePod().PreferNode(10, {Zone("a")}).PreferNode(20, {Zone("b")}),
       10},
      {"both match",
       {},
       MakePod().PreferNode(10, {Zone("a")}).PreferNode(20, {}, {Named("n1")}),
       30},
      {"weight 0 and empty terms count nothing",
       {},
       MakePod().PreferNode(0, {MakeRequirement("zone", "Near", {})}).PreferNode(7, {}),
       0},
      {"added terms", added, MakePod(), 5},
      {"added and own terms", added, MakePod().PreferNode(10, {Zone("a")}), 15},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    NodeAffinity plugin(c.args, handle);
    EXPECT_EQ(Score(plugin, c.pod, node), c.want);
  }
}

TEST_F(NodeAffinityTest, APreferredTermThatCannotBeParsedFailsThePod) {
  NodeAffinity plugin({}, handle);
  const PlainSnapshot snapshot = Cluster({});
  const PodInfoPtr pod =
      Info(MakePod().PreferNode(1, {Zone("a")}).PreferNode(1, {MakeRequirement("zone", "In", {})}));
  const Status status = plugin.PreScore(state, *pod, snapshot, snapshot.nodes());
  EXPECT_EQ(status.code(), Code::kError);
  EXPECT_EQ(status.message(),
            "[1].matchExpressions[0].values: Invalid value: null: for 'in', 'notin' operators, "
            "values set can't be empty");
}

TEST_F(NodeAffinityTest, ScoresNormaliseToTheLargest) {
  const NodeAffinity plugin({}, handle);
  std::vector<int64_t> scores = {0, 10, 30};
  EXPECT_TRUE(plugin.NormalizeScore(state, *Info(MakePod()), {}, scores).ok());
  EXPECT_EQ(scores, (std::vector<int64_t>{0, 33, 100}));
  scores = {0, 0};
  EXPECT_TRUE(plugin.NormalizeScore(state, *Info(MakePod()), {}, scores).ok());
  EXPECT_EQ(scores, (std::vector<int64_t>{0, 0}));
}

TEST_F(NodeAffinityTest, QueuesWhenANodeStartsToMatch) {
  const NodeAffinity plugin({}, handle);
  const NodeAffinity adding(Added(MakePod().RequireNode({Zone("b")})), handle);
  const api::Pod pod = MakePod().RequireNode({Zone("a")});
  const api::Pod broken = MakePod().RequireNode({MakeRequirement("zone", "Near", {"a"})});
  const api::Pod broken_elsewhere =
      MakePod().RequireNode({MakeRequirement("zone", "Near", {"a"})}).NodeSelector("disk", "ssd");
  const api::ObjectPtr in_a = Object(MakeNode().Label("zone", "a").Obj());
  const api::ObjectPtr in_b = Object(MakeNode().Label("zone", "b").Obj());
  EXPECT_EQ(Hint(plugin, kNodeAdd, pod, {}, in_a), "queue");
  EXPECT_EQ(Hint(plugin, kNodeAdd, pod, {}, in_b), "skip");
  EXPECT_EQ(Hint(plugin, kNodeLabel, pod, in_b, in_a), "queue");
  EXPECT_EQ(Hint(plugin, kNodeLabel, pod, in_a, in_a), "skip");
  EXPECT_EQ(Hint(plugin, kNodeLabel, pod, in_a, in_b), "skip");
  EXPECT_EQ(Hint(adding, kNodeAdd, pod, {}, in_a), "skip");
  EXPECT_EQ(Hint(plugin, kNodeAdd, broken, {}, in_a), "error");
  EXPECT_EQ(Hint(plugin, kNodeAdd, broken_elsewhere, {}, in_a), "skip");
  EXPECT_EQ(Hint(plugin, kNodeTaint, pod, in_b, in_a), "");
}

ConfigValue AddedAffinity(const char* field, ConfigValue value) {
  return Args({{"addedAffinity", Args({{field, std::move(value)}})}});
}
ConfigValue Expression(const char* op) {
  return Args({{"matchExpressions", Items({Args({{"key", Item("zone")},
                                                 {"operator", Item(op)},
                                                 {"values", Items({Item("a")})}})})}});
}

TEST_F(NodeAffinityTest, ArgsCarryAnAddedAffinity) {
  const auto required = kNodeAffinityArgs.parse(
      AddedAffinity("requiredDuringSchedulingIgnoredDuringExecution",
                    Args({{"nodeSelectorTerms", Items({Expression("In")})}})));
  ASSERT_TRUE(required.has_value()) << required.error().message;
  EXPECT_EQ(required->added_affinity, Added(MakePod().RequireNode({Zone("a")})).added_affinity);

  const auto preferred = kNodeAffinityArgs.parse(
      AddedAffinity("preferredDuringSchedulingIgnoredDuringExecution",
                    Items({Args({{"weight", Item(3)}, {"preference", Expression("In")}})})));
  ASSERT_TRUE(preferred.has_value()) << preferred.error().message;
  EXPECT_EQ(preferred->added_affinity, Added(MakePod().PreferNode(3, {Zone("a")})).added_affinity);

  EXPECT_EQ(kNodeAffinityArgs.parse(ConfigValue())->added_affinity, std::nullopt);
}

TEST_F(NodeAffinityTest, ArgsAreReadStrictlyAndTheirTermsParsed) {
  const struct {
    const char* name;
    ConfigValue args;
    const char* want;
  } cases[] = {
      {"unknown field", Args({{"addedAffinty", Args({})}}), "unknown field \"addedAffinty\""},
      {"kind", Args({{"kind", Item("NodeResourcesFitArgs")}}),
       "args for plugin NodeAffinity were not of type "
       "NodeAffinityArgs.kubescheduler.config.k8s.io, got "
       "NodeResourcesFitArgs.kubescheduler.config.k8s.io"},
      {"nested unknown field",
       AddedAffinity("requiredDuringSchedulingIgnoredDuringExecution",
                     Args({{"nodeSelectorTerms", Items({Args({{"matches", Item(1)}})})}})),
       "unknown field \"addedAffinity.requiredDuringSchedulingIgnoredDuringExecution."
       "nodeSelectorTerms[0].matches\""},
      {"required operator",
       AddedAffinity("requiredDuringSchedulingIgnoredDuringExecution",
                     Args({{"nodeSelectorTerms", Items({Expression("Near")})}})),
       "addedAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0]."
       "matchExpressions[0].operator: Unsupported value: \"Near\": supported values: \"In\", "
       "\"NotIn\", \"Exists\", \"DoesNotExist\", \"Gt\", \"Lt\""},
      {"preferred values",
       AddedAffinity("preferredDuringSchedulingIgnoredDuringExecution",
                     Items({Args({{"weight", Item(3)}, {"preference", Expression("Exists")}})})),
       "addedAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].matchExpressions[0]."
       "values: Invalid value: [\"a\"]: values set must be empty for exists and does not exist"},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    const auto parsed = kNodeAffinityArgs.parse(c.args);
    ASSERT_FALSE(parsed.has_value());
    EXPECT_EQ(parsed.error().message, c.want);
  }
}

}  // namespace
}  // namespace berth::plugins
