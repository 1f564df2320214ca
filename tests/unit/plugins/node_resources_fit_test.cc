// SPDX-License-Identifier: Apache-2.0
#include "plugins/node_resources_fit/node_resources_fit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <iostream>
#include <optional>
#include <string>
#include <utility>

#include "tests/support/heap_bytes.h"
#include "tests/unit/plugins/plugin_fixture.h"

namespace berth::plugins {
namespace {

using namespace berth::test;

class NodeResourcesFitTest : public testing::Test, public PluginFixture {};

TEST_F(NodeResourcesFitTest, FilterNamesEveryResourceThatIsShort) {
  NodeResourcesFit plugin({}, handle);
  const api::Node node = MakeNode("n").Allocatable({{"cpu", "4"},
                                                    {"memory", "8Gi"},
                                                    {"ephemeral-storage", "10Gi"},
                                                    {"nvidia.com/gpu", "2"},
                                                    {"amd.com/gpu", "1"},
                                                    {"pods", "2"}});
  const std::vector<api::Pod> placed = {MakePod().Name("a").OnNode("n").Req(
      {{"cpu", "3"}, {"memory", "6Gi"}, {"ephemeral-storage", "9Gi"}, {"nvidia.com/gpu", "1"}})};
  const std::vector<api::Pod> full = {placed[0], MakePod().Name("b").OnNode("n")};
  const Code U = Code::kUnschedulable;
  const Code UU = Code::kUnschedulableAndUnresolvable;
  const struct {
    const char* name;
    api::Pod pod;
    std::vector<api::Pod> placed;
    Code want;
    ReasonSet reasons;
  } cases[] = {
      {"nothing requested", MakePod(), placed, Code::kSuccess, {}},
      {"exactly what is left",
       MakePod().Req({{"cpu", "1"}, {"memory", "2Gi"}}),
       placed,
       Code::kSuccess,
       {}},
      {"a little more cpu", MakePod().Req({{"cpu", "1001m"}}), placed, U, {"Insufficient cpu"}},
      {"more cpu than the node has",
       MakePod().Req({{"cpu", "5"}}),
       placed,
       UU,
       {"Insufficient cpu"}},
      {"too many pods", MakePod(), full, U, {"Too many pods"}},
      {"too many pods and too large",
       MakePod().Req({{"memory", "9Gi"}}),
       full,
       UU,
       {"Too many pods", "Insufficient memory"}},
      {"all at once, scalars by name",
       MakePod().Req({{"cpu", "2"},
                      {"memory", "3Gi"},
                      {"ephemeral-storage", "2Gi"},
                      {"nvidia.com/gpu", "2"},
                      {"amd.com/gpu", "2"}}),
       full,
       UU,
       {"Too many pods", "Insufficient cpu", "Insufficient memory",
        "Insufficient ephemeral-storage", "Insufficient amd.com/gpu",
        "Insufficient nvidia.com/gpu"}},
      {"a resource the node does not know",
       MakePod().Req({{"vendor.io/fpga", "1"}}),
       placed,
       UU,
       {"Insufficient vendor.io/fpga"}},
      {"none of a resource the node does not know",
       MakePod().Req({{"vendor.io/fpga", "0"}}),
       placed,
       Code::kSuccess,
       {}},
      {"overhead counts",
       MakePod().Req({{"cpu", "1"}}).Overhead({{"cpu", "1m"}}),
       placed,
       U,
       {"Insufficient cpu"}},
      {"pod-level requests count",
       MakePod().Req({{"cpu", "1"}}).PodLevelReq({{"cpu", "2"}}),
       placed,
       U,
       {"Insufficient cpu"}},
      {"bare names are no resource", MakePod().Req({{"bare", "7"}}), placed, Code::kSuccess, {}},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    const Status status = Filter(plugin, c.pod, node, c.placed);
    EXPECT_EQ(status.code(), c.want);
    EXPECT_EQ(status.reasons(), c.reasons);
    // The fallback without PreFilter says the same.
    const PlainSnapshot snapshot = Cluster({node}, c.placed);
    const Status without = plugin.Filter(CycleState(), *Info(c.pod), NodeView(snapshot, 0));
    EXPECT_EQ(without.code(), c.want);
  }
}

TEST_F(NodeResourcesFitTest, APodWithMoreResourcesThanReasonTablesHoldIsStillJudgedByEach) {
  NodeResourcesFit plugin({}, handle);
  std::vector<std::string> names;
  api::Container container;
  for (int i = 10; i < 90; ++i) names.push_back("vendor.io/r" + std::to_string(i));
  for (const std::string& name : names) {
    container.resources.requests.push_back(MakeResources({{name, "1"}}).front());
  }
  NodeBuilder node("n");
  for (size_t i = 0; i + 1 < names.size(); ++i) node.Allocatable({{names[i], "1"}});
  const api::Pod pod = MakePod().Container(container);
  EXPECT_EQ(Filter(plugin, pod, node).reasons(), ReasonSet{"Insufficient vendor.io/r89"});
  const PlainSnapshot snapshot = Cluster({node});
  NodeSet nodes = snapshot.nodes();
  EXPECT_TRUE(plugin.FilterNodes(state, *Info(pod), snapshot, nodes).ok());
  EXPECT_TRUE(nodes.Empty());
}

TEST_F(NodeResourcesFitTest, TheSameRejectionIsInternedOnceForAllPodsAndNodes) {
  NodeResourcesFit plugin({}, handle);
  const api::Node node = MakeNode("n").Allocatable({{"cpu", "1"}, {"memory", "1Gi"}});
  const Status first = Filter(plugin, MakePod().Req({{"cpu", "2"}, {"memory", "1Mi"}}), node);
  const Status second = Filter(plugin, MakePod().Req({{"cpu", "3"}, {"memory", "2Mi"}}), node);
  EXPECT_EQ(first.message(), "Insufficient cpu");
  EXPECT_EQ(first, second);
}

TEST_F(NodeResourcesFitTest, ReasonsForTheListsThatPodsBringDoNotPileUp) {
  NodeResourcesFit plugin({}, handle);
  const api::Node node = MakeNode("n").Allocatable({{"cpu", "4"}, {"pods", "2"}});
  // Three of forty resources each: lists that differ, of few names.
  const auto ask = [&](uint64_t number) {
    api::Pod pod = MakePod().Req({{"cpu", "1"}});
    auto& requests = pod.spec.containers.front().resources.requests;
    for (uint64_t i = 0; i < 3; ++i, number /= 40) {
      const std::string name =
          "tenant.io/" + std::string(1, static_cast<char>('a' + i)) + std::to_string(number % 40);
      requests.emplace_back(name, api::Quantity::FromUnits(1));
    }
    return Filter(plugin, pod, node);
  };
  for (uint64_t i = 0; i < 40; ++i) (void)ask(i * (1 + 40 + 1600));
  const size_t before = HeapBytes();
  for (uint64_t i = 0; i < 10'000; ++i) {
    const Status status = ask(i);
    ASSERT_EQ(status.reasons().size(), 3u);
    ASSERT_EQ(status.reasons()[0], "Insufficient tenant.io/a" + std::to_string(i % 40));
  }
  const size_t after = HeapBytes();
  EXPECT_LT(after, before + (8u << 20));
  std::cout << "reasons of 10,000 lists of resources: " << (after - std::min(before, after)) / 1024
            << " KiB\n";
}

TEST_F(NodeResourcesFitTest, FilterHonoursTheOverlay) {
  NodeResourcesFit plugin({}, handle);
  const PlainSnapshot snapshot = Cluster({MakeNode("n").Allocatable({{"cpu", "2"}, {"pods", "1"}})},
                                         {MakePod().Name("a").OnNode("n").Req({{"cpu", "2"}})});
  const PodInfoPtr pod = Info(MakePod().Req({{"cpu", "2"}}));
  Overlay overlay;
  ASSERT_TRUE(plugin.PreFilter(state, *pod, snapshot).status.ok());
  EXPECT_EQ(plugin.Filter(state, *pod, snapshot.view("n", &overlay)).message(),
            "Too many pods, Insufficient cpu");
  overlay.RemovePod(snapshot.pod("a"));
  EXPECT_TRUE(plugin.Filter(state, *pod, snapshot.view("n", &overlay)).ok());
}

TEST_F(NodeResourcesFitTest, IgnoredExtendedResourcesAreNotChecked) {
  NodeResourcesFitArgs args;
  args.ignored_resources = {"vendor.io/fpga", "hugepages-2Mi"};
  args.ignored_resource_groups = {"example.com"};
  NodeResourcesFit plugin(args, handle);
  const struct {
    const char* name;
    const char* resource;
    bool want;
  } cases[] = {
      {"by name", "vendor.io/fpga", true},
      {"by group", "example.com/anything", true},
      {"another of the vendor", "vendor.io/gpu", false},
      {"only extended resources can be ignored", "hugepages-2Mi", false},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    EXPECT_EQ(Filter(plugin, MakePod().Req({{c.resource, "1"}}), MakeNode()).ok(), c.want);
  }
}

// A class whose devices stand for example.com/gpu, where nodes do not offer that themselves.
class NodeResourcesFitDevicesTest : public NodeResourcesFitTest {
 protected:
  static api::DeviceClass ClassFor(std::optional<std::string> resource) {
    api::DeviceClass device_class;
    device_class.metadata.name = "gpus";
    device_class.spec.extended_resource_name = std::move(resource);
    return device_class;
  }
  static api::ObjectPtr Shown(std::optional<std::string> resource) {
    return std::make_shared<const api::DeviceClass>(ClassFor(std::move(resource)));
  }
};

TEST_F(NodeResourcesFitDevicesTest, WhatDevicesStandForIsLeftToThemWhereTheNodeOffersNone) {
  handle.plain_listers.Set(ClassFor("example.com/gpu"));
  NodeResourcesFit plugin({}, handle);
  const struct {
    const char* name;
    const char* resource;
    const char* offered;  // of that resource; "": the node does not know it
    bool want;
  } cases[] = {
      {"not known to the node", "example.com/gpu", "", true},
      {"none", "example.com/gpu", "0", true},
      {"too few", "example.com/gpu", "1", false},
      {"enough", "example.com/gpu", "2", true},
      {"the class's implicit resource", "deviceclass.resource.kubernetes.io/gpus", "", true},
      {"of no class", "example.com/fpga", "", false},
      {"of no class that there is", "deviceclass.resource.kubernetes.io/fpgas", "", false},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    api::Node node = MakeNode("n").Allocatable({{"cpu", "4"}, {"pods", "10"}});
    if (*c.offered != 0) {
      node.status.allocatable.emplace_back(c.resource, *api::Quantity::Parse(c.offered));
      std::ranges::sort(node.status.allocatable, {}, [](const auto& one) { return one.first; });
    }
    const api::Pod pod = MakePod().Req({{c.resource, "2"}, {"cpu", "1"}});
    EXPECT_EQ(Filter(plugin, pod, node).ok(), c.want);
    const PlainSnapshot snapshot = Cluster({node, MakeNode("other").Allocatable({{"pods", "10"}})});
    CycleState cycle;
    const PodInfoPtr info = Info(pod);
    ASSERT_TRUE(plugin.PreFilter(cycle, *info, snapshot).status.ok());
    NodeSet nodes = snapshot.nodes();
    ASSERT_TRUE(plugin.FilterNodes(cycle, *info, snapshot, nodes).ok());
    EXPECT_EQ(nodes.Test(0), c.want);
    EXPECT_FALSE(nodes.Test(1));
  }
  // No class stands for it any more.
  handle.plain_listers.Set(ClassFor(std::nullopt));
  EXPECT_FALSE(Filter(plugin, MakePod().Req({{"example.com/gpu", "1"}}), MakeNode()).ok());
}

TEST_F(NodeResourcesFitDevicesTest, QueuesWhenAClassMayStandForAResource) {
  const NodeResourcesFit plugin({}, handle);
  constexpr ClusterEvent kAdd{EventResource::kDeviceClass, action::kAdd};
  constexpr ClusterEvent kUpdate{EventResource::kDeviceClass, action::kUpdate};
  const api::Pod pod = MakePod().Req({{"example.com/gpu", "1"}});
  const api::Pod implicit = MakePod().Req({{"deviceclass.resource.kubernetes.io/gpus", "1"}});
  const api::ObjectPtr none = Shown(std::nullopt);
  const api::ObjectPtr gpu = Shown("example.com/gpu");
  const api::ObjectPtr other = Shown("example.com/other");
  EXPECT_EQ(Hint(plugin, kAdd, pod, {}, gpu), "queue");
  EXPECT_EQ(Hint(plugin, kAdd, pod, {}, none), "skip");
  EXPECT_EQ(Hint(plugin, kAdd, pod, {}, other), "skip");
  EXPECT_EQ(Hint(plugin, kAdd, implicit, {}, none), "queue");
  EXPECT_EQ(Hint(plugin, kUpdate, pod, other, gpu), "queue");
  EXPECT_EQ(Hint(plugin, kUpdate, pod, gpu, gpu), "skip");
  EXPECT_EQ(Hint(plugin, kUpdate, pod, gpu, other), "skip");
  EXPECT_EQ(Hint(plugin, kUpdate, implicit, none, other), "skip");

  const auto node = [](const char* cpu) {
    return Object(MakeNode().Allocatable({{"cpu", cpu}, {"pods", "10"}}).Obj());
  };
  EXPECT_EQ(Hint(plugin, kNodeAdd, pod, {}, node("1")), "skip");
  handle.plain_listers.Set(ClassFor("example.com/gpu"));
  EXPECT_EQ(Hint(plugin, kNodeAdd, pod, {}, node("1")), "queue");
  EXPECT_EQ(Hint(plugin, kNodeAllocatable, pod, node("1"), node("1")), "queue");
}

TEST_F(NodeResourcesFitTest, PodLevelResourcesCountWithTheirGate) {
  handle.gates.pod_level_resources = false;
  NodeResourcesFit plugin({}, handle);
  const api::Node node = MakeNode().Allocatable({{"cpu", "1"}});
  EXPECT_TRUE(Filter(plugin, MakePod().Req({{"cpu", "1"}}).PodLevelReq({{"cpu", "2"}}), node).ok());
}

// The worked examples: a pod of 500m and 1Gi.
TEST_F(NodeResourcesFitTest, LeastAndMostAllocatedScoreTheSharesOfCpuAndMemory) {
  NodeResourcesFit least({}, handle);
  NodeResourcesFitArgs most_args;
  most_args.scoring_strategy.type = ScoringStrategyType::kMostAllocated;
  NodeResourcesFit most(most_args, handle);
  const api::Pod pod = MakePod().Req({{"cpu", "500m"}, {"memory", "1Gi"}});
  const struct {
    const char* name;
    ResourceText allocatable;
    ResourceText used;
    int64_t least;
    int64_t most;
  } cases[] = {
      {"A", {{"cpu", "4"}, {"memory", "8Gi"}}, {{"cpu", "1"}, {"memory", "2Gi"}}, 62, 37},
      {"B", {{"cpu", "2"}, {"memory", "8Gi"}}, {{"cpu", "1500m"}, {"memory", "1Gi"}}, 37, 62},
      {"overfull by defaults",
       {{"cpu", "600m"}, {"memory", "2Gi"}},
       {{"memory", "1Gi"}, {"cpu", "200m"}},
       0,
       100},
      // A share of what 64 bits just hold, and requests that they do not hold together.
      {"huge",
       {{"cpu", "8000000000000000"}, {"memory", "8000000000000000000"}},
       {{"cpu", "2000000000000000"}, {"memory", "2000000000000000000"}},
       74,
       25},
      {"more than 64 bits hold",
       {{"cpu", "64"}, {"memory", "64Gi"}},
       {{"cpu", "9223372036854775"}, {"memory", "9223372036854775807"}},
       0,
       100},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    const api::Node node = MakeNode("n").Allocatable(c.allocatable);
    const std::vector<api::Pod> placed = {MakePod().OnNode("n").Req(c.used)};
    EXPECT_EQ(Score(least, pod, node, placed), c.least);
    EXPECT_EQ(Score(most, pod, node, placed), c.most);
  }
  const api::Node empty = MakeNode("n").Allocatable({{"cpu", "8"}, {"memory", "16Gi"}});
  EXPECT_EQ(Score(least, pod, empty), 93);
  EXPECT_EQ(Score(most, pod, empty), 6);
}

TEST_F(NodeResourcesFitTest, ScoresCountDefaultsButNoPodLevelRequests) {
  NodeResourcesFit plugin({}, handle);
  const api::Node node = MakeNode("n").Allocatable({{"cpu", "1"}, {"memory", "2000Mi"}});
  // 100m and 200Mi for a container that names nothing: 90 and 90 free.
  EXPECT_EQ(Score(plugin, MakePod().Req({}), node), 90);
  EXPECT_EQ(Score(plugin, MakePod().Req({}).PodLevelReq({{"cpu", "1"}}), node), 90);
  // Placed pods count with defaults too.
  EXPECT_EQ(Score(plugin, MakePod().Req({}), node, {MakePod().OnNode("n").Req({})}), 80);
  // A node without cpu and memory scores 0.
  EXPECT_EQ(Score(plugin, MakePod().Req({}), MakeNode("n")), 0);
}

TEST_F(NodeResourcesFitTest, WeightsAndScalarsCountOnlyWhereTheyApply) {
  NodeResourcesFitArgs args;
  args.scoring_strategy.resources = {{"cpu", 1}, {"nvidia.com/gpu", 3}};
  NodeResourcesFit plugin(args, handle);
  const api::Node with_gpu = MakeNode("n").Allocatable({{"cpu", "10"}, {"nvidia.com/gpu", "4"}});
  const api::Node without = MakeNode("n").Allocatable({{"cpu", "10"}});
  const api::Pod wants_gpu = MakePod().Req({{"cpu", "1"}, {"nvidia.com/gpu", "1"}});
  const api::Pod no_gpu = MakePod().Req({{"cpu", "1"}});
  EXPECT_EQ(Score(plugin, wants_gpu, with_gpu), (90 + 3 * 75) / 4);
  EXPECT_EQ(Score(plugin, wants_gpu, without), 90);
  EXPECT_EQ(Score(plugin, no_gpu, with_gpu), 90);
}

TEST_F(NodeResourcesFitTest, RequestedToCapacityRatioFollowsItsShape) {
  const auto score = [&](std::vector<UtilizationShapePoint> shape, const char* cpu) {
    NodeResourcesFitArgs args;
    args.scoring_strategy = {
        ScoringStrategyType::kRequestedToCapacityRatio, {{"cpu", 1}}, std::move(shape)};
    NodeResourcesFit plugin(args, handle);
    return Score(plugin, MakePod().Req({{"cpu", cpu}}), MakeNode().Allocatable({{"cpu", "1"}}));
  };
  EXPECT_EQ(score({{0, 10}, {100, 0}}, "330m"), 67);
  EXPECT_EQ(score({{0, 10}, {100, 0}}, "660m"), 34);
  const std::vector<UtilizationShapePoint> bent = {{0, 0}, {70, 10}, {100, 3}};
  EXPECT_EQ(score(bent, "330m"), 47);
  EXPECT_EQ(score(bent, "710m"), 98);
  EXPECT_EQ(score(bent, "850m"), 65);
  EXPECT_EQ(score(bent, "990m"), 33);
  EXPECT_EQ(score(bent, "2"), 30);
}

TEST_F(NodeResourcesFitTest, RequestedToCapacityRatioLeavesZeroScoresOutAndRounds) {
  NodeResourcesFitArgs args;
  args.scoring_strategy = {ScoringStrategyType::kRequestedToCapacityRatio,
                           {{"cpu", 1}, {"memory", 1}},
                           {{0, 0}, {100, 10}}};
  NodeResourcesFit plugin(args, handle);
  const api::Node node = MakeNode().Allocatable({{"cpu", "1"}, {"memory", "1000Mi"}});
  // cpu 0 scores 0 and does not pull the mean down.
  EXPECT_EQ(Score(plugin, MakePod().Req({{"cpu", "0"}, {"memory", "500Mi"}}), node), 50);
  // (10 + 21) / 2 = 15.5 rounds up.
  EXPECT_EQ(Score(plugin, MakePod().Req({{"cpu", "100m"}, {"memory", "210Mi"}}), node), 16);
}

TEST_F(NodeResourcesFitTest, QueuesWhenRoomMayHaveAppeared) {
  const NodeResourcesFit plugin({}, handle);
  const api::Pod pod = MakePod().Req({{"cpu", "2"}, {"nvidia.com/gpu", "1"}});
  const auto node = [](const char* cpu, const char* gpu, const char* pods = "10") {
    return Object(
        MakeNode().Allocatable({{"cpu", cpu}, {"nvidia.com/gpu", gpu}, {"pods", pods}}).Obj());
  };
  EXPECT_EQ(Hint(plugin, kNodeAdd, pod, {}, node("2", "1")), "queue");
  EXPECT_EQ(Hint(plugin, kNodeAdd, pod, {}, node("1", "1")), "skip");
  EXPECT_EQ(Hint(plugin, kNodeAdd, pod, {}, node("2", "0")), "skip");
  EXPECT_EQ(Hint(plugin, kNodeAdd, pod, {}, node("2", "1", "0")), "skip");
  EXPECT_EQ(Hint(plugin, kNodeAllocatable, pod, node("2", "1"), node("2", "1")), "skip");
  EXPECT_EQ(Hint(plugin, kNodeAllocatable, pod, node("2", "1"), node("3", "1")), "queue");
  EXPECT_EQ(Hint(plugin, kNodeAllocatable, pod, node("2", "1"), node("2", "2")), "queue");
  EXPECT_EQ(Hint(plugin, kNodeAllocatable, pod, node("2", "1"), node("2", "1", "11")), "queue");
  EXPECT_EQ(Hint(plugin, kNodeAllocatable, pod, node("3", "1"), node("2", "1")), "skip");
  EXPECT_EQ(Hint(plugin, kNodeAllocatable, MakePod(), node("2", "1"), node("3", "1")), "skip");
  EXPECT_EQ(Hint(plugin, kNodeAdd, pod, {}, Object(pod)), "error");

  EXPECT_EQ(Hint(plugin, kAssignedPodDelete, pod, Object(MakePod().OnNode("n").Obj()), {}),
            "queue");
  EXPECT_EQ(Hint(plugin, kAssignedPodDelete, pod, Object(MakePod().NominatedNode("n").Obj()), {}),
            "queue");
  EXPECT_EQ(Hint(plugin, kAssignedPodDelete, pod, Object(MakePod().Obj()), {}), "skip");
}

TEST_F(NodeResourcesFitTest, QueuesWhenAPodAsksForLessOfWhatIsWanted) {
  const NodeResourcesFit plugin({}, handle);
  const api::Pod pod = MakePod().Req({{"cpu", "2"}, {"memory", "0"}});
  const auto placed = [](const char* cpu, const char* memory) {
    return Object(MakePod().OnNode("n").Req({{"cpu", cpu}, {"memory", memory}}).Obj());
  };
  EXPECT_EQ(Hint(plugin, kAssignedPodScaleDown, pod, placed("2", "1Gi"), placed("1", "1Gi")),
            "queue");
  EXPECT_EQ(Hint(plugin, kAssignedPodScaleDown, pod, placed("2", "2Gi"), placed("2", "1Gi")),
            "skip");
  EXPECT_EQ(Hint(plugin, kAssignedPodScaleDown, pod, Object(MakePod().Req({{"cpu", "2"}}).Obj()),
                 Object(MakePod().Req({{"cpu", "1"}}).Obj())),
            "skip");
  EXPECT_EQ(Hint(plugin, kTargetPodScaleDown, pod, Object(pod), Object(pod)), "queue");
}

// A pod on "n" that wants `cpu` and has 1.
api::Pod Resizing(const char* cpu) {
  api::Pod pod = MakePod()
                     .Name("app")
                     .OnNode("n")
                     .Req({{"cpu", cpu}})
                     .Condition("PodResizePending", "True", "Deferred");
  api::ContainerStatus& status = pod.status.container_statuses.emplace_back();
  status.name = "container-0";
  status.allocated_resources = MakeResources({{"cpu", "1"}});
  return pod;
}

TEST_F(NodeResourcesFitTest, ADeferredResizeFitsWhereTheNodeHasWhatAllItsPodsWant) {
  handle.gates.in_place_pod_vertical_scaling_scheduler_preemption = true;
  NodeResourcesFit plugin({}, handle);
  const api::Pod pod = Resizing("3");
  const auto on = [&](const char* cpu, const char* taken) {
    return Filter(plugin, pod, MakeNode("n").Allocatable({{"cpu", cpu}}),
                  {pod, MakePod().Name("other").OnNode("n").Req({{"cpu", taken}})});
  };
  EXPECT_TRUE(on("4", "1").ok());
  EXPECT_EQ(on("4", "2").message(), "Insufficient cpu");
  EXPECT_EQ(on("4", "2").code(), Code::kUnschedulable);
  EXPECT_EQ(on("2", "0").code(), Code::kUnschedulableAndUnresolvable) << "it wants 3";
  // The node has it once: for the pod itself it counts as taken.
  EXPECT_TRUE(
      Filter(plugin, pod, MakeNode("n").Allocatable({{"cpu", "3"}, {"pods", "2"}}), {pod}).ok());
  EXPECT_EQ(Filter(plugin, pod, MakeNode("n").Allocatable({{"cpu", "3"}, {"pods", "1"}}), {pod})
                .message(),
            "Too many pods")
      << "as upstream, which counts the pod twice";
  EXPECT_EQ(Filter(plugin, pod, MakeNode("m").Allocatable({{"cpu", "2"}})).message(),
            "Insufficient cpu");
}

TEST_F(NodeResourcesFitTest, TheColumnFormAgreesAboutADeferredResize) {
  handle.gates.in_place_pod_vertical_scaling_scheduler_preemption = true;
  NodeResourcesFit plugin({}, handle);
  for (const char* cpu : {"1", "2", "3", "4", "5"}) {
    const api::Pod pod = Resizing(cpu);
    const PlainSnapshot snapshot = Cluster(
        {MakeNode("m").Allocatable({{"cpu", "4"}}), MakeNode("n").Allocatable({{"cpu", "4"}})},
        {pod, MakePod().Name("other").OnNode("n").Req({{"cpu", "1"}})});
    const PodInfoPtr info = Info(pod);
    state = CycleState();
    ASSERT_TRUE(plugin.PreFilter(state, *info, snapshot).status.ok());
    NodeSet nodes = snapshot.nodes();
    ASSERT_TRUE(plugin.FilterNodes(state, *info, snapshot, nodes).ok());
    for (NodeRow row = 0; row < 2; ++row) {
      EXPECT_EQ(nodes.Test(row), plugin.Filter(state, *info, NodeView(snapshot, row)).ok())
          << cpu << " on " << row;
    }
  }
}

TEST_F(NodeResourcesFitTest, ADeferredResizeLooksAtItsOwnNode) {
  handle.gates.in_place_pod_vertical_scaling_scheduler_preemption = true;
  const NodeResourcesFit plugin({}, handle);
  const api::Pod pod = Resizing("3");
  const auto on = [](const char* node, const char* cpu) {
    return Object(MakePod().Name("other").OnNode(node).Req({{"cpu", cpu}}).Obj());
  };
  const auto node = [](const char* name, const char* cpu) {
    return Object(MakeNode(name).Allocatable({{"cpu", cpu}}).Obj());
  };
  const ClusterEvent assigned_up{EventResource::kAssignedPod, action::kUpdatePodScaleUp};
  const ClusterEvent target_up{EventResource::kTargetPod, action::kUpdatePodScaleUp};
  EXPECT_EQ(Hint(plugin, kAssignedPodDelete, pod, on("n", "1"), {}), "queue");
  EXPECT_EQ(Hint(plugin, kAssignedPodDelete, pod, on("m", "1"), {}), "skip");
  EXPECT_EQ(Hint(plugin, kNodeAllocatable, pod, node("n", "4"), node("n", "5")), "queue");
  EXPECT_EQ(Hint(plugin, kNodeAllocatable, pod, node("m", "4"), node("m", "5")), "skip");
  EXPECT_EQ(Hint(plugin, kNodeAdd, pod, {}, node("m", "5")), "skip");
  EXPECT_EQ(Hint(plugin, kAssignedPodScaleDown, pod, on("n", "2"), on("n", "1")), "queue");
  EXPECT_EQ(Hint(plugin, kAssignedPodScaleDown, pod, on("m", "2"), on("m", "1")), "skip");
  EXPECT_EQ(Hint(plugin, assigned_up, pod, on("n", "1"), on("n", "2")), "queue");
  EXPECT_EQ(Hint(plugin, assigned_up, pod, on("m", "1"), on("m", "2")), "skip");
  EXPECT_EQ(Hint(plugin, target_up, pod, Object(Resizing("2")), Object(pod)), "queue");
  const api::Pod pending = MakePod().Req({{"cpu", "3"}});
  EXPECT_EQ(Hint(plugin, assigned_up, pending, on("n", "1"), on("n", "2")), "skip");
  EXPECT_EQ(Hint(plugin, target_up, pending, Object(pending), Object(pending)), "skip");
  EXPECT_EQ(Hint(plugin, kAssignedPodDelete, pending, on("m", "1"), {}), "queue");

  handle.gates.in_place_pod_vertical_scaling_scheduler_preemption = false;
  const NodeResourcesFit without({}, handle);
  EXPECT_EQ(Hint(without, assigned_up, pod, on("n", "1"), on("n", "2")), "");
  EXPECT_EQ(Hint(without, kAssignedPodDelete, pod, on("m", "1"), {}), "queue");
}

ConfigValue Strategy(ConfigValue::Map map) {
  return Args({{"scoringStrategy", ConfigValue(std::move(map))}});
}
ConfigValue Point(int64_t utilization, int64_t score) {
  return Args({{"utilization", Item(utilization)}, {"score", Item(score)}});
}
ConfigValue Shape(ConfigValue::List points) { return Args({{"shape", Items(std::move(points))}}); }

TEST_F(NodeResourcesFitTest, ArgsHaveKubeSchedulersDefaults) {
  const auto none = kNodeResourcesFitArgs.parse(ConfigValue());
  ASSERT_TRUE(none.has_value());
  EXPECT_EQ(none->scoring_strategy.type, ScoringStrategyType::kLeastAllocated);
  EXPECT_EQ(none->scoring_strategy.resources, DefaultResourceSpecs());

  const auto some = kNodeResourcesFitArgs.parse(
      Strategy({{"type", Item("RequestedToCapacityRatio")},
                {"resources", Items({Args({{"name", Item("cpu")}})})},
                {"requestedToCapacityRatio", Shape({Point(0, 0), Point(100, 10)})}}));
  ASSERT_TRUE(some.has_value()) << some.error().message;
  EXPECT_EQ(some->scoring_strategy.resources, (std::vector<ResourceSpec>{{"cpu", 1}}));
  EXPECT_EQ(some->scoring_strategy.shape, (std::vector<UtilizationShapePoint>{{0, 0}, {100, 10}}));
}

TEST_F(NodeResourcesFitTest, ArgsAreValidatedInKubeSchedulersWords) {
  const ConfigValue ratio = Item("RequestedToCapacityRatio");
  const struct {
    const char* name;
    ConfigValue args;
    const char* want;
  } cases[] = {
      {"unknown field", Strategy({{"typ", Item("x")}}), "unknown field \"scoringStrategy.typ\""},
      {"type", Strategy({{"type", Item("Tightest")}}),
       "scoringStrategy.type: Unsupported value: \"Tightest\": supported values: "
       "\"LeastAllocated\", \"MostAllocated\", \"RequestedToCapacityRatio\""},
      {"no type", Strategy({}),
       "scoringStrategy.type: Unsupported value: \"\": supported values: \"LeastAllocated\", "
       "\"MostAllocated\", \"RequestedToCapacityRatio\""},
      {"weight",
       Strategy({{"type", Item("MostAllocated")},
                 {"resources", Items({Args({{"name", Item("cpu")}, {"weight", Item(101)}})})}}),
       "scoringStrategy.resources[0].weight: Invalid value: 101: resource weight of cpu not in "
       "valid range (0, 100]"},
      {"no shape", Strategy({{"type", ratio}}),
       "scoringStrategy.requestedToCapacityRatio: Required value: must be specified when type is "
       "RequestedToCapacityRatio"},
      {"an empty shape", Strategy({{"type", ratio}, {"requestedToCapacityRatio", Shape({})}}),
       "scoringStrategy.requestedToCapacityRatio.shape: Required value: at least one point must "
       "be specified"},
      {"a shape too many",
       Strategy(
           {{"type", Item("MostAllocated")}, {"requestedToCapacityRatio", Shape({Point(0, 0)})}}),
       "scoringStrategy.requestedToCapacityRatio: Forbidden: must be nil when type is not "
       "RequestedToCapacityRatio"},
      {"a shape out of order and range",
       Strategy(
           {{"type", ratio}, {"requestedToCapacityRatio", Shape({Point(101, 11), Point(50, 0)})}}),
       "[scoringStrategy.requestedToCapacityRatio.shape[1].utilization: Invalid value: 50: values "
       "must be sorted in increasing order, "
       "scoringStrategy.requestedToCapacityRatio.shape[0].utilization: Invalid value: 101: not in "
       "valid range [0, 100], "
       "scoringStrategy.requestedToCapacityRatio.shape[0].score: Invalid value: 11: not in valid "
       "range [0, 10]]"},
      {"an ignored group with a slash",
       Args({{"ignoredResourceGroups", Items({Item("example.com/x")})}}),
       "ignoredResourceGroups[0]: Invalid value: \"example.com/x\": resource group name can't "
       "contain '/'"},
      {"an ignored name", Args({{"ignoredResources", Items({Item("/x")})}}),
       "ignoredResources[0]: Invalid value: \"/x\": prefix part must be non-empty"},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    const auto parsed = kNodeResourcesFitArgs.parse(c.args);
    ASSERT_FALSE(parsed.has_value());
    EXPECT_EQ(parsed.error().message, c.want);
  }
}

}  // namespace
}  // namespace berth::plugins
