// SPDX-License-Identifier: Apache-2.0
// The plugins that find placements for pod groups and score them.
#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "plugins/node_resources_fit/node_resources_fit.h"
#include "plugins/pod_group_pods_count/pod_group_pods_count.h"
#include "plugins/topology_placement_generator/topology_placement_generator.h"
#include "tests/unit/plugins/plugin_fixture.h"

namespace berth::plugins {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

class PlacementPluginsTest : public testing::Test, public test::PluginFixture {
 protected:
  static PodGroupInfo Group(const std::string& topology_key = "") {
    auto group = std::make_shared<api::PodGroup>();
    group->metadata.namespace_ = "default";
    group->metadata.name = "train";
    if (!topology_key.empty()) {
      group->spec.scheduling_constraints.emplace().topology.push_back({topology_key});
    }
    return {.object = {.pod_group = std::move(group)}, .unscheduled_pods = {}};
  }
  void Place(const std::string& pod, const std::string& node) {
    handle.group_states.SetPlaced(test::MakePod().Name(pod).Uid(pod).SchedulingGroup("train").Ptr(),
                                  node, true);
  }
  // The nodes of each placement, by row.
  using Rows = std::vector<std::pair<std::string, std::vector<NodeRow>>>;
  Rows Generate(const PodGroupInfo& group, const Snapshot& snapshot, const NodeSet& within) {
    TopologyPlacementGenerator plugin(handle);
    const auto result =
        plugin.GeneratePlacements(state, group, snapshot, {.name = "", .nodes = within});
    error = result.status.ok() ? "" : result.status.message();
    Rows rows;
    for (const Placement& placement : result.placements) {
      rows.push_back({placement.name, {}});
      placement.nodes.ForEach([&](NodeRow row) { rows.back().second.push_back(row); });
    }
    return rows;
  }

  std::string error;
};

TEST_F(PlacementPluginsTest, EachValueOfTheLabelIsAPlacement) {
  const auto snapshot =
      Cluster({test::MakeNode("0").Label("rack", "b"), test::MakeNode("1"),
               test::MakeNode("2").Label("rack", "a"), test::MakeNode("3").Label("rack", "b")});
  EXPECT_THAT(Generate(Group("rack"), snapshot, snapshot.nodes()),
              ElementsAre(Pair("a", ElementsAre(2)), Pair("b", ElementsAre(0, 3))));
  EXPECT_THAT(Generate(Group("zone"), snapshot, snapshot.nodes()), IsEmpty());
  EXPECT_THAT(Generate(Group(), snapshot, snapshot.nodes()),
              ElementsAre(Pair("", ElementsAre(0, 1, 2, 3))));
  NodeSet within = snapshot.nodes();
  within.Clear(2);
  within.Clear(3);
  EXPECT_THAT(Generate(Group("rack"), snapshot, within), ElementsAre(Pair("b", ElementsAre(0))));
}

TEST_F(PlacementPluginsTest, PodsThatHaveANodeDecideTheDomain) {
  const auto snapshot =
      Cluster({test::MakeNode("0").Label("rack", "b"), test::MakeNode("1"),
               test::MakeNode("2").Label("rack", "a"), test::MakeNode("3").Label("rack", "b")});
  Place("x", "3");
  EXPECT_THAT(Generate(Group("rack"), snapshot, snapshot.nodes()),
              ElementsAre(Pair("b", ElementsAre(0, 3))));
  Place("y", "2");
  EXPECT_THAT(Generate(Group("rack"), snapshot, snapshot.nodes()), IsEmpty());
  EXPECT_EQ(error,
            "cannot determine domain for already scheduled pods: more than 1 domain found for pod "
            "group: b, a");
  Place("y", "1");
  Generate(Group("rack"), snapshot, snapshot.nodes());
  EXPECT_EQ(error,
            "cannot determine domain for already scheduled pods: no topology domain found for pod "
            "default/y");
  Place("y", "gone");
  Generate(Group("rack"), snapshot, snapshot.nodes());
  EXPECT_EQ(error,
            "cannot determine domain for already scheduled pods: getting node for pod default/y: "
            "nodeinfo not found for node name \"gone\"");
}

TEST_F(PlacementPluginsTest, MorePodsAreBetter) {
  PodGroupPodsCount plugin(handle);
  const auto snapshot = Cluster({test::MakeNode("0")});
  const PodInfoPtr pod = Info(test::MakePod());
  PodGroupAssignments two{nullptr, {{pod.get(), "0"}, {pod.get(), "0"}}};
  EXPECT_EQ(plugin.ScorePlacement(state, Group(), snapshot, two).score, 2);
  Place("x", "0");
  EXPECT_EQ(plugin.ScorePlacement(state, Group(), snapshot, two).score, 3);

  std::vector<int64_t> scores = {3, 2, 1};
  EXPECT_TRUE(plugin.NormalizePlacementScores(state, Group(), scores).ok());
  EXPECT_THAT(scores, ElementsAre(100, 66, 33));
  scores = {0, 0};
  EXPECT_EQ(plugin.NormalizePlacementScores(state, Group(), scores).message(),
            "no pods from pod group are assigned to any of the candidate placements");
}

TEST_F(PlacementPluginsTest, AFullerPlacementIsBetter) {
  const auto args = kNodeResourcesFitArgs.parse(ConfigValue());
  ASSERT_TRUE(args);
  NodeResourcesFit plugin(*args, handle);
  const auto node = [](const char* name, const char* cpu) {
    return test::MakeNode(name).Allocatable({{"cpu", cpu}, {"memory", "1000Mi"}, {"pods", "9"}});
  };
  const auto snapshot =
      Cluster({node("0", "4"), node("1", "6"), node("2", "100")},
              {test::MakePod().Name("p").OnNode("1").Req({{"cpu", "1"}, {"memory", "500Mi"}})});
  Placement placement{"", snapshot.nodes()};
  placement.nodes.Clear(2);
  const PodInfoPtr pod = Info(test::MakePod().Req({{"cpu", "2"}}));
  // Of 10 cpus 1 and twice 2, of 2000 Mi 500 and twice 200, which stand for none.
  const PodGroupAssignments assignments{&placement, {{pod.get(), "0"}, {pod.get(), "1"}}};
  EXPECT_EQ(plugin.ScorePlacement(state, Group(), snapshot, assignments).score, (50 + 45) / 2);
}

}  // namespace
}  // namespace berth::plugins
