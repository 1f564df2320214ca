// SPDX-License-Identifier: Apache-2.0
#include "plugins/weighted_topology_spread/weighted_topology_spread.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>

#include "src/documents/parse.h"
#include "tests/unit/plugins/plugin_fixture.h"

namespace berth::plugins {
namespace {

using namespace berth::test;
using testing::ElementsAre;

constexpr std::string_view kCapacity = "karpenter.sh/capacity-type";

// A node with that capacity type, or none where it is "-".
NodeBuilder Node(std::string_view name, std::string_view capacity) {
  NodeBuilder node = MakeNode(name);
  if (capacity != "-") node.Label(kCapacity, capacity);
  return node;
}

ConfigValue ArgsOf(const std::string& json) { return *documents::ParseJson(json, "args"); }

// 7 on spot nodes to 3 on others; `more` is put beside it.
std::string SevenToThree(const std::string& more = R"("whenUnsatisfiable":"DoNotSchedule")") {
  return R"({"labelSelector":{"matchLabels":{"app":"web"}},)"
         R"("topologyKey":"karpenter.sh/capacity-type","weights":[{"value":"spot","weight":7},)"
         R"({"value":"on-demand","weight":3}],)" +
         more + "}";
}

std::string InOrder(const std::string& when) {
  return R"({"labelSelector":{"matchLabels":{"app":"web"}},"topologyKey":"pool",)"
         R"("order":["reserved","on-demand","spot"],"whenUnsatisfiable":")" +
         when + R"("})";
}

class WeightedTopologySpreadTest : public testing::Test, public PluginFixture {
 public:
  WeightedTopologySpread Make(const std::string& constraint) {
    const auto args =
        kWeightedTopologySpreadArgs.parse(ArgsOf(R"({"constraints":[)" + constraint + "]}"));
    EXPECT_TRUE(args.has_value()) << args.error().message;
    return {*args, handle};
  }

  // Which nodes of the cluster the pod may go to: by node, "ok" or the code.
  std::vector<std::string> Verdicts(WeightedTopologySpread& plugin, const api::Pod& pod,
                                    const PlainSnapshot& snapshot) {
    state = CycleState();
    const PodInfoPtr info = Info(pod);
    const Status prepared = plugin.PreFilter(state, *info, snapshot).status;
    if (prepared.skip()) return {"skip"};
    EXPECT_TRUE(prepared.ok()) << prepared.message();
    std::vector<std::string> verdicts;
    for (NodeRow row = 0; row < snapshot.num_rows(); ++row) {
      const Status status = plugin.Filter(state, *info, NodeView(snapshot, row));
      verdicts.emplace_back(status.ok() ? "ok" : CodeName(status.code()));
    }
    return verdicts;
  }

  // The raw scores by node; empty where PreScore says Skip. `normalized` has them in its scale.
  std::vector<int64_t> Scores(WeightedTopologySpread& plugin, const api::Pod& pod,
                              const PlainSnapshot& snapshot) {
    state = CycleState();
    const PodInfoPtr info = Info(pod);
    std::vector<int64_t> scores;
    if (plugin.PreScore(state, *info, snapshot, snapshot.nodes()).skip()) return scores;
    std::vector<NodeRow> rows;
    for (NodeRow row = 0; row < snapshot.num_rows(); ++row) {
      rows.push_back(row);
      scores.push_back(plugin.Score(state, *info, NodeView(snapshot, row)).score);
    }
    normalized = scores;
    EXPECT_TRUE(plugin.NormalizeScore(state, *info, rows, normalized).ok());
    return scores;
  }

  const std::vector<api::Node> nodes{Node("s", "spot"), Node("o", "on-demand"), Node("r", "other"),
                                     Node("n", "-")};
  std::vector<int64_t> normalized;
};

TEST_F(WeightedTopologySpreadTest, NoValueExceedsItsShareByMoreThanMaxSkew) {
  WeightedTopologySpread plugin = Make(SevenToThree());
  // Of 8 pods spot has 5.6 and on-demand 2.4: 6 and 3 are 0.4 and 0.6 above.
  EXPECT_THAT(
      Verdicts(plugin, Web(), Cluster(nodes, WebPods({{"s", 5}, {"o", 2}}))),
      ElementsAre("ok", "ok", "UnschedulableAndUnresolvable", "UnschedulableAndUnresolvable"));
  // Of 9 on-demand has 2.7: a fourth is 1.3 above.
  EXPECT_EQ(Verdicts(plugin, Web(), Cluster(nodes, WebPods({{"s", 5}, {"o", 3}})))[1],
            "Unschedulable");
  // Of 9 spot has 6.3: an eighth is 1.7 above.
  EXPECT_EQ(Verdicts(plugin, Web(), Cluster(nodes, WebPods({{"s", 7}, {"o", 1}})))[0],
            "Unschedulable");
  WeightedTopologySpread loose =
      Make(SevenToThree(R"("maxSkew":2,"whenUnsatisfiable":"DoNotSchedule")"));
  EXPECT_EQ(Verdicts(loose, Web(), Cluster(nodes, WebPods({{"s", 7}, {"o", 1}})))[0], "ok");
  // The reasons.
  EXPECT_EQ(plugin.Filter(state, *Info(Web()), NodeView(Cluster(nodes), 2)).message(),
            "node(s) didn't match weighted topology spread constraints (missing required value)");
}

TEST_F(WeightedTopologySpreadTest, TheNextPodGoesWhereItIsTheLeastForTheWeight) {
  WeightedTopologySpread plugin = Make(SevenToThree(R"("whenUnsatisfiable":"ScheduleAnyway")"));
  const auto scores = [&](int spot, int on_demand) {
    return Scores(plugin, Web(), Cluster(nodes, WebPods({{"s", spot}, {"o", on_demand}})));
  };
  EXPECT_THAT(Verdicts(plugin, Web(), Cluster(nodes)), ElementsAre("skip"));
  // 0.5 / 7 before 0.5 / 3.
  EXPECT_THAT(scores(0, 0), ElementsAre(100, 50, 0, 0));
  EXPECT_THAT(normalized, ElementsAre(100, 50, 0, 0));
  // 1.5 / 7 after 0.5 / 3.
  EXPECT_THAT(scores(1, 0), ElementsAre(50, 100, 0, 0));
  // 3.5 / 7 and 1.5 / 3 are alike.
  EXPECT_THAT(scores(3, 1), ElementsAre(100, 100, 0, 0));
  // Of the nodes that are left the best has 100 and the worst 0.
  Scores(plugin, Web(), Cluster({Node("o", "on-demand"), Node("r", "other")}));
  EXPECT_THAT(normalized, ElementsAre(100, 0));
  Scores(plugin, Web(), Cluster({Node("o", "on-demand"), Node("p", "on-demand")}));
  EXPECT_THAT(normalized, ElementsAre(100, 100));
}

// Whatever the number of pods, each value has its share, rounded: 10 of them are 7 and 3.
TEST_F(WeightedTopologySpreadTest, PodsOneByOneKeepTheirShares) {
  WeightedTopologySpread plugin = Make(SevenToThree());
  int pods[2] = {0, 0};
  for (int placed = 1; placed <= 40; ++placed) {
    SCOPED_TRACE(placed);
    const PlainSnapshot snapshot = Cluster(nodes, WebPods({{"s", pods[0]}, {"o", pods[1]}}));
    const std::vector<std::string> verdicts = Verdicts(plugin, Web(), snapshot);
    const std::vector<int64_t> scores = Scores(plugin, Web(), snapshot);
    const int choice = scores[0] >= scores[1] ? 0 : 1;
    ASSERT_EQ(verdicts[static_cast<size_t>(choice)], "ok");
    ++pods[choice];
    EXPECT_NEAR(pods[0], 0.7 * placed, 0.5 + 1e-9);
    if (placed % 10 == 0) {
      EXPECT_EQ(pods[0], 7 * placed / 10);
    }
  }
}

TEST_F(WeightedTopologySpreadTest, CountsThePodsOfOneNamespaceThatStay) {
  WeightedTopologySpread plugin = Make(SevenToThree());
  std::vector<api::Pod> pods = WebPods({{"s", 5}, {"o", 2}});
  pods.push_back(Web("elsewhere").Namespace("other").OnNode("o"));
  pods.push_back(MakePod().Name("db").Label("app", "db").OnNode("o"));
  pods.push_back(Web("going").DeletedAt(Time()).OnNode("o"));
  pods.push_back(Web("of-no-value").OnNode("r"));
  EXPECT_EQ(Verdicts(plugin, Web(), Cluster(nodes, pods))[1], "ok");
  pods.push_back(Web("one-more").OnNode("o"));
  EXPECT_EQ(Verdicts(plugin, Web(), Cluster(nodes, pods))[1], "Unschedulable");
  EXPECT_THAT(Verdicts(plugin, MakePod().Label("app", "db"), Cluster(nodes, pods)),
              ElementsAre("skip"));
}

TEST_F(WeightedTopologySpreadTest, MatchLabelKeysAndNamespacesTellPodsApart) {
  WeightedTopologySpread plugin =
      Make(SevenToThree(R"("whenUnsatisfiable":"DoNotSchedule","namespaces":["shop","default"],)"
                        R"("matchLabelKeys":["pod-template-hash"])"));
  std::vector<api::Pod> pods = WebPods({{"o", 4}});
  for (api::Pod& pod : pods) pod.metadata.labels.emplace_back("pod-template-hash", "1");
  const PlainSnapshot snapshot = Cluster(nodes, pods);
  EXPECT_EQ(Verdicts(plugin, Web().Label("pod-template-hash", "1"), snapshot)[1], "Unschedulable");
  EXPECT_EQ(Verdicts(plugin, Web().Label("pod-template-hash", "2"), snapshot)[1], "ok");
  // A pod without the label is counted with all.
  EXPECT_EQ(Verdicts(plugin, Web(), snapshot)[1], "Unschedulable");
  EXPECT_EQ(Verdicts(plugin, Web().Namespace("shop"), snapshot)[1], "ok");
  EXPECT_THAT(Verdicts(plugin, Web().Namespace("else"), snapshot), ElementsAre("skip"));
}

TEST_F(WeightedTopologySpreadTest, OrderPrefersTheFirstValueThatHasRoom) {
  WeightedTopologySpread plugin = Make(InOrder("DoNotSchedule"));
  const PlainSnapshot snapshot =
      Cluster({MakeNode("r").Label("pool", "reserved"), MakeNode("s").Label("pool", "spot"),
               MakeNode("o").Label("pool", "on-demand"), MakeNode("x").Label("pool", "x")},
              WebPods({{"r", 9}}));
  // Pods are not counted: whether there is room is for the other filters to say.
  EXPECT_THAT(Verdicts(plugin, Web(), snapshot),
              ElementsAre("ok", "ok", "ok", "UnschedulableAndUnresolvable"));
  EXPECT_THAT(Scores(plugin, Web(), snapshot), ElementsAre(100, 33, 66, 0));
  WeightedTopologySpread soft = Make(InOrder("ScheduleAnyway"));
  EXPECT_THAT(Verdicts(soft, Web(), snapshot), ElementsAre("skip"));
  EXPECT_THAT(Scores(soft, Web(), snapshot), ElementsAre(100, 33, 66, 0));
}

TEST_F(WeightedTopologySpreadTest, SeveralConstraintsMustAllHoldAndAddUp) {
  WeightedTopologySpread plugin = Make(SevenToThree() + "," + InOrder("ScheduleAnyway"));
  const auto both = [](std::string_view name, std::string_view capacity, std::string_view pool) {
    return Node(name, capacity).Label("pool", pool);
  };
  const PlainSnapshot snapshot =
      Cluster({both("a", "spot", "spot"), both("b", "on-demand", "reserved"),
               both("c", "on-demand", "x"), both("d", "spot", "reserved")});
  EXPECT_THAT(Verdicts(plugin, Web(), snapshot), ElementsAre("ok", "ok", "ok", "ok"));
  EXPECT_THAT(Scores(plugin, Web(), snapshot), ElementsAre(133, 150, 50, 200));
  const auto groups = plugin.Groups(state);
  ASSERT_TRUE(groups.has_value());
  for (NodeRow row = 0; row < 4; ++row) {
    EXPECT_EQ(groups->raw[groups->group_of[row]],
              plugin.Score(state, *Info(Web()), NodeView(snapshot, row)).score);
  }
}

TEST_F(WeightedTopologySpreadTest, ImaginedPodsMoveTheCountsOfOneCopy) {
  WeightedTopologySpread plugin = Make(SevenToThree());
  const PlainSnapshot snapshot = Cluster(nodes, WebPods({{"s", 5}, {"o", 3}}));
  ASSERT_EQ(Verdicts(plugin, Web(), snapshot)[1], "Unschedulable");
  CycleState copy = state.Clone();
  const PodInfoPtr pod = Info(Web());
  ASSERT_TRUE(plugin.RemovePod(copy, *pod, snapshot.pod("o-0"), NodeView(snapshot, 1)).ok());
  EXPECT_TRUE(plugin.Filter(copy, *pod, NodeView(snapshot, 1)).ok());
  EXPECT_FALSE(plugin.Filter(state, *pod, NodeView(snapshot, 1)).ok());
  ASSERT_TRUE(plugin.AddPod(copy, *pod, snapshot.pod("o-0"), NodeView(snapshot, 1)).ok());
  EXPECT_FALSE(plugin.Filter(copy, *pod, NodeView(snapshot, 1)).ok());
  // Two on spot make room for one more on demand: of 11 it has 3.3.
  ASSERT_TRUE(plugin.AddPod(copy, *pod, snapshot.pod("s-0"), NodeView(snapshot, 0)).ok());
  ASSERT_TRUE(plugin.AddPod(copy, *pod, snapshot.pod("s-1"), NodeView(snapshot, 0)).ok());
  EXPECT_TRUE(plugin.Filter(copy, *pod, NodeView(snapshot, 1)).ok());
}

TEST_F(WeightedTopologySpreadTest, TellsPodsApartByTheLabelsThatItTests) {
  const Inputs inputs =
      Make(SevenToThree(R"("whenUnsatisfiable":"ScheduleAnyway","matchLabelKeys":["hash"])"))
          .DeclaredInputs();
  EXPECT_EQ(inputs.pod, pod_part::kTestedLabels | pod_part::kNamespace);
  EXPECT_THAT(inputs.label_keys, ElementsAre("app", "hash"));
  EXPECT_EQ(WeightedTopologySpread({}, handle).DeclaredInputs().pod, 0u);
}

TEST_F(WeightedTopologySpreadTest, QueuesWhatAnEventCanHelp) {
  const WeightedTopologySpread plugin = Make(SevenToThree());
  const api::Pod pod = Web();
  const api::Pod placed = Web("other").OnNode("s");
  const api::Pod db = MakePod().Label("app", "db").OnNode("s");
  EXPECT_EQ(Hint(plugin, kAssignedPodAdd, pod, {}, Object(placed)), "queue");
  EXPECT_EQ(Hint(plugin, kAssignedPodAdd, pod, {}, Object(db)), "skip");
  EXPECT_EQ(Hint(plugin, kAssignedPodAdd, pod, {}, Object(Web().Namespace("x").OnNode("s"))),
            "skip");
  EXPECT_EQ(Hint(plugin, kAssignedPodDelete, pod, Object(Web().OnNode("s").DeletedAt(Time())), {}),
            "queue");
  EXPECT_EQ(Hint(plugin, kAssignedPodLabel, pod, Object(db), Object(placed)), "queue");
  EXPECT_EQ(Hint(plugin, kAssignedPodLabel, pod, Object(placed),
                 Object(Web("other").Label("x", "y").OnNode("s"))),
            "skip");
  EXPECT_EQ(Hint(plugin, kTargetPodLabel, pod, Object(pod), Object(db)), "queue");
  EXPECT_EQ(Hint(plugin, kNodeAdd, pod, {}, Object(Node("n", "spot"))), "queue");
  EXPECT_EQ(Hint(plugin, kNodeAdd, pod, {}, Object(Node("n", "other"))), "skip");
  EXPECT_EQ(Hint(plugin, kNodeAdd, pod, {}, Object(Node("n", "-"))), "skip");
  EXPECT_EQ(Hint(plugin, kNodeDelete, pod, Object(Node("n", "spot")), {}), "queue");
  EXPECT_EQ(Hint(plugin, kNodeLabel, pod, Object(Node("n", "-")), Object(Node("n", "spot"))),
            "queue");
  EXPECT_EQ(Hint(plugin, kNodeLabel, pod, Object(Node("n", "spot")), Object(Node("n", "other"))),
            "queue");
  EXPECT_EQ(Hint(plugin, kNodeLabel, pod, Object(Node("n", "spot")),
                 Object(Node("n", "spot").Label("x", "y"))),
            "skip");
  EXPECT_EQ(Hint(plugin, kNodeAdd, pod, {}, Object(pod)), "error");
  // Pods do not matter to values in order.
  EXPECT_EQ(Hint(Make(InOrder("DoNotSchedule")), kAssignedPodAdd, pod, {}, Object(placed)), "skip");
}

TEST(WeightedTopologySpreadArgsTest, AreDefaultedAndValidated) {
  const auto none = kWeightedTopologySpreadArgs.parse(ConfigValue());
  ASSERT_TRUE(none.has_value());
  EXPECT_TRUE(none->constraints.empty());
  const ConfigValue shown = kWeightedTopologySpreadArgs.with_defaults(
      ArgsOf(R"({"constraints":[)" + SevenToThree() + "," + InOrder("DoNotSchedule") + "]}"), {});
  EXPECT_THAT(shown.ToJson(),
              testing::HasSubstr(R"("whenUnsatisfiable":"DoNotSchedule","maxSkew":1},)"));
  EXPECT_THAT(shown.ToJson(), testing::EndsWith(R"("whenUnsatisfiable":"DoNotSchedule"}]})"));

  const auto error_of = [](const std::string& constraints) {
    const auto read =
        kWeightedTopologySpreadArgs.parse(ArgsOf(R"({"constraints":[)" + constraints + "]}"));
    return read ? std::string() : read.error().message;
  };
  EXPECT_EQ(error_of("{}"),
            "[constraints[0].labelSelector: Required value: {} selects every pod, "
            "constraints[0].topologyKey: Required value: can not be empty, "
            "constraints[0]: Required value: weights or order must name values, "
            "constraints[0].whenUnsatisfiable: Required value: can not be empty]");
  const std::string all =
      error_of(R"({"labelSelector":{"matchExpressions":[{"key":"a","operator":"Is"}]},)"
               R"("topologyKey":"a b","matchLabelKeys":[""],"order":["x","x","y z"],)"
               R"("weights":[{"value":"x","weight":0},{"value":"x","weight":1000001}],)"
               R"("maxSkew":0,"whenUnsatisfiable":"Never"})");
  for (const char* problem :
       {"[constraints[0].labelSelector: \"Is\" is not a valid label selector operator, ",
        "constraints[0].matchLabelKeys[0]: Required value: can not be empty, ",
        "constraints[0].topologyKey: Invalid value: \"a b\": name part must consist of ",
        "constraints[0].order: Forbidden: there are weights, ",
        "constraints[0].weights[1].value: Duplicate value: \"x\", ",
        "constraints[0].weights[0].weight: Invalid value: 0: not in valid range [1, 1000000], ",
        "constraints[0].weights[1].weight: Invalid value: 1000001: not in valid range [1, "
        "1000000], ",
        "constraints[0].order[1]: Duplicate value: \"x\", ",
        "constraints[0].order[2]: Invalid value: \"y z\": a valid label must be ",
        "constraints[0].maxSkew: Invalid value: 0: not in valid range (0, inf), ",
        "constraints[0].whenUnsatisfiable: Unsupported value: \"Never\": supported values: "
        "\"DoNotSchedule\", \"ScheduleAnyway\"]"}) {
    EXPECT_THAT(all, testing::HasSubstr(problem));
  }
  EXPECT_EQ(error_of(R"({"labelSelector":{},"topologyKey":"a","order":["x"],"maxSkew":1,)"
                     R"("whenUnsatisfiable":"DoNotSchedule"})"),
            "constraints[0].maxSkew: Forbidden: only weights with DoNotSchedule have a skew");
  EXPECT_EQ(error_of(R"({"labelSelector":{"matchLabels":{"a":1}},"topologyKeys":"a"})"),
            "constraints[0].labelSelector.matchLabels.a: Invalid value: 1: must be a string, "
            "unknown field \"constraints[0].topologyKeys\"");
  std::string values = R"("v0")";
  for (int i = 1; i < 101; ++i) values += R"(,"v)" + std::to_string(i) + '"';
  EXPECT_EQ(error_of(R"({"labelSelector":{},"topologyKey":"a","whenUnsatisfiable":"DoNotSchedule",)"
                     R"("order":[)" +
                     values + "]}"),
            "constraints[0].order: Invalid value: 101 values: must have at most 100");
}

// More values than groups have numbers for: the scores go by row.
TEST_F(WeightedTopologySpreadTest, ManyValuesHaveNoGroups) {
  std::string constraints;
  for (int i = 0; i < 3; ++i) {
    std::string values;
    for (int value = 0; value < 60; ++value) {
      values += (value == 0 ? "" : ",") + std::string(R"({"weight":)") + std::to_string(value + 1) +
                R"(,"value":"v)" + std::to_string(value) + R"("})";
    }
    constraints += (i == 0 ? "" : ",") + std::string(R"({"labelSelector":{},"topologyKey":"k)") +
                   std::to_string(i) + R"(","whenUnsatisfiable":"DoNotSchedule","weights":[)" +
                   values + "]}";
  }
  WeightedTopologySpread plugin = Make(constraints);
  const auto node = [](std::string_view name, std::string_view value) {
    return MakeNode(name).Label("k0", value).Label("k1", value).Label("k2", value);
  };
  const PlainSnapshot snapshot = Cluster({node("a", "v59"), node("b", "v0"), node("c", "x")});
  // 0.5 / 60 is the best of 60, 0.5 / 1 the last: 100 / 60.
  EXPECT_THAT(Scores(plugin, Web(), snapshot), ElementsAre(300, 3, 0));
  EXPECT_FALSE(plugin.Groups(state).has_value());
  std::vector<int64_t> by_column(3, -1);
  const std::vector<NodeRow> rows = {0, 1, 2};
  plugin.ScoreNodes(state, *Info(Web()), snapshot, rows, by_column);
  EXPECT_THAT(by_column, ElementsAre(300, 3, 0));
}

}  // namespace
}  // namespace berth::plugins
