// SPDX-License-Identifier: Apache-2.0
#include "src/engine/engine.h"

#include <gmock/gmock.h>

#include <map>
#include <numeric>
#include <set>
#include <utility>

#include "src/cache/node_order.h"
#include "src/engine/sample.h"
#include "tests/unit/engine/judgement_fixture.h"

namespace berth::engine {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class EngineTest : public test::ProfileFixture {
 protected:
  void SetNodes(size_t count) {
    std::vector<api::Node> nodes;
    for (size_t i = 0; i < count; ++i) nodes.push_back(test::MakeNode("n" + std::to_string(i)));
    snapshot_ = std::make_unique<test::PlainSnapshot>(handle_.names, nodes);
  }
  Decision Schedule(const test::PodBuilder& pod, int32_t percentage = 0) {
    cycle_ = {};
    info_ = pod.Info(handle_.names);
    return engine_.Schedule(
        *profile_, cycle_, *info_,
        ClusterState{.snapshot = *snapshot_,
                     .nominated = nominated_,
                     .node_order = node_order_,
                     .placement = placement_.size() == 0 ? nullptr : &placement_},
        percentage);
  }
  // From now on a pod may go to these nodes only.
  void SetPlacement(const std::vector<NodeRow>& rows) {
    placement_.Assign(snapshot_->num_rows(), false);
    for (const NodeRow row : rows) placement_.Set(row);
  }
  std::string NodeOf(const Decision& decision) {
    return snapshot_->node(decision.node).metadata.name;
  }
  // Rejects every node but those named.
  void PassOnly(test::EverywherePlugin& plugin, const std::set<std::string>& names) {
    plugin.filter_by_node.clear();
    snapshot_->nodes().ForEach([&](NodeRow row) {
      const std::string& name = snapshot_->node(row).metadata.name;
      if (!names.contains(name)) plugin.filter_by_node[name] = Make(Code::kUnschedulable, "full");
    });
  }

  std::unique_ptr<test::PlainSnapshot> snapshot_;
  cache::Nominator nominated_;
  const cache::NodeOrder* node_order_ = nullptr;
  NodeSet placement_;
  Engine engine_{Random(7)};
  framework::Cycle cycle_;
  PodInfoPtr info_;
};

TEST_F(EngineTest, WithoutNodesThereIsNothingToSayAboutThem) {
  Make({"A"});
  SetNodes(0);
  EXPECT_EQ(Schedule(test::MakePod()).kind, Decision::Kind::kNoNodes);
}

TEST_F(EngineTest, TheOnlyFeasibleNodeIsTakenUnscored) {
  Make({"A"});
  SetNodes(3);
  PassOnly(plugin("A"), {"n1"});
  const Decision decision = Schedule(test::MakePod());
  EXPECT_EQ(decision.kind, Decision::Kind::kScheduled);
  EXPECT_EQ(NodeOf(decision), "n1");
  EXPECT_EQ(decision.feasible_nodes, 1u);
  for (const std::string& call : log_) EXPECT_THAT(call, testing::Not(testing::HasSubstr("Score")));
}

TEST_F(EngineTest, TheHighestTotalWins) {
  Make({"A", "B"});
  SetNodes(3);
  plugin("A").score_by_node = {{"n0", 50}, {"n1", 40}, {"n2", 10}};
  plugin("B").score_by_node = {{"n0", 0}, {"n1", 20}, {"n2", 45}};
  EXPECT_EQ(NodeOf(Schedule(test::MakePod())), "n1");
}

TEST_F(EngineTest, TiesAreDrawnEvenlyAndTheSeedDecides) {
  Make({"A"});
  SetNodes(4);
  plugin("A").score_by_node = {{"n0", 9}, {"n1", 9}, {"n3", 9}};
  std::map<std::string, int> hits;
  std::vector<std::string> first;
  for (int i = 0; i < 600; ++i) {
    first.push_back(NodeOf(Schedule(test::MakePod())));
    ++hits[first.back()];
  }
  EXPECT_EQ(hits.size(), 3u);
  for (const auto& [node, count] : hits) EXPECT_GT(count, 140) << node;
  engine_ = Engine(Random(7));
  for (const std::string& node : first) EXPECT_EQ(NodeOf(Schedule(test::MakePod())), node);
}

TEST_F(EngineTest, TheMessageCountsReasonsAndSortsThemAsText) {
  Make({"A", "B"});
  SetNodes(12);
  plugin("A").filter = Make(Code::kUnschedulable, "Insufficient cpu");
  plugin("A").filter_by_node["n3"] = Status::Success();
  plugin("A").filter_by_node["n4"] = handle_.reason_table.Make(
      Code::kUnschedulable, ReasonSet{"Insufficient memory", "Insufficient cpu"});
  plugin("B").filter = Make(Code::kUnschedulableAndUnresolvable, "node(s) were unschedulable");
  const Decision decision = Schedule(test::MakePod());
  EXPECT_EQ(decision.kind, Decision::Kind::kUnfit);
  EXPECT_EQ(FitErrorMessage(engine_.diagnosis()),
            "0/12 nodes are available: 1 Insufficient memory, 1 node(s) were unschedulable, "
            "11 Insufficient cpu.");
  EXPECT_THAT(engine_.diagnosis().unschedulable_plugins, ElementsAre("A", "B"));
  EXPECT_THAT(engine_.diagnosis().pending_plugins, IsEmpty());
}

TEST_F(EngineTest, PendingRejectionsAreRememberedAsSuch) {
  Make({"A"});
  SetNodes(1);
  plugin("A").filter = Make(Code::kPending, "later");
  Schedule(test::MakePod());
  EXPECT_THAT(engine_.diagnosis().unschedulable_plugins, ElementsAre("A"));
  EXPECT_THAT(engine_.diagnosis().pending_plugins, ElementsAre("A"));
}

TEST_F(EngineTest, APreFilterRejectionSpeaksForAllNodes) {
  Make({"A"});
  SetNodes(3);
  plugin("A").pre_filter.status = Make(Code::kUnschedulableAndUnresolvable, "terms conflict");
  Schedule(test::MakePod());
  EXPECT_EQ(FitErrorMessage(engine_.diagnosis()), "0/3 nodes are available: terms conflict.");
  EXPECT_EQ(engine_.diagnosis().statuses.Get(2).message(), "terms conflict");
}

TEST_F(EngineTest, NodesThatPreFilterLeftOutGetItsPluginsAsReason) {
  Make({"A", "B"});
  SetNodes(4);
  plugin("A").pre_filter.node_names = {"n2", "no-such-node"};
  plugin("B").filter = Make(Code::kUnschedulable, "full");
  Schedule(test::MakePod());
  EXPECT_EQ(FitErrorMessage(engine_.diagnosis()),
            "0/4 nodes are available: 1 full, 3 node(s) didn't satisfy plugin(s) [A].");
  EXPECT_THAT(engine_.diagnosis().unschedulable_plugins, ElementsAre("A", "B"));
}

TEST_F(EngineTest, WhoNarrowedTheNodesIsNoRejectorOfAPodThatNoNodeCouldTake) {
  Make({"A", "B"});
  SetNodes(2);
  plugin("A").pre_filter.node_names = {"n1"};
  plugin("B").pre_filter.status = Make(Code::kUnschedulableAndUnresolvable, "no claim");
  Schedule(test::MakePod());
  EXPECT_THAT(engine_.diagnosis().unschedulable_plugins, ElementsAre("B"));
  plugin("B").pre_filter.status = Make(Code::kUnschedulable, "no claim");
  Schedule(test::MakePod());
  EXPECT_THAT(engine_.diagnosis().unschedulable_plugins, ElementsAre("A", "B"));
}

TEST_F(EngineTest, WithoutScorePluginsNoPreScoreIsAsked) {
  config::Plugins plugins;
  plugins.multi_point.enabled = {{"Sort", 0}, {"A", 0}};
  plugins.score.disabled = {{"*", 0}};
  profile_ = std::move(*TryMake(plugins));
  SetNodes(3);
  plugin("A").pre_score = Make(Code::kError, "bad terms");
  const Decision decision = Schedule(test::MakePod());
  EXPECT_EQ(decision.kind, Decision::Kind::kScheduled) << decision.error;
  EXPECT_EQ(decision.feasible_nodes, 3u);
  EXPECT_THAT(log_, testing::Not(testing::Contains("A.PreScore")));
}

TEST_F(EngineTest, AFilterErrorFailsTheCycle) {
  Make({"A"});
  SetNodes(2);
  plugin("A").filter_by_node["n1"] = Make(Code::kError, "lost");
  const Decision decision = Schedule(test::MakePod());
  EXPECT_EQ(decision.kind, Decision::Kind::kError);
  EXPECT_EQ(decision.error, "running \"A\" filter plugin: lost");
}

TEST_F(EngineTest, TheNominatedNodeIsTakenWhenItPasses) {
  Make({"A"});
  SetNodes(3);
  plugin("A").score_by_node = {{"n0", 100}};
  EXPECT_EQ(NodeOf(Schedule(test::MakePod().NominatedNode("n2"))), "n2");
  PassOnly(plugin("A"), {"n0", "n1"});
  EXPECT_EQ(NodeOf(Schedule(test::MakePod().NominatedNode("n2"))), "n0");
  EXPECT_EQ(NodeOf(Schedule(test::MakePod().NominatedNode("gone"))), "n0");
}

TEST_F(EngineTest, NodesMustAlsoHaveRoomForNominatedPodsOfAtLeastEqualPriority) {
  std::vector<PluginRegistration> registry = Registry();
  registry.push_back(
      {"OnePod", [this](const ConfigValue&, Handle&) {
         return Result<Plugin>(AsPlugin(
             "OnePod", std::make_unique<test::OnePodFilter>(Make(Code::kUnschedulable, "full"))));
       }});
  config::Profile config;
  config.plugins.multi_point.enabled = {{"Sort"}, {"A"}, {"OnePod"}};
  profile_ = std::move(*framework::Profile::Make(config, registry, handle_));
  SetNodes(2);
  nominated_.AddNominatedPod(test::MakePod().Name("vip").Priority(10).Info(handle_.names),
                             {NominatingMode::kOverride, "n0"});
  const struct {
    const char* name;
    test::PodBuilder pod;
    std::string want;
  } cases[] = {
      {"equal priority stays off", test::MakePod().Priority(10), "n1"},
      {"lower priority stays off", test::MakePod().Priority(1), "n1"},
      {"higher priority may go", test::MakePod().Priority(11), "n0"},
      {"a pod does not stand in its own way", test::MakePod().Name("vip").Priority(10), "n0"},
  };
  plugin("A").score_by_node = {{"n0", 100}};
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    EXPECT_EQ(NodeOf(Schedule(c.pod)), c.want);
  }
}

TEST_F(EngineTest, APercentageStopsTheSearchAndTheNextOneStartsWhereItEnded) {
  Make({"A"});
  SetNodes(300);
  // 50 % of 300 are 150 feasible nodes; with all nodes feasible the first 150 are seen.
  Decision decision = Schedule(test::MakePod(), 50);
  EXPECT_EQ(decision.feasible_nodes, 150u);
  EXPECT_EQ(decision.evaluated_nodes, 150u);
  EXPECT_LT(decision.node, 150u);
  // The next search sees the other half, and the one after that the first again.
  EXPECT_GE(Schedule(test::MakePod(), 50).node, 150u);
  EXPECT_LT(Schedule(test::MakePod(), 50).node, 150u);
}

// Of 300 nodes 144 are looked for by default, and each search goes on where the last one ended.
TEST_F(EngineTest, AFilterErrorBehindTheEndOfASearchFailsNothing) {
  Make({"A"});
  SetNodes(300);
  plugin("A").filter_by_node = {{"n7", Make(Code::kUnschedulable, "full")},
                                {"n200", Make(Code::kError, "lost")}};
  for (const int32_t percentage : {0, 48}) {
    SCOPED_TRACE(percentage);
    engine_ = Engine(Random(7));
    Decision decision = Schedule(test::MakePod(), percentage);
    ASSERT_EQ(decision.kind, Decision::Kind::kScheduled) << decision.error;
    EXPECT_EQ(decision.feasible_nodes, 144u);
    EXPECT_EQ(decision.evaluated_nodes, 145u);
    EXPECT_LT(decision.node, 145u);

    decision = Schedule(test::MakePod(), percentage);
    EXPECT_EQ(decision.kind, Decision::Kind::kError);
    EXPECT_EQ(decision.error, "running \"A\" filter plugin: lost");
    // 201 to 299 and 0 to 45 without the one that is full.
    decision = Schedule(test::MakePod(), percentage);
    ASSERT_EQ(decision.kind, Decision::Kind::kScheduled) << decision.error;
    EXPECT_EQ(decision.evaluated_nodes, 145u);
  }
  EXPECT_EQ(Schedule(test::MakePod(), 100).kind, Decision::Kind::kError);
}

// Zones stand in blocks of 100 rows; a search for 100 nodes must see some of each.
TEST_F(EngineTest, APercentageOfTheNodesIsTakenFromEachZoneInTurn) {
  Make({"A"});
  SetNodes(300);
  cache::NodeOrder order;
  for (NodeRow row = 0; row < 300; ++row) {
    order.Add(row,
              test::MakeNode("n").Label("topology.kubernetes.io/zone", std::to_string(row / 100)));
  }
  node_order_ = &order;
  plugin("A").score_by_node = {{"n133", 9}, {"n233", 8}, {"n134", 7}};
  // 100 of 300: rows 0 to 33, 100 to 132 and 200 to 232; then 34 to 66, 133 to 166, ...
  Decision decision = Schedule(test::MakePod(), 33);
  EXPECT_EQ(decision.feasible_nodes, 100u);
  EXPECT_EQ(decision.evaluated_nodes, 100u);
  EXPECT_NE(NodeOf(decision), "n133") << "it is the 101st";
  EXPECT_EQ(NodeOf(Schedule(test::MakePod(), 33)), "n133");

  // In row order the first search would have ended in the first zone.
  node_order_ = nullptr;
  engine_ = Engine(Random(7));
  plugin("A").score_by_node = {{"n150", 9}};
  EXPECT_LT(Schedule(test::MakePod(), 33).node, 100u);
}

TEST_F(EngineTest, APodStaysWithinItsPlacement) {
  Make({"A"});
  SetNodes(4);
  SetPlacement({1, 2});
  plugin("A").score_by_node = {{"n0", 90}, {"n1", 5}, {"n2", 10}, {"n3", 80}};
  const Decision decision = Schedule(test::MakePod());
  EXPECT_EQ(NodeOf(decision), "n2");
  EXPECT_EQ(decision.feasible_nodes, 2u);

  EXPECT_EQ(NodeOf(Schedule(test::MakePod().NominatedNode("n1"))), "n1");
  EXPECT_EQ(NodeOf(Schedule(test::MakePod().NominatedNode("n0"))), "n2") << "it lies outside";
}

TEST_F(EngineTest, OnlyTheNodesOfItsPlacementAreCountedWhenNoneTakesAPod) {
  Make({"A"});
  SetNodes(4);
  SetPlacement({1, 2});
  PassOnly(plugin("A"), {"n0", "n3"});
  EXPECT_EQ(Schedule(test::MakePod()).kind, Decision::Kind::kUnfit);
  EXPECT_EQ(FitErrorMessage(engine_.diagnosis()), "0/2 nodes are available: 2 full.");

  SetPlacement({});
  EXPECT_EQ(Schedule(test::MakePod()).kind, Decision::Kind::kNoNodes);
}

TEST_F(EngineTest, ASearchThroughAPlacementGoesOnWhereTheLastOneEnded) {
  Make({"A"});
  SetNodes(300);
  std::vector<NodeRow> rows(200);
  std::iota(rows.begin(), rows.end(), NodeRow{50});
  SetPlacement(rows);
  EXPECT_LT(Schedule(test::MakePod(), 50).node, 150u);
  const Decision decision = Schedule(test::MakePod(), 50);
  EXPECT_EQ(decision.feasible_nodes, 100u);
  EXPECT_GE(decision.node, 150u);
  EXPECT_LT(decision.node, 250u);
}

TEST(NumFeasibleNodesToFindTest, IsAtLeastAHundred) {
  EXPECT_EQ(NumFeasibleNodesToFind(99, 10), 99u);
  EXPECT_EQ(NumFeasibleNodesToFind(150, 10), 100u);
  EXPECT_EQ(NumFeasibleNodesToFind(5000, 10), 500u);
  EXPECT_EQ(NumFeasibleNodesToFind(5000, 100), 5000u);
}

}  // namespace
}  // namespace berth::engine
