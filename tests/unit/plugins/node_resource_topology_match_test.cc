// SPDX-License-Identifier: Apache-2.0
#include "plugins/node_resource_topology_match/node_resource_topology_match.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>

#include "plugins/node_resource_topology_match/node_topologies.h"
#include "src/documents/parse.h"
#include "tests/unit/plugins/plugin_fixture.h"

namespace berth::plugins {
namespace {

using test::MakeNode;
using test::MakePod;
using testing::ElementsAre;

api::ResourceList Amounts(std::initializer_list<std::pair<const char*, const char*>> texts) {
  api::ResourceList list;
  for (const auto& [name, text] : texts) list.emplace_back(name, *api::Quantity::Parse(text));
  std::ranges::sort(list, {}, &api::ResourceList::value_type::first);
  return list;
}

api::Container Guaranteed(std::initializer_list<std::pair<const char*, const char*>> amounts) {
  api::Container container;
  container.name = "c";
  container.resources.requests = Amounts(amounts);
  container.resources.limits = container.resources.requests;
  return container;
}

api::Pod GuaranteedPod(const std::string& name, const char* cpu, const char* memory) {
  api::Pod pod = MakePod().Name(name).Uid(name).SchedulerName("default-scheduler");
  pod.spec.containers = {Guaranteed({{"cpu", cpu}, {"memory", memory}})};
  return pod;
}

// A node of two NUMA nodes, "<cpu>/<memory>" each.
api::NodeResourceTopology TopologyOf(
    const std::string& node, const std::string& policy, const std::string& scope,
    std::initializer_list<std::pair<const char*, const char*>> numa) {
  api::NodeResourceTopology topology;
  topology.metadata.name = node;
  topology.attributes = {{"topologyManagerPolicy", policy}, {"topologyManagerScope", scope}};
  int id = 0;
  for (const auto& [cpu, memory] : numa) {
    api::NodeTopologyZone& zone = topology.zones.emplace_back();
    zone.name = "node-" + std::to_string(id++);
    zone.type = "Node";
    zone.resources = {{"cpu", *api::Quantity::Parse(cpu)},
                      {"memory", *api::Quantity::Parse(memory)}};
  }
  return topology;
}

NodeResourceTopologyMatchArgs ParseNuma(const std::string& json) {
  const auto parsed = kNodeResourceTopologyMatchArgs.parse(*documents::ParseJson(json, ""));
  EXPECT_TRUE(parsed) << parsed.error().message;
  return parsed.value_or(NodeResourceTopologyMatchArgs());
}

// The vectors of the algorithm's own test suite, and of its lengths around each step.
TEST(PodFingerprintTest, HashesAreXxh64) {
  EXPECT_EQ(Xxh64("", 0), 0xEF46DB3751D8E999);
  EXPECT_EQ(Xxh64("a", 0), 0xD24EC4F1A98C6E5B);
  EXPECT_EQ(Xxh64("abc", 0), 0x44BC2CF5AD770999);
  EXPECT_EQ(Xxh64("Nobody inspects the spammish repetition", 0), 0xFBCEA83C8A378BF1);
}

TEST(PodFingerprintTest, TheOrderOfPodsDoesNotMatter) {
  PodFingerprint one;
  one.Add("shop", "web-0");
  one.Add("default", "db");
  PodFingerprint other;
  other.Add("default", "db");
  other.Add("shop", "web-0");
  EXPECT_EQ(one.Sign(), other.Sign());
  EXPECT_EQ(PodFingerprint().Sign(), "pfp0v001ef46db3751d8e999");
}

TEST(QosClassTest, IsThatOfTheAPIServer) {
  EXPECT_EQ(QosClassOf(MakePod()), QosClass::kBestEffort);
  EXPECT_EQ(QosClassOf(MakePod().Req({{"cpu", "1"}})), QosClass::kBurstable);
  EXPECT_EQ(QosClassOf(GuaranteedPod("a", "1", "1Gi")), QosClass::kGuaranteed);
  api::Pod pod = GuaranteedPod("a", "1", "1Gi");
  pod.spec.containers.push_back(pod.spec.containers.front());
  EXPECT_EQ(QosClassOf(pod), QosClass::kGuaranteed);
  pod.spec.containers.back().resources = {};
  EXPECT_EQ(QosClassOf(pod), QosClass::kBurstable) << "one container without limits";
  pod = GuaranteedPod("a", "1", "1Gi");
  pod.spec.init_containers = {Guaranteed({{"cpu", "1"}})};
  EXPECT_EQ(QosClassOf(pod), QosClass::kBurstable) << "an init container without a limit of memory";
  pod = GuaranteedPod("a", "1", "1Gi");
  pod.spec.containers.front().resources.limits = Amounts({{"cpu", "2"}, {"memory", "1Gi"}});
  EXPECT_EQ(QosClassOf(pod), QosClass::kBurstable);
  pod = MakePod();
  pod.spec.resources = Guaranteed({{"cpu", "1"}, {"memory", "1Gi"}}).resources;
  EXPECT_EQ(QosClassOf(pod), QosClass::kGuaranteed) << "resources of the pod count alone";
  pod = MakePod().Req({{"example.com/gpu", "1"}});
  EXPECT_EQ(QosClassOf(pod), QosClass::kBestEffort) << "devices are no matter of QoS";
  pod = GuaranteedPod("a", "1", "1Gi");
  pod.spec.containers.push_back(pod.spec.containers.front());
  pod.spec.containers.front().resources.requests = Amounts({{"cpu", "1500m"}, {"memory", "1Gi"}});
  pod.spec.containers.back().resources.requests = Amounts({{"cpu", "500m"}, {"memory", "1Gi"}});
  EXPECT_EQ(QosClassOf(pod), QosClass::kGuaranteed) << "the sums count";
  pod = MakePod().Req({{"cpu", "0"}});
  pod.spec.containers.front().resources.limits = Amounts({{"memory", "-1"}});
  EXPECT_EQ(QosClassOf(pod), QosClass::kBestEffort) << "nothing is asked for";
}

TEST(TopologyManagerTest, AttributesCountBeforePolicies) {
  api::NodeResourceTopology topology;
  EXPECT_EQ(TopologyManagerOf(topology), TopologyManager());
  topology.topology_policies = {"SingleNUMANodePodLevel", "BestEffort"};
  using Policy = TopologyManager::Policy;
  using Scope = TopologyManager::Scope;
  EXPECT_EQ(TopologyManagerOf(topology),
            (TopologyManager{Policy::kSingleNumaNode, Scope::kPod, 8}));
  topology.attributes = {{"topologyManagerScope", "container"},
                         {"topologyManagerPolicy", "restricted"},
                         {"topologyManagerMaxNUMANodes", "16"}};
  EXPECT_EQ(TopologyManagerOf(topology),
            (TopologyManager{Policy::kRestricted, Scope::kContainer, 16}));
  topology.attributes = {{"topologyManagerScope", "socket"},
                         {"topologyManagerPolicy", "any"},
                         {"topologyManagerMaxNUMANodes", "1"}};
  EXPECT_EQ(TopologyManagerOf(topology), (TopologyManager{Policy::kSingleNumaNode, Scope::kPod, 8}))
      << "values that mean nothing are passed over";
}

TEST(NumaNodesTest, ZonesThatAreNoNumaNodesAreLeftOut) {
  api::NodeResourceTopology topology =
      TopologyOf("n", "single-numa-node", "pod", {{"4", "8Gi"}, {"2", "4Gi"}});
  topology.zones.front().costs = {{"node-0", 10}, {"node-1", 21}, {"socket-0", 1}};
  for (const char* name : {"node-64", "node--1", "node-1x", "socket-1"}) {
    topology.zones.push_back(topology.zones.front());
    topology.zones.back().name = name;
  }
  topology.zones.push_back(topology.zones.front());
  topology.zones.back().type = "Socket";
  const std::vector<NumaNode> numa_nodes = NumaNodesOf(topology);
  ASSERT_EQ(numa_nodes.size(), 2u);
  EXPECT_THAT(numa_nodes[0].costs, ElementsAre(std::pair(0, 10), std::pair(1, 21)));
  EXPECT_EQ(numa_nodes[1].available, Amounts({{"cpu", "2"}, {"memory", "4Gi"}}));
}

class NodeResourceTopologyMatchTest : public testing::Test, public test::PluginFixture {
 protected:
  NodeResourceTopologyMatch& Make(const std::string& args = "{}") {
    plugin_ = std::make_unique<NodeResourceTopologyMatch>(ParseNuma(args), handle);
    CalledPoints points;
    points.pre_filter = true;
    plugin_->SetCalledPoints(points);
    return *plugin_;
  }
  // What PreFilter and Filter say of a cluster of one node "n".
  std::string Verdict(const api::Pod& pod, const std::vector<api::Pod>& placed = {}) {
    const auto snapshot = Cluster({node_}, placed);
    handle.current_snapshot = &snapshot;
    state = CycleState();
    const PodInfoPtr info = Info(pod);
    const Status first = plugin_->PreFilter(state, *info, snapshot).status;
    if (first.skip()) return "skip";
    return plugin_->Filter(state, *info, snapshot.view("n")).message();
  }
  int64_t ScoreOf(const api::Pod& pod) {
    const auto snapshot = Cluster({node_});
    handle.current_snapshot = &snapshot;
    state = CycleState();
    const PodInfoPtr info = Info(pod);
    (void)plugin_->PreFilter(state, *info, snapshot);
    return plugin_->Score(state, *info, snapshot.view("n")).score;
  }

  const api::Node node_ = MakeNode("n").Allocatable(
      {{"cpu", "16"}, {"memory", "64Gi"}, {"example.com/gpu", "2"}, {"hugepages-2Mi", "1Gi"}});
  std::unique_ptr<NodeResourceTopologyMatch> plugin_;
};

TEST_F(NodeResourceTopologyMatchTest, ANodeWithoutAnObjectIsAsIfThePluginWereNotThere) {
  Make();
  EXPECT_EQ(Verdict(GuaranteedPod("p", "100", "1Ti")), "skip");
  handle.plain_listers.Set(TopologyOf("other", "single-numa-node", "pod", {{"1", "1Gi"}}));
  EXPECT_EQ(Verdict(GuaranteedPod("p", "100", "1Ti")), "");
  EXPECT_EQ(ScoreOf(GuaranteedPod("p", "1", "1Gi")), 0);
}

TEST_F(NodeResourceTopologyMatchTest, OnlySingleNumaNodeRejects) {
  Make();
  for (const char* policy : {"none", "best-effort", "restricted"}) {
    handle.plain_listers.Set(TopologyOf("n", policy, "pod", {{"4", "8Gi"}, {"4", "8Gi"}}));
    EXPECT_EQ(Verdict(GuaranteedPod("p", "6", "1Gi")), "") << policy;
  }
  handle.plain_listers.Set(
      TopologyOf("n", "single-numa-node", "pod", {{"4", "8Gi"}, {"4", "8Gi"}}));
  EXPECT_EQ(Verdict(GuaranteedPod("p", "6", "1Gi")), "cannot align pod");
  EXPECT_EQ(Verdict(GuaranteedPod("p", "4", "8Gi")), "");
  EXPECT_EQ(Verdict(MakePod().Req({{"cpu", "6"}})), "skip") << "not Guaranteed";
  EXPECT_EQ(Verdict(MakePod()), "skip");
}

TEST_F(NodeResourceTopologyMatchTest, APodThatIsOnlyNominatedClosesNoNode) {
  Make(R"({"discardReservedNodes":true})");
  handle.plain_listers.Set(
      TopologyOf("n", "single-numa-node", "pod", {{"4", "8Gi"}, {"4", "8Gi"}}));
  const auto snapshot = Cluster({node_});
  handle.current_snapshot = &snapshot;
  const PodInfoPtr nominated = Info(GuaranteedPod("first", "2", "1Gi"));
  Overlay overlay;
  overlay.AddPod(*nominated);
  const PodInfoPtr pod = Info(GuaranteedPod("second", "2", "1Gi"));
  ASSERT_TRUE(plugin_->PreFilter(state, *pod, snapshot).status.ok());
  EXPECT_TRUE(plugin_->Filter(state, *pod, NodeView(snapshot, 0, &overlay)).ok());
}

TEST_F(NodeResourceTopologyMatchTest, ContainersTakeFromNumaNodesOneAfterTheOther) {
  Make();
  handle.plain_listers.Set(
      TopologyOf("n", "single-numa-node", "container", {{"4", "8Gi"}, {"3", "8Gi"}}));
  api::Pod pod = GuaranteedPod("p", "3", "1Gi");
  pod.spec.containers.push_back(pod.spec.containers.front());
  EXPECT_EQ(Verdict(pod), "") << "one on each";
  pod.spec.containers.push_back(pod.spec.containers.front());
  EXPECT_EQ(Verdict(pod), "cannot align container");
  pod = GuaranteedPod("p", "3", "1Gi");
  pod.spec.init_containers = {Guaranteed({{"cpu", "4"}, {"memory", "1Gi"}}),
                              Guaranteed({{"cpu", "4"}, {"memory", "1Gi"}})};
  EXPECT_EQ(Verdict(pod), "") << "init containers run one after the other";
  pod.spec.init_containers.back() = Guaranteed({{"cpu", "5"}, {"memory", "1Gi"}});
  EXPECT_EQ(Verdict(pod), "cannot align init container");
  pod.spec.init_containers.back().restart_policy = "Always";
  EXPECT_EQ(Verdict(pod), "cannot align sidecar container");
}

TEST_F(NodeResourceTopologyMatchTest, DevicesOfAllPodsAreAligned) {
  Make();
  api::NodeResourceTopology topology =
      TopologyOf("n", "single-numa-node", "container", {{"4", "8Gi"}, {"4", "8Gi"}});
  topology.zones[1].resources.push_back({"example.com/gpu", *api::Quantity::Parse("1")});
  handle.plain_listers.Set(topology);
  EXPECT_EQ(Verdict(MakePod().Req({{"example.com/gpu", "1"}})), "");
  EXPECT_EQ(Verdict(MakePod().Req({{"example.com/gpu", "2"}})), "cannot align container");
  EXPECT_EQ(Verdict(MakePod().Req({{"example.com/nic", "1"}})), "cannot align container")
      << "the node has none";
  api::Pod pod = MakePod();
  pod.spec.containers = {Guaranteed({{"cpu", "4"}, {"memory", "8Gi"}}),
                         Guaranteed({{"cpu", "4"}, {"memory", "1Gi"}, {"example.com/gpu", "1"}})};
  EXPECT_EQ(Verdict(pod), "") << "the first takes NUMA node 0, the second the one with the device";
  std::swap(pod.spec.containers[0], pod.spec.containers[1]);
  EXPECT_EQ(Verdict(pod), "");
  topology.zones[0].resources[0].available = api::Quantity::FromUnits(3);
  handle.plain_listers.Set(topology);
  EXPECT_EQ(Verdict(pod), "cannot align container");
}

TEST_F(NodeResourceTopologyMatchTest, WhatEachNumaNodeLacksIsSaid) {
  Make();
  handle.plain_listers.Set(
      TopologyOf("n", "single-numa-node", "pod", {{"4", "8Gi"}, {"9", "4Gi"}, {"16", "64Gi"}}));
  const api::Pod pod = GuaranteedPod("p", "6", "6Gi");
  EXPECT_EQ(Verdict(pod), "");
  const auto snapshot = Cluster({node_});
  EXPECT_EQ(plugin_->InTheWayOf(pod, snapshot.view("n")),
            "node-0 has 4 of 6 cpu, node-1 has 4Gi of 6Gi memory");
}

TEST_F(NodeResourceTopologyMatchTest, WhatIsOfNoNumaNodeIsOfTheHost) {
  Make();
  handle.plain_listers.Set(
      TopologyOf("n", "single-numa-node", "pod", {{"4", "8Gi"}, {"4", "8Gi"}}));
  api::Pod pod = GuaranteedPod("p", "1", "1Gi");
  pod.spec.containers.front().resources.requests = Amounts(
      {{"cpu", "1"}, {"memory", "1Gi"}, {"ephemeral-storage", "1Gi"}, {"example.com/gpu", "1"}});
  EXPECT_EQ(Verdict(pod), "");
  pod.spec.containers.front().resources.requests =
      Amounts({{"cpu", "1"}, {"memory", "1Gi"}, {"hugepages-2Mi", "2Mi"}});
  EXPECT_EQ(Verdict(pod), "cannot align pod") << "huge pages belong to NUMA nodes";
}

// A pod that is not Guaranteed fits where cpu and memory are of NUMA nodes at all.
TEST_F(NodeResourceTopologyMatchTest, PlainPodsAreHeldAgainstNodesThatReportNoMemory) {
  Make();
  api::NodeResourceTopology topology = TopologyOf("n", "single-numa-node", "pod", {{"4", "8Gi"}});
  topology.zones.front().resources.pop_back();
  handle.plain_listers.Set(topology);
  EXPECT_EQ(Verdict(MakePod().Req({{"memory", "1Gi"}})), "cannot align pod");
  EXPECT_EQ(Verdict(MakePod().Req({{"cpu", "100"}})), "");
  handle.plain_listers.Set(TopologyOf("n", "single-numa-node", "pod", {{"4", "8Gi"}}));
  EXPECT_EQ(Verdict(MakePod().Req({{"memory", "1Gi"}})), "skip");
}

// Of a pod that is skipped nothing is worked out, whose cost every pod would have.
TEST_F(NodeResourceTopologyMatchTest, PlainPodsCostALookAtTheirContainers) {
  Make();
  handle.plain_listers.Set(TopologyOf("n", "single-numa-node", "pod", {{"4", "8Gi"}}));
  const auto snapshot = Cluster({node_});
  api::Pod burstable = MakePod().Req({{"memory", "1Gi"}, {"example.com/gpu", "0"}});
  burstable.spec.init_containers = burstable.spec.containers;
  for (const api::Pod& pod : {burstable, api::Pod(MakePod())}) {
    EXPECT_EQ(Verdict(pod), "skip");
    EXPECT_EQ(state.Find<NumaRequests>(), nullptr);
    EXPECT_TRUE(plugin_->PreScore(state, *Info(pod), snapshot, snapshot.nodes()).skip());
    EXPECT_EQ(state.Find<NumaRequests>(), nullptr);
  }
  // Nor is the class of QoS a second time; PreFilter has not seen one whose resize is deferred.
  state = CycleState();
  PodInfo guaranteed = *Info(GuaranteedPod("p", "1", "1Gi"));
  EXPECT_TRUE(plugin_->PreScore(state, guaranteed, snapshot, snapshot.nodes()).skip());
  guaranteed.resize_deferred = true;
  EXPECT_TRUE(plugin_->PreScore(state, guaranteed, snapshot, snapshot.nodes()).ok());
  EXPECT_TRUE(plugin_->PreFilter(state, guaranteed, snapshot).status.ok());
  guaranteed.resize_deferred = false;
  EXPECT_TRUE(plugin_->PreScore(state, guaranteed, snapshot, snapshot.nodes()).ok());
  burstable.spec.overhead = Amounts({{"hugepages-2Mi", "2Mi"}});
  EXPECT_NE(Verdict(burstable), "skip");
  EXPECT_NE(state.Find<NumaRequests>(), nullptr);
  burstable.spec.overhead.clear();
  burstable.spec.init_containers.front().resources.requests = Amounts({{"example.com/gpu", "1"}});
  EXPECT_NE(Verdict(burstable), "skip");
  EXPECT_NE(state.Find<NumaRequests>(), nullptr);
}

// Both lists are as long as objects may be: neither is searched from end to end.
TEST_F(NodeResourceTopologyMatchTest, LongListsCostStepsAndEndWithTheBudget) {
  Make();
  constexpr int kMany = 2000;
  const auto name = [](int i) { return "example.com/r" + std::to_string(i); };
  api::NodeResourceTopology topology = TopologyOf("n", "single-numa-node", "pod", {{"4", "8Gi"}});
  api::Pod pod = GuaranteedPod("p", "1", "1Gi");
  api::Node node = node_;
  api::ResourceList& requests = pod.spec.containers.front().resources.requests;
  for (int i = 0; i < kMany; ++i) {
    topology.zones.front().resources.push_back({name(i), api::Quantity::FromUnits(1)});
    requests.emplace_back(name(i), api::Quantity::FromUnits(1));
    node.status.allocatable.emplace_back(name(i), api::Quantity::FromUnits(1));
  }
  for (api::ResourceList* list : {&requests, &node.status.allocatable}) {
    std::ranges::sort(*list, {}, &api::ResourceList::value_type::first);
  }
  handle.plain_listers.Set(topology);
  const auto snapshot = Cluster({node});
  handle.current_snapshot = &snapshot;
  const PodInfoPtr info = Info(pod);
  EXPECT_TRUE(plugin_->PreFilter(state, *info, snapshot).status.ok());
  EXPECT_EQ(plugin_->Filter(state, *info, snapshot.view("n")).message(), "");
  EXPECT_EQ(state.budget().steps(), uint64_t{2} * (kMany + 2)) << "of the container and of the pod";
  state.budget() = CycleBudget(kMany, 0);
  EXPECT_EQ(plugin_->Filter(state, *info, snapshot.view("n")).code(), Code::kError);
}

TEST_F(NodeResourceTopologyMatchTest, WithoutPreFilterTheNewestObjectCounts) {
  Make().SetCalledPoints({});
  handle.plain_listers.Set(TopologyOf("n", "single-numa-node", "pod", {{"4", "8Gi"}}));
  const auto snapshot = Cluster({node_});
  const auto verdict = [&] {
    return plugin_->Filter(state, *Info(GuaranteedPod("p", "3", "1Gi")), snapshot.view("n"))
        .message();
  };
  EXPECT_EQ(verdict(), "");
  handle.plain_listers.Set(TopologyOf("n", "single-numa-node", "pod", {{"2", "8Gi"}}));
  EXPECT_EQ(verdict(), "cannot align pod");
}

TEST_F(NodeResourceTopologyMatchTest, StrategiesScoreTheWorstNumaNodeThatTakesThePod) {
  handle.plain_listers.Set(
      TopologyOf("n", "single-numa-node", "pod", {{"4", "8Gi"}, {"8", "8Gi"}, {"1", "1Gi"}}));
  const api::Pod pod = GuaranteedPod("p", "2", "4Gi");
  Make(R"({"scoringStrategy":{"type":"LeastAllocated"}})");
  // (4 - 2) / 4 and (8 - 4) / 8 on the first, 75 and 50 on the second; too little on the third.
  EXPECT_EQ(ScoreOf(pod), 50);
  Make(R"({"scoringStrategy":{"type":"MostAllocated"}})");
  EXPECT_EQ(ScoreOf(pod), 37) << "(25 + 50) / 2 on the second";
  Make(R"({"scoringStrategy":{"type":"MostAllocated","resources":[{"name":"cpu","weight":3},)"
       R"({"name":"memory","weight":1}]}})");
  EXPECT_EQ(ScoreOf(pod), 31) << "(3 * 25 + 50) / 4";
  Make(R"({"scoringStrategy":{"type":"BalancedAllocation"}})");
  // Shares of a half each, and of a quarter and a half: the variance is 1/32.
  EXPECT_EQ(ScoreOf(pod), 96);
  EXPECT_EQ(ScoreOf(MakePod().Req({{"cpu", "2"}})), 100) << "not Guaranteed";
  handle.plain_listers.Set(TopologyOf("n", "restricted", "pod", {{"4", "8Gi"}}));
  EXPECT_EQ(ScoreOf(pod), 0);
}

TEST_F(NodeResourceTopologyMatchTest, ContainersOfAPodScoreInTheMean) {
  handle.plain_listers.Set(TopologyOf("n", "single-numa-node", "container", {{"4", "8Gi"}}));
  Make();
  api::Pod pod = GuaranteedPod("p", "1", "2Gi");                                 // 75, 75
  pod.spec.containers.push_back(Guaranteed({{"cpu", "2"}, {"memory", "4Gi"}}));  // 50, 50
  EXPECT_EQ(ScoreOf(pod), 62);
}

TEST_F(NodeResourceTopologyMatchTest, LeastNUMANodesPrefersFewThatAreNearTogether) {
  api::NodeResourceTopology topology =
      TopologyOf("n", "restricted", "pod", {{"4", "8Gi"}, {"4", "8Gi"}, {"4", "8Gi"}});
  const auto cost = [&](size_t from, std::vector<int64_t> values) {
    for (size_t to = 0; to < values.size(); ++to) {
      topology.zones[from].costs.push_back({"node-" + std::to_string(to), values[to]});
    }
  };
  cost(0, {10, 20, 40});
  cost(1, {20, 10, 40});
  cost(2, {40, 40, 10});
  handle.plain_listers.Set(topology);
  Make(R"({"scoringStrategy":{"type":"LeastNUMANodes"}})");
  // A twelfth of 100 for each of at most eight, and half of it where none are nearer.
  EXPECT_EQ(ScoreOf(GuaranteedPod("p", "4", "1Gi")), 100 - 12 + 6);
  EXPECT_EQ(ScoreOf(GuaranteedPod("p", "6", "1Gi")), 100 - 24 + 6) << "0 and 1 are the nearest";
  EXPECT_EQ(ScoreOf(GuaranteedPod("p", "13", "1Gi")), 0) << "not all of them have enough";
  topology.zones[1].resources[0].available = api::Quantity::FromUnits(1);
  handle.plain_listers.Set(topology);
  EXPECT_EQ(ScoreOf(GuaranteedPod("p", "6", "1Gi")), 100 - 24) << "0 and 2, which are farther";
}

// What NUMA nodes there are and what has been placed, in one small story.
class ReservingTest : public NodeResourceTopologyMatchTest {
 protected:
  // The agent's object of the pods that are there, with what the only NUMA node has left.
  void Measure(const char* cpu, const std::vector<std::string>& pods) {
    api::NodeResourceTopology topology =
        TopologyOf("n", "single-numa-node", "pod", {{cpu, "64Gi"}});
    PodFingerprint fingerprint;
    for (const std::string& pod : pods) fingerprint.Add("default", pod);
    topology.attributes.push_back({"nodeTopologyPodsFingerprint", fingerprint.Sign()});
    handle.plain_listers.Set(topology);
  }
  void Reserve(const api::Pod& pod) {
    const auto snapshot = Cluster({node_});
    handle.current_snapshot = &snapshot;
    EXPECT_TRUE(plugin_->Reserve(state, *Info(pod), "n").ok());
  }
  static api::Pod On(api::Pod pod, const std::string& phase) {
    pod.spec.node_name = "n";
    pod.status.phase = phase;
    return pod;
  }
  void Wait(std::chrono::seconds time) { handle.virtual_clock.Advance(time); }
};

TEST_F(ReservingTest, WhatIsPlacedCountsUntilAnObjectIsOfIt) {
  Make(R"({"cacheResyncPeriodSeconds":5})");
  Measure("4", {});
  const api::Pod first = GuaranteedPod("first", "3", "1Gi");
  const api::Pod next = GuaranteedPod("next", "3", "1Gi");
  EXPECT_EQ(Verdict(next), "");
  Reserve(first);
  EXPECT_EQ(Verdict(next), "cannot align pod");
  // It starts, and the agent has not measured it.
  Wait(std::chrono::seconds(5));
  EXPECT_EQ(Verdict(next, {On(first, "Running")}), "cannot align pod");
  // The agent has, and one has left.
  Measure("8", {"first"});
  Wait(std::chrono::seconds(4));
  EXPECT_EQ(Verdict(next, {On(first, "Running")}), "cannot align pod") << "not before its time";
  Wait(std::chrono::seconds(1));
  EXPECT_EQ(Verdict(next, {On(first, "Running")}), "");
}

TEST_F(ReservingTest, APodThatIsOnItsWayStaysReserved) {
  Make(R"({"cacheResyncPeriodSeconds":5})");
  Measure("4", {});
  const api::Pod next = GuaranteedPod("next", "3", "1Gi");
  EXPECT_EQ(Verdict(next), "");
  const api::Pod first = GuaranteedPod("first", "3", "1Gi");
  Reserve(first);
  // Measured before it came, and of the pods that run.
  Measure("4", {});
  Wait(std::chrono::seconds(5));
  EXPECT_EQ(Verdict(next, {On(first, "Pending")}), "cannot align pod");
  plugin_->Unreserve(state, *Info(first), "n");
  EXPECT_EQ(Verdict(next), "");
}

TEST_F(ReservingTest, PodsOfAnotherSchedulerMakeANodeUnknown) {
  Make(R"({"cacheResyncPeriodSeconds":5})");
  Measure("4", {});
  const api::Pod next = GuaranteedPod("next", "3", "1Gi");
  EXPECT_EQ(Verdict(next), "");
  api::Pod foreign = On(GuaranteedPod("foreign", "1", "1Gi"), "Running");
  foreign.spec.scheduler_name = "other";
  EXPECT_EQ(Verdict(next, {foreign}), "invalid node topology data");
  EXPECT_EQ(Verdict(MakePod().Req({{"cpu", "1"}}), {foreign}), "invalid node topology data");
  Measure("3", {"foreign"});
  Wait(std::chrono::seconds(5));
  EXPECT_EQ(Verdict(next, {foreign}), "");
  foreign.metadata.resource_version = "2";
  EXPECT_EQ(Verdict(next, {foreign}), "invalid node topology data") << "it changed";
}

TEST_F(ReservingTest, ForeignPodsCountAsTheArgsSay) {
  api::Pod foreign = On(MakePod().Name("foreign").Req({{"cpu", "1"}}), "Running");
  foreign.spec.scheduler_name = "other";
  const api::Pod next = GuaranteedPod("next", "3", "1Gi");
  Measure("4", {});
  Make(R"({"cacheResyncPeriodSeconds":5,"cache":{"foreignPodsDetect":"None"}})");
  EXPECT_EQ(Verdict(next, {foreign}), "");
  Make(R"({"cacheResyncPeriodSeconds":5,"cache":{"foreignPodsDetect":"OnlyExclusiveResources"}})");
  EXPECT_EQ(Verdict(next, {foreign}), "");
  foreign.spec.containers = GuaranteedPod("x", "1", "1Gi").spec.containers;
  EXPECT_EQ(Verdict(next, {foreign}), "invalid node topology data");
}

TEST_F(ReservingTest, AnotherConfigurationOfTheKubeletCountsAtOnce) {
  Make(R"({"cacheResyncPeriodSeconds":5})");
  Measure("4", {});
  const api::Pod next = GuaranteedPod("next", "3", "1Gi");
  EXPECT_EQ(Verdict(next), "");
  Reserve(GuaranteedPod("first", "3", "1Gi"));
  handle.plain_listers.Set(TopologyOf("n", "none", "pod", {{"1", "64Gi"}}));
  Wait(std::chrono::seconds(5));
  EXPECT_EQ(Verdict(next), "");
}

TEST_F(ReservingTest, ANodeThatLosesItsObjectIsForgotten) {
  Make(R"({"cacheResyncPeriodSeconds":5})");
  Measure("1", {});
  const api::Pod next = GuaranteedPod("next", "3", "1Gi");
  EXPECT_EQ(Verdict(next), "cannot align pod");
  EXPECT_GT(plugin_->kept_bytes(), 0u);
  handle.plain_listers.Remove<api::NodeResourceTopology>("", "n");
  EXPECT_EQ(Verdict(next), "skip");
  EXPECT_EQ(plugin_->kept_bytes(), 0u);
}

TEST_F(NodeResourceTopologyMatchTest, IsAskedAgainWhenPodsGoNodesComeAndObjectsChange) {
  const NodeResourceTopologyMatch& plugin = Make();
  const api::Pod pod = GuaranteedPod("p", "1", "1Gi");
  using test::Hint;
  EXPECT_EQ(Hint(plugin, test::kAssignedPodDelete, pod, {}, {}), "queue");
  EXPECT_EQ(Hint(plugin, test::kNodeAdd, pod, {}, {}), "queue");
  EXPECT_EQ(Hint(plugin, test::kNodeAllocatable, pod, {}, {}), "queue");
  EXPECT_EQ(Hint(plugin, test::kNodeLabel, pod, {}, {}), "");
  for (const ActionType action : {action::kAdd, action::kUpdate}) {
    EXPECT_EQ(Hint(plugin, {EventResource::kNodeResourceTopology, action}, pod, {}, {}), "queue");
  }
}

TEST(NodeResourceTopologyMatchArgsTest, HaveSchedulerPluginsNamesAndDefaults) {
  EXPECT_EQ(kNodeResourceTopologyMatchArgs.with_defaults(ConfigValue(), {}).ToJson(),
            R"({"scoringStrategy":{"type":"LeastAllocated","resources":[{"name":"cpu","weight":1},)"
            R"({"name":"memory","weight":1}]},"cache":{"foreignPodsDetect":"All",)"
            R"("resyncMethod":"Autodetect","informerMode":"Dedicated"}})");
  const NodeResourceTopologyMatchArgs args = ParseNuma(
      R"({"kind":"NodeResourceTopologyMatchArgs","apiVersion":"kubescheduler.config.k8s.io/v1",)"
      R"("cacheResyncPeriodSeconds":5,"discardReservedNodes":true,"scoringStrategy":)"
      R"({"type":"LeastNUMANodes"},"cache":{"foreignPodsDetect":"None","resyncMethod":)"
      R"("OnlyExclusiveResources","informerMode":"Shared","resyncScope":"OnlyResources"}})");
  EXPECT_EQ(args.strategy, NumaStrategy::kLeastNumaNodes);
  EXPECT_EQ(args.cache_resync_period_seconds, 5);
  EXPECT_TRUE(args.discard_reserved_nodes);
  EXPECT_EQ(args.resync_scope, NodeResourceTopologyMatchArgs::ResyncScope::kOnlyResources);
}

TEST(NodeResourceTopologyMatchArgsTest, ProblemsNameTheField) {
  for (const auto& [json, problem] :
       {std::pair(R"({"scoringStrategy":{"type":"Best"}})", "scoringStrategy.type: "),
        {R"({"scoringStrategy":{"resources":[]}})", "scoringStrategy.type: Required value"},
        {R"({"cache":{"resyncMethod":"Often"}})", "cache.resyncMethod: "},
        {R"({"cacheResyncPeriod":5})", "cacheResyncPeriod"}}) {
    const auto parsed = kNodeResourceTopologyMatchArgs.parse(*documents::ParseJson(json, ""));
    ASSERT_FALSE(parsed) << json;
    EXPECT_THAT(parsed.error().message, testing::HasSubstr(problem));
    EXPECT_EQ(
        kNodeResourceTopologyMatchArgs.problems(*documents::ParseJson(json, ""), "args", {}).size(),
        1u);
  }
}

}  // namespace
}  // namespace berth::plugins
