// SPDX-License-Identifier: Apache-2.0
// NodeResourcesBalancedAllocation, NodeResourcesAllocatable and ImageLocality.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plugins/image_locality/image_locality.h"
#include "plugins/node_resources_allocatable/node_resources_allocatable.h"
#include "plugins/node_resources_balanced_allocation/node_resources_balanced_allocation.h"
#include "tests/unit/plugins/plugin_fixture.h"

namespace berth::plugins {
namespace {

using namespace berth::test;

class BalancedAllocationTest : public testing::Test, public PluginFixture {};

// The worked examples: a pod of 500m and 1Gi.
TEST_F(BalancedAllocationTest, ScoresHowTheBalanceChanges) {
  NodeResourcesBalancedAllocation plugin({}, handle);
  const api::Pod pod = MakePod().Req({{"cpu", "500m"}, {"memory", "1Gi"}});
  const struct {
    const char* name;
    ResourceText allocatable;
    ResourceText used;
    int64_t want;
  } cases[] = {
      {"balanced before and after",
       {{"cpu", "4"}, {"memory", "8Gi"}},
       {{"cpu", "1"}, {"memory", "2Gi"}},
       75},
      {"less balanced",
       {{"cpu", "2"}, {"memory", "8Gi"}},
       {{"cpu", "1500m"}, {"memory", "1Gi"}},
       72},
      {"empty", {{"cpu", "8"}, {"memory", "16Gi"}}, {}, 75},
      {"more balanced", {{"cpu", "10"}, {"memory", "2Gi"}}, {{"cpu", "5"}}, 86},
      {"one resource only", {{"cpu", "1"}}, {}, 75},
      {"fractions stop at 1", {{"cpu", "100m"}, {"memory", "1Mi"}}, {}, 75},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    EXPECT_EQ(Score(plugin, pod, MakeNode("n").Allocatable(c.allocatable),
                    {MakePod().OnNode("n").Req(c.used)}),
              c.want);
  }
}

TEST_F(BalancedAllocationTest, ThreeResourcesUseTheStandardDeviation) {
  NodeResourcesBalancedAllocation plugin({{{"cpu", 1}, {"memory", 1}, {"nvidia.com/gpu", 1}}},
                                         handle);
  const api::Node node =
      MakeNode("n").Allocatable({{"cpu", "10"}, {"memory", "10"}, {"nvidia.com/gpu", "10"}});
  // Fractions 0.1, 0.2, 0.6: mean 0.3, deviation sqrt(0.14 / 3) = 0.2160; f = 78; (50-22)/2 = 14.
  const api::Pod pod = MakePod().Req({{"cpu", "1"}, {"memory", "2"}, {"nvidia.com/gpu", "6"}});
  EXPECT_EQ(Score(plugin, pod, node), 50 + (50 + 78 - 100) / 2);
  // Without gpus the third resource does not take part.
  EXPECT_EQ(Score(plugin, MakePod().Req({{"cpu", "1"}, {"memory", "2"}}), node),
            50 + (50 + 95 - 100) / 2);
}

TEST_F(BalancedAllocationTest, SkipsPodsThatRequestNothing) {
  NodeResourcesBalancedAllocation plugin({}, handle);
  const PlainSnapshot snapshot = Cluster({MakeNode("n").Allocatable({{"cpu", "1"}})});
  for (const api::Pod& pod :
       {MakePod().Obj(), MakePod().Req({}).Obj(), MakePod().Req({{"cpu", "0"}}).Obj(),
        MakePod().Req({{"nvidia.com/gpu", "1"}}).Obj()}) {
    EXPECT_TRUE(plugin.PreScore(state, *Info(pod), snapshot, snapshot.nodes()).skip());
    EXPECT_EQ(plugin.Score(CycleState(), *Info(pod), NodeView(snapshot, 0)).score, 0);
  }
}

TEST_F(BalancedAllocationTest, PodLevelRequestsCount) {
  NodeResourcesBalancedAllocation plugin({}, handle);
  const api::Node node = MakeNode("n").Allocatable({{"cpu", "1"}, {"memory", "1Gi"}});
  EXPECT_EQ(Score(plugin, MakePod().Req({}).PodLevelReq({{"cpu", "1"}}), node), 50);
}

TEST_F(BalancedAllocationTest, ArgsAreDefaultedAndValidated) {
  const auto resource = [](const char* name, int64_t weight) {
    return Args({{"name", Item(name)}, {"weight", Item(weight)}});
  };
  EXPECT_EQ(kNodeResourcesBalancedAllocationArgs.parse(ConfigValue())->resources,
            DefaultResourceSpecs());
  const auto error = kNodeResourcesBalancedAllocationArgs.parse(Args(
      {{"resources", Items({resource("cpu", 1), resource("cpu", 0), resource("memory", 2)})}}));
  ASSERT_FALSE(error.has_value());
  EXPECT_EQ(error.error().message,
            "[resources[1].name: Duplicate value: \"cpu\", resources[2].weight: Invalid value: 2: "
            "must be 1]");
}

class AllocatableTest : public testing::Test, public PluginFixture {
 public:
  static api::Node Has(ResourceText allocatable) { return MakeNode().Allocatable(allocatable); }
  // The normalised scores of nodes with that cpu and memory, in their order.
  std::vector<int64_t> Scores(const NodeResourcesAllocatableArgs& args,
                              std::vector<api::Node> made) {
    const NodeResourcesAllocatable plugin(args, handle);
    for (size_t i = 0; i < made.size(); ++i) made[i].metadata.name = "n" + std::to_string(i);
    // What is used does not count.
    const PlainSnapshot snapshot =
        Cluster(made, {MakePod().OnNode("n0").Req({{"cpu", "1"}, {"memory", "1Mi"}})});
    const PodInfoPtr pod = Info(MakePod().Req({{"cpu", "2"}}));
    std::vector<int64_t> scores;
    std::vector<NodeRow> rows;
    for (NodeRow row = 0; row < made.size(); ++row) {
      rows.push_back(row);
      scores.push_back(plugin.Score(state, *pod, NodeView(snapshot, row)).score);
    }
    raw = scores;
    EXPECT_TRUE(plugin.NormalizeScore(state, *pod, rows, scores).ok());
    return scores;
  }

  std::vector<int64_t> raw;
};

TEST_F(AllocatableTest, LeastPrefersSmallNodesAndMostLargeOnes) {
  const std::vector<api::Node> nodes = {Has({{"cpu", "1"}, {"memory", "1000Mi"}}),
                                        Has({{"cpu", "2"}, {"memory", "2000Mi"}}),
                                        Has({{"cpu", "4"}, {"memory", "4000Mi"}})};
  // A milli-core weighs as much as a MiB: (1000 * 2^20 + 1000 * 2^20) / (2^20 + 1), cut off.
  EXPECT_THAT(Scores({}, nodes), testing::ElementsAre(100, 66, 0));
  EXPECT_THAT(raw, testing::ElementsAre(-1999, -3999, -7999));
  EXPECT_THAT(Scores({.mode = AllocatableMode::kMost}, nodes), testing::ElementsAre(0, 33, 100));
  EXPECT_THAT(raw, testing::ElementsAre(1999, 3999, 7999));
}

TEST_F(AllocatableTest, WeightsSayWhichResourceCounts) {
  const std::vector<api::Node> nodes = {Has({{"cpu", "4"}, {"memory", "10"}}),
                                        Has({{"cpu", "3"}, {"memory", "4000"}})};
  // (3 * 4000 + 10) / 4 and (3 * 3000 + 4000) / 4.
  EXPECT_THAT(Scores({{{"cpu", 3}, {"memory", 1}}, AllocatableMode::kMost}, nodes),
              testing::ElementsAre(0, 100));
  EXPECT_THAT(raw, testing::ElementsAre(3002, 3250));
  EXPECT_THAT(Scores({{{"cpu", 5}, {"memory", 1}}, AllocatableMode::kMost}, nodes),
              testing::ElementsAre(100, 0));
}

TEST_F(AllocatableTest, NodesAlikeScoreNothingAndWhatIsNoResourceCountsNought) {
  const std::vector<api::Node> nodes = {Has({{"cpu", "4"}, {"nvidia.com/gpu", "8"}, {"pods", "9"}}),
                                        Has({{"cpu", "4"}, {"pods", "110"}})};
  EXPECT_THAT(Scores({}, nodes), testing::ElementsAre(0, 0));
  EXPECT_THAT(Scores({{{"pods", 1}}, AllocatableMode::kMost}, nodes), testing::ElementsAre(0, 0));
  EXPECT_THAT(Scores({{{"nvidia.com/gpu", 1}}, AllocatableMode::kLeast}, nodes),
              testing::ElementsAre(0, 100));
}

TEST_F(AllocatableTest, LargeAmountsDoNotWrap) {
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  const std::vector<api::Node> nodes = {Has({{"memory", "8Ei"}}), Has({{"memory", "4Ei"}}),
                                        Has({})};
  EXPECT_THAT(Scores({{{"memory", kMost}}, AllocatableMode::kMost}, nodes),
              testing::ElementsAre(100, 50, 0));
}

TEST(AllocatableArgsTest, AreDefaultedAndValidated) {
  const auto resource = [](const char* name, int64_t weight) {
    return Args({{"name", Item(name)}, {"weight", Item(weight)}});
  };
  const auto defaults = kNodeResourcesAllocatableArgs.parse(ConfigValue());
  ASSERT_TRUE(defaults.has_value());
  EXPECT_EQ(defaults->mode, AllocatableMode::kLeast);
  EXPECT_EQ(defaults->resources, (std::vector<ResourceSpec>{{"cpu", 1 << 20}, {"memory", 1}}));
  EXPECT_EQ(kNodeResourcesAllocatableArgs.with_defaults(Args({{"mode", Item("")}}), {}).ToJson(),
            R"({"resources":[{"name":"cpu","weight":1048576},{"name":"memory","weight":1}],)"
            R"("mode":"Least"})");
  const auto given = kNodeResourcesAllocatableArgs.parse(
      Args({{"mode", Item("Most")},
            {"resources",
             Items({resource("cpu", 1000000), resource("memory", 1), resource("cpu", 2)})}}));
  ASSERT_TRUE(given.has_value());
  EXPECT_EQ(given->mode, AllocatableMode::kMost);
  EXPECT_EQ(given->resources, (std::vector<ResourceSpec>{{"cpu", 2}, {"memory", 1}}));

  const auto error_of = [](const ConfigValue& args) {
    const auto read = kNodeResourcesAllocatableArgs.parse(args);
    return read ? std::string() : read.error().message;
  };
  EXPECT_EQ(error_of(Args({{"resources", Items({resource("memory", -1), resource("cpu", 1),
                                                Args({{"name", Item("pods")}})})},
                           {"mode", Item("least")}})),
            "[resources[0].weight: Invalid value: -1: must be greater than 0, "
            "resources[2].weight: Invalid value: 0: must be greater than 0, "
            "mode: Unsupported value: \"least\": supported values: \"Least\", \"Most\"]");
  EXPECT_EQ(error_of(Args({{"modes", Item("Least")}})), "unknown field \"modes\"");
}

class ImageLocalityTest : public testing::Test, public PluginFixture {
 public:
  static constexpr int64_t kMiB = 1024 * 1024;

  int64_t ScoreOn(const PlainSnapshot& snapshot, const api::Pod& pod, NodeRow row) {
    return ImageLocality().Score(state, *Info(pod), NodeView(snapshot, row)).score;
  }
};

TEST_F(ImageLocalityTest, TheWorkedExampleScoresEight) {
  std::vector<api::Node> nodes;
  for (int i = 0; i < 10; ++i) {
    NodeBuilder node("n" + std::to_string(i));
    if (i < 3) node.Image({"big:1"}, 500 * kMiB);
    node.Image({"small:1"}, 40 * kMiB);
    nodes.push_back(node);
  }
  const PlainSnapshot snapshot = Cluster(nodes);
  const api::Pod pod = MakePod().Image("big:1").Image("small:1");
  EXPECT_EQ(ScoreOn(snapshot, pod, 0), 8);
  EXPECT_EQ(ScoreOn(snapshot, pod, 9), (40 - 23) * 100 / (2000 - 23));
}

TEST_F(ImageLocalityTest, NamesWithoutTagMeanLatest) {
  const struct {
    const char* name;
    const char* on_node;
    const char* wanted;
    bool want;
  } cases[] = {
      {"no tag", "app:latest", "app", true},
      {"a tag", "app:2", "app:2", true},
      {"another tag", "app:2", "app", false},
      {"a registry port is no tag", "host:5000/app:latest", "host:5000/app", true},
      {"a digest is no missing tag", "host/app@sha256:12", "host/app@sha256:12", true},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    const PlainSnapshot snapshot = Cluster({MakeNode("n").Image({c.on_node}, 2000 * kMiB)});
    EXPECT_EQ(ScoreOn(snapshot, MakePod().Image(c.wanted), 0), c.want ? 100 : 0);
  }
}

TEST_F(ImageLocalityTest, InitContainersAndImageVolumesCountEachOccurrence) {
  const PlainSnapshot snapshot = Cluster({MakeNode("n").Image({"app:1"}, 523 * kMiB)});
  api::Container init;
  init.image = "app:1";
  EXPECT_EQ(ScoreOn(snapshot, MakePod().Image("app:1"), 0), 100 * 500 / 977);
  EXPECT_EQ(ScoreOn(snapshot, MakePod().Image("app:1").InitContainer(init), 0), 100 * 1023 / 1977);
  EXPECT_EQ(ScoreOn(snapshot, MakePod().Image("x").ImageVolume("app:1"), 0), 100 * 500 / 1977);
  EXPECT_EQ(ScoreOn(snapshot, MakePod(), 0), 0);
}

}  // namespace
}  // namespace berth::plugins
