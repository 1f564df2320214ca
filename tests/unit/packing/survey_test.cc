// SPDX-License-Identifier: Apache-2.0
#include "src/packing/survey.h"

#include <gmock/gmock.h>

#include "src/packing/live_figures.h"
#include "tests/unit/simulator/simulator_fixture.h"

namespace berth::packing {
namespace {

using test::MakeNode;
using test::MakePod;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::Pair;

constexpr const char* kPoolLabel = "karpenter.sh/nodepool";
constexpr int64_t kGi = int64_t{1} << 30;

class SurveyTest : public test::SimulatorFixture {
 protected:
  Figures Measure(std::string_view pod_namespace = "") {
    simulation_->RunDue();
    return packing::Measure(simulation_->scheduler().cache(),
                            simulation_->scheduler().pending_pods(), pod_namespace);
  }
  // Of the one pool that there is.
  PoolFigures MeasurePool() {
    Figures figures = Measure();
    EXPECT_EQ(figures.pools.size(), 1u);
    return figures.pools.at(0);
  }
  void AddPods(int count, const std::string& node, const std::string& cpu,
               const std::string& memory) {
    for (; count > 0; --count) {
      Apply(MakePod()
                .Name("pod-" + std::to_string(pods_++))
                .OnNode(node)
                .Req({{"cpu", cpu}, {"memory", memory}}));
    }
  }

  int pods_ = 0;
};

const ResourceFigures& Of(const PoolFigures& pool, std::string_view resource) {
  const auto found = std::ranges::find(pool.resources, resource, &ResourceFigures::resource);
  EXPECT_NE(found, pool.resources.end()) << resource;
  return *found;
}

TEST(NodePoolTest, TheFirstLabelThatANodeHasNamesItsPool) {
  const api::Node none = MakeNode().Label("zone", "z");
  EXPECT_EQ(NodePoolOf(none), "");
  auto builder = MakeNode().Label("node.kubernetes.io/instance-type", "large");
  const api::Node by_type = builder;
  EXPECT_EQ(NodePoolOf(by_type), "large");
  for (const auto& [label, pool] : {std::pair("kubernetes.azure.com/agentpool", "azure"),
                                    {"karpenter.sh/nodepool", "karpenter"},
                                    {"eks.amazonaws.com/nodegroup", "eks"},
                                    {"cloud.google.com/gke-nodepool", "gke"}}) {
    const api::Node node = builder.Label(label, pool);
    EXPECT_EQ(NodePoolOf(node), pool);
  }
}

TEST_F(SurveyTest, AClusterWithoutNodesHasNoPools) {
  const Figures figures = Measure();
  EXPECT_THAT(figures.pools, IsEmpty());
  EXPECT_EQ(figures.overcommitted_nodes, 0u);
}

TEST_F(SurveyTest, AddsUpWhatAPoolOffersAndWhatIsRequested) {
  Apply(MakeNode("a").Label(kPoolLabel, "x").Allocatable({{"cpu", "4"}, {"memory", "8Gi"}}));
  Apply(MakeNode("b").Label(kPoolLabel, "x").Allocatable({{"cpu", "2"}, {"memory", "4Gi"}}));
  Apply(MakeNode("c").Label(kPoolLabel, "y").Allocatable({{"cpu", "1"}, {"memory", "1Gi"}}));
  AddPods(2, "a", "500m", "1Gi");
  AddPods(1, "c", "1", "1Gi");
  const Figures figures = Measure();
  ASSERT_EQ(figures.pools.size(), 2u);
  const PoolFigures& x = figures.pools[0];
  EXPECT_EQ(x.name, "x");
  EXPECT_EQ(Of(x, "cpu"), (ResourceFigures{"cpu", 6000, 1000, 0, 3000}));
  EXPECT_EQ(Of(x, "memory"), (ResourceFigures{"memory", 12 * kGi, 2 * kGi, 0, 6 * kGi}));
  EXPECT_EQ(x.open_nodes, 2u);
  EXPECT_EQ(x.used_nodes, 1u);
  EXPECT_EQ(Of(figures.pools[1], "cpu"), (ResourceFigures{"cpu", 1000, 1000, 0, 0}));
  EXPECT_EQ(figures.pods, 3u);
}

TEST_F(SurveyTest, WhatIsFreeWhereAnotherResourceIsExhaustedIsStranded) {
  Apply(MakeNode("lacks-cpu").Allocatable({{"cpu", "1"}, {"memory", "10Gi"}}));
  AddPods(2, "lacks-cpu", "500m", "1Gi");
  // Neither is enough for a pod: remainders.
  Apply(MakeNode("full").Allocatable({{"cpu", "1400m"}, {"memory", "2500Mi"}}));
  AddPods(2, "full", "500m", "1Gi");
  Apply(MakeNode("fits").Allocatable({{"cpu", "1"}, {"memory", "10Gi"}}));
  AddPods(1, "fits", "500m", "1Gi");
  // May have no more pods.
  Apply(MakeNode("no-slot").Allocatable({{"cpu", "2"}, {"memory", "4Gi"}, {"pods", "1"}}));
  AddPods(1, "no-slot", "500m", "1Gi");
  const PoolFigures pool = MeasurePool();
  EXPECT_EQ(Of(pool, "memory").stranded, 8 * kGi + 3 * kGi);
  EXPECT_EQ(Of(pool, "cpu").stranded, 1500);
}

TEST_F(SurveyTest, APodThatAwaitsItsResizeIsCountedOnItsNodeAlone) {
  auto options = test::DefaultSimulationOptions();
  options.scheduler.features.in_place_pod_vertical_scaling_scheduler_preemption = true;
  Restart(std::move(options));
  Apply(MakeNode("a").Allocatable({{"cpu", "1"}, {"memory", "10Gi"}}));
  AddPods(1, "a", "500m", "1Gi");
  Apply(MakePod()
            .Name("resized")
            .OnNode("a")
            .Req({{"cpu", "2"}})
            .Condition("PodResizePending", "True", "Deferred"));
  const Figures figures = Measure();
  ASSERT_NE(simulation_->scheduler().FindPendingPod("default/resized"), nullptr);
  EXPECT_EQ(figures.pods, 2u);
  EXPECT_EQ(figures.pending, 0u);
}

TEST_F(SurveyTest, APendingPodThatFitsSavesWhatIsFree) {
  Apply(MakeNode("a").Allocatable({{"cpu", "1"}, {"memory", "10Gi"}}));
  AddPods(2, "a", "450m", "1Gi");
  EXPECT_EQ(Of(MeasurePool(), "memory").stranded, 8 * kGi);
  Apply(MakePod().Name("small").Req({{"cpu", "100m"}, {"memory", "1Gi"}}));
  const Figures figures = Measure();
  EXPECT_EQ(figures.pending, 1u);
  EXPECT_EQ(Of(figures.pools[0], "memory").stranded, 0);
}

TEST_F(SurveyTest, AResourceThatNoPodAsksForIsNotStranded) {
  Apply(MakeNode("a").Allocatable({{"cpu", "1"}, {"memory", "1Gi"}, {"example.com/gpu", "2"}}));
  AddPods(1, "a", "1", "1Gi");
  EXPECT_EQ(Of(MeasurePool(), "example.com/gpu"), (ResourceFigures{"example.com/gpu", 2, 0, 0, 2}));
  Apply(MakePod().Name("gpu").Req({{"cpu", "1"}, {"example.com/gpu", "1"}}));
  EXPECT_EQ(Of(MeasurePool(), "example.com/gpu").stranded, 2);
}

TEST_F(SurveyTest, ANodeThatStrandsAResourceIsNamedWithTheShapesThatWantIt) {
  Apply(MakeNode("a").Allocatable({{"cpu", "1"}, {"memory", "1Gi"}, {"example.com/gpu", "2"}}));
  Apply(MakeNode("b").Allocatable({{"cpu", "2"}, {"memory", "1Gi"}, {"example.com/gpu", "2"}}));
  AddPods(1, "a", "1", "0");
  AddPods(1, "b", "1", "0");
  Apply(MakePod().Name("gpu").Req({{"cpu", "1"}, {"example.com/gpu", "1"}}));
  Apply(MakePod().Name("large").Req({{"cpu", "1"}, {"example.com/gpu", "3"}}));
  simulation_->RunDue();
  const cache::Cache& cache = simulation_->scheduler().cache();
  const auto measure = [&](std::string_view resource) {
    return MeasureStranding(cache, simulation_->scheduler().pending_pods(), resource);
  };
  const auto stranding = measure("example.com/gpu");
  ASSERT_TRUE(stranding);
  EXPECT_EQ(stranding->amount, 2);
  EXPECT_EQ(stranding->pools, 1u);
  ASSERT_EQ(stranding->nodes.size(), 1u);
  EXPECT_EQ(stranding->nodes[0].row, cache.FindNode("a"));
  EXPECT_EQ(stranding->nodes[0].amount, 2);
  ASSERT_EQ(stranding->nodes[0].shapes.size(), 1u) << "large would not find enough";
  EXPECT_EQ(stranding->nodes[0].shapes[0].milli_cpu, 1000);
  EXPECT_EQ(measure("cpu")->amount, 0);
  EXPECT_FALSE(measure("example.com/fpga"));
}

TEST_F(SurveyTest, PodsOfDaemonSetsAndStaticPodsAreNeitherTypicalNorUse) {
  Apply(MakeNode("a").Allocatable({{"cpu", "1"}, {"memory", "10Gi"}}));
  Apply(MakePod().Name("agent").OnNode("a").Owner("DaemonSet", "agent", "u").Req({{"cpu", "1m"}}));
  Apply(MakePod().Name("static").OnNode("a").Owner("Node", "a", "v").Req({{"cpu", "1m"}}));
  PoolFigures pool = MeasurePool();
  EXPECT_EQ(pool.used_nodes, 0u);
  EXPECT_EQ(pool.lower_bound, 0u);
  EXPECT_THAT(pool.typical_pod, IsEmpty());
  EXPECT_FALSE(pool.largest_pod);
  AddPods(1, "a", "998m", "1Gi");
  pool = MeasurePool();
  EXPECT_EQ(pool.used_nodes, 1u);
  EXPECT_THAT(pool.typical_pod, ElementsAre(Pair("cpu", 998), Pair("memory", kGi)));
  EXPECT_EQ(Of(pool, "memory").stranded, 9 * kGi);
}

TEST_F(SurveyTest, CordonedAndUnreadyNodesHaveNothingFreeToStrand) {
  const auto add = [this](test::NodeBuilder node) {
    Apply(node.Allocatable({{"cpu", "2"}, {"memory", "10Gi"}}));
  };
  add(MakeNode("cordoned").Unschedulable());
  add(MakeNode("not-ready").Taint("node.kubernetes.io/not-ready", "", "NoExecute"));
  add(MakeNode("pressure").Taint("node.kubernetes.io/disk-pressure", "", "NoSchedule"));
  for (const char* node : {"cordoned", "not-ready", "pressure"}) AddPods(2, node, "1", "1Gi");
  const PoolFigures pool = MeasurePool();
  EXPECT_EQ(pool.open_nodes, 0u);
  EXPECT_EQ(pool.closed_nodes, 3u);
  EXPECT_EQ(pool.used_nodes, 3u);
  EXPECT_EQ(Of(pool, "memory").stranded, 0);
  EXPECT_EQ(Of(pool, "memory").largest_free, 0);
  EXPECT_EQ(pool.largest_gang, 0u);
  add(MakeNode("dedicated").Taint("team", "a", "NoSchedule"));
  EXPECT_EQ(MeasurePool().open_nodes, 1u);
}

TEST_F(SurveyTest, TheLargestPodIsInThePoolsProportion) {
  // 1 core to 2 GiB. Free: 7 cores, 6 GiB: memory ends at 3 cores.
  Apply(MakeNode("a").Allocatable({{"cpu", "8"}, {"memory", "8Gi"}}));
  AddPods(1, "a", "1", "2Gi");
  EXPECT_EQ(MeasurePool().largest_pod, (PoolFigures::Pod{3000, 6 * kGi}));
  Apply(MakeNode("b").Allocatable({{"cpu", "4"}, {"memory", "64Gi"}}));
  EXPECT_EQ(MeasurePool().largest_pod, (PoolFigures::Pod{4000, 8 * kGi}));
}

TEST_F(SurveyTest, TheLargestGangIsOfTypicalPods) {
  Apply(MakeNode("a").Allocatable({{"cpu", "4"}, {"memory", "100Gi"}}));
  Apply(MakeNode("b").Allocatable({{"cpu", "100"}, {"memory", "100Gi"}, {"pods", "5"}}));
  AddPods(2, "a", "1", "1Gi");
  AddPods(1, "a", "500m", "1Gi");
  const PoolFigures pool = MeasurePool();
  EXPECT_THAT(pool.typical_pod, ElementsAre(Pair("cpu", 1000), Pair("memory", kGi)));
  EXPECT_EQ(pool.largest_gang, 1u + 5u);
}

TEST_F(SurveyTest, TheLowerBoundIsThatOfTheScarcestResource) {
  for (const char* node : {"a", "b", "c", "d"}) {
    Apply(MakeNode(node).Allocatable({{"cpu", "4"}, {"memory", "8Gi"}}));
    Apply(MakePod()
              .Name(std::string("agent-") + node)
              .OnNode(node)
              .Owner("DaemonSet", "agent", "u")
              .Req({{"cpu", "1"}}));
    AddPods(1, node, "1600m", "1Gi");
  }
  // 6.4 cores over 3 that a node has beside its agent.
  EXPECT_EQ(MeasurePool().used_nodes, 4u);
  EXPECT_EQ(MeasurePool().lower_bound, 3u);
  // 28 GiB over 8.
  AddPods(1, "a", "1m", "6Gi");
  AddPods(1, "b", "1m", "6Gi");
  AddPods(3, "c", "1m", "4Gi");
  EXPECT_EQ(MeasurePool().lower_bound, 4u);
}

TEST_F(SurveyTest, CountsOvercommittedNodesByResource) {
  Apply(MakeNode("a").Allocatable({{"cpu", "1"}, {"memory", "1Gi"}}));
  Apply(MakeNode("b").Allocatable({{"cpu", "1"}, {"memory", "1Gi"}, {"pods", "1"}}));
  AddPods(1, "a", "1", "1Gi");
  EXPECT_EQ(Measure().overcommitted_nodes, 0u);
  AddPods(1, "a", "1m", "1Mi");
  AddPods(2, "b", "100m", "1Mi");
  Apply(MakePod().Name("gone").OnNode("b").Req({{"example.com/gone", "1"}}));
  const Figures figures = Measure();
  EXPECT_EQ(figures.overcommitted_nodes, 2u);
  EXPECT_THAT(figures.overcommitted,
              ElementsAre(Pair("cpu", 1), Pair("memory", 1), Pair("ephemeral-storage", 0),
                          Pair("other", 1), Pair("pods", 1)));
}

TEST_F(SurveyTest, PoolsAndExtendedResourcesAreBounded) {
  // Pools of one node, of two from the 20th on, and one of three that is called "other".
  for (int i = 0; i < 40; ++i) {
    const std::string name = (i < 10 ? "0" : "") + std::to_string(i);
    for (int copy = 0; copy < (i == 39 ? 3 : i >= 20 ? 2 : 1); ++copy) {
      Apply(MakeNode("n-" + name + "-" + std::to_string(copy))
                .Label(kPoolLabel, i == 39 ? "other" : "p" + name)
                .Allocatable({{"cpu", "1"}, {"example.com/r" + name, "1"}}));
    }
  }
  const Figures figures = Measure();
  ASSERT_EQ(figures.pools.size(), kMostPools);
  EXPECT_EQ(figures.nodes(), 20u + 2 * 19u + 3u);
  const auto other = std::ranges::find(figures.pools, "other", &PoolFigures::name);
  ASSERT_NE(other, figures.pools.end());
  // 19 pools of two nodes and 12 of one are told apart.
  EXPECT_EQ(other->open_nodes, 8u + 3u);
  EXPECT_EQ(Of(*other, "cpu").allocatable, 11'000);
  std::vector<std::string> shown;
  for (const auto& of : other->resources) shown.push_back(of.resource);
  EXPECT_THAT(
      shown, ElementsAre("cpu", "memory", "ephemeral-storage", "example.com/r20", "example.com/r21",
                         "example.com/r22", "example.com/r23", "example.com/r24", "example.com/r25",
                         "example.com/r26", "example.com/r39"));
}

TEST_F(SurveyTest, SumsStopAtTheEndOf64Bits) {
  for (const char* node : {"a", "b"}) {
    Apply(MakeNode(node).Allocatable({{"cpu", "1"}, {"memory", "9000000000000000000"}}));
    AddPods(1, node, "1", "9000000000000000000");
  }
  const PoolFigures pool = MeasurePool();
  EXPECT_EQ(Of(pool, "memory").allocatable, INT64_MAX);
  EXPECT_EQ(Of(pool, "memory").requested, INT64_MAX);
  EXPECT_EQ(pool.lower_bound, 2u);
}

TEST_F(SurveyTest, TheTableAndTheDocumentTellTheFigures) {
  Apply(MakeNode("a").Label(kPoolLabel, "x").Allocatable({{"cpu", "4"}, {"memory", "8Gi"}}));
  Apply(MakeNode("b").Allocatable({{"cpu", "1"}, {"memory", "4Gi"}}));
  AddPods(1, "a", "1500m", "2Gi");
  AddPods(2, "b", "600m", "1536Mi");
  const Figures figures = Measure();
  std::string table;
  AppendTable(figures, table);
  EXPECT_EQ(table,
            "2 nodes in 2 node pools; 3 pods placed, 0 pending.\n"
            "\n"
            "POOL  OPEN  CLOSED  USED  AT LEAST  LARGEST GANG  OF\n"
            "-        1       0     1         2             0  cpu 0.6, memory 1.5Gi\n"
            "x        1       0     1         1             1  cpu 1.5, memory 2Gi\n"
            "\n"
            "POOL  RESOURCE  REQUESTED   OF   SHARE  STRANDED  LARGEST FREE  LARGEST POD\n"
            "-     cpu             1.2    1   120 %         0             0            -\n"
            "-     memory          3Gi  4Gi    75 %         0           1Gi            -\n"
            "x     cpu             1.5    4  37.5 %         0           2.5          2.5\n"
            "x     memory          2Gi  8Gi    25 %         0           6Gi        3.3Gi\n"
            "\n"
            "1 node overcommitted: cpu on 1.\n");
  std::string json;
  AppendJson(figures, json);
  EXPECT_THAT(json,
              HasSubstr("\"nodePool\":\"x\",\"openNodes\":1,\"closedNodes\":0,\"usedNodes\":1,"
                        "\"usedNodesLowerBound\":1,\"allocatable\":{\"milliCPU\":4000,"));
  EXPECT_THAT(json, HasSubstr("\"typicalPod\":{\"milliCPU\":1500,\"memory\":2147483648},"
                              "\"largestGang\":1"));
}

TEST_F(SurveyTest, OfANamespaceItSaysWhatItsPodsRequestBesideTheRest) {
  Apply(MakeNode("a").Label(kPoolLabel, "x").Allocatable({{"cpu", "4"}, {"memory", "8Gi"}}));
  Apply(MakeNode("b").Allocatable({{"cpu", "4"}, {"memory", "8Gi"}}));
  AddPods(2, "a", "1", "1Gi");
  Apply(MakePod().Namespace("shop").Name("web").OnNode("a").Req({{"cpu", "500m"}}));
  Apply(MakePod()
            .Namespace("shop")
            .Name("agent")
            .OnNode("b")
            .Req({{"memory", "2Gi"}})
            .Owner("DaemonSet", "agent", "uid"));
  Apply(MakePod().Namespace("shop").Name("waits").Req({{"cpu", "8"}}));
  Apply(MakePod().Name("waits").Req({{"cpu", "8"}}));
  const Figures figures = Measure("shop");
  EXPECT_EQ(figures.of_namespace, (NamespacePods{"shop", 2, 1}));
  std::string table;
  AppendTable(figures, table);
  EXPECT_THAT(table, HasSubstr("4 pods placed, 2 pending.\nOf them 2 and 1 in namespace shop.\n"));
  EXPECT_THAT(table, HasSubstr("x     cpu             2.5    4  62.5 %      0.5 "));
  EXPECT_THAT(table, HasSubstr("-     memory          2Gi  8Gi    25 %      2Gi "));
  std::string json;
  AppendJson(figures, json);
  EXPECT_THAT(json, HasSubstr(R"("ofNamespace":{"namespace":"shop","pods":2,"pendingPods":1})"));
  EXPECT_THAT(json, HasSubstr(R"("requestedByNamespace":{"milliCPU":500,"memory":0,)"));
  std::string without;
  AppendJson(Measure(), without);
  EXPECT_THAT(without, Not(HasSubstr("amespace")));
}

TEST_F(SurveyTest, AFewThousandthsOfACoreAreNotNothing) {
  Apply(MakeNode("a").Allocatable({{"cpu", "1"}, {"memory", "1Gi"}}));
  AddPods(2, "a", "10m", "1Mi");
  std::string table;
  AppendTable(Measure(), table);
  EXPECT_THAT(table, HasSubstr("  cpu 10m, memory 1Mi\n"));
  EXPECT_THAT(table, HasSubstr("cpu             20m    1    2 %         0          980m"));
}

// Each look at the clock takes a whole slice.
struct SlowClock final : Clock {
  Time Now() const override { return now += LiveFigures::kSlice; }
  Time WallNow() const override { return now; }
  mutable Time now{};
};

TEST_F(SurveyTest, TheDaemonsFiguresComeInSlicesAndAppearAllAtOnce) {
  for (int i = 0; i < 50; ++i) {
    Apply(MakeNode("n-" + std::to_string(i)).Label(kPoolLabel, "x").Allocatable({{"cpu", "1"}}));
  }
  AddPods(3, "n-0", "400m", "0");
  simulation_->RunDue();
  const SlowClock clock;
  metrics::Registry registry;
  LiveFigures live(clock, registry);
  const auto& scheduler = simulation_->scheduler();
  Time due{};
  int slices = 0;
  for (; due <= clock.now && slices < 1000; ++slices) {
    EXPECT_THAT(registry.Exposition(), Not(HasSubstr("berth_packing_nodes{")));
    due = live.Work(scheduler.cache(), scheduler.pending_pods(), clock.now);
  }
  // Two for each node.
  EXPECT_GT(slices, 100);
  EXPECT_LT(slices, 200);
  const std::string text = registry.Exposition();
  EXPECT_THAT(text, HasSubstr("berth_packing_nodes{node_pool=\"x\",state=\"open\"} 50\n"));
  EXPECT_THAT(text, HasSubstr("berth_packing_requested{node_pool=\"x\",resource=\"cpu\"} 1.2\n"));
  EXPECT_THAT(text, HasSubstr("berth_overcommitted_nodes{resource=\"cpu\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("berth_packing_largest_gang{node_pool=\"x\"} 98\n"));
  EXPECT_THAT(text, HasSubstr("\nberth_packing_surveys_total 1\n"));
}

}  // namespace
}  // namespace berth::packing
