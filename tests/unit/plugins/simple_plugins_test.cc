// SPDX-License-Identifier: Apache-2.0
// The plugins that fit on a page: SchedulingGates, PrioritySort, NodeName, NodeUnschedulable,
// NodePorts, DefaultBinder.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plugins/default_binder/default_binder.h"
#include "plugins/node_name/node_name.h"
#include "plugins/node_ports/node_ports.h"
#include "plugins/node_unschedulable/node_unschedulable.h"
#include "plugins/priority_sort/priority_sort.h"
#include "plugins/scheduling_gates/scheduling_gates.h"
#include "tests/support/heap_bytes.h"
#include "tests/unit/plugins/plugin_fixture.h"

namespace berth::plugins {
namespace {

using namespace berth::test;

class SimplePluginsTest : public testing::Test, public PluginFixture {};

TEST_F(SimplePluginsTest, SchedulingGatesHoldsPodsWithGatesAndNamesThem) {
  SchedulingGates plugin;
  EXPECT_TRUE(plugin.PreEnqueue(*Info(MakePod())).ok());
  const Status status = plugin.PreEnqueue(*Info(MakePod().Gate("quota").Gate("approval")));
  EXPECT_EQ(status.code(), Code::kUnschedulableAndUnresolvable);
  EXPECT_EQ(status.message(), "waiting for scheduling gates: [quota approval]");
}

TEST_F(SimplePluginsTest, SchedulingGatesKeepsNoTextOfPods) {
  SchedulingGates plugin;
  const std::string gate(1000, 'g');
  const size_t before = HeapBytes();
  for (int i = 0; i < 10'000; ++i) {
    EXPECT_FALSE(plugin.PreEnqueue(*Info(MakePod().Gate(gate + std::to_string(i)))).ok());
  }
  EXPECT_LT(HeapBytes(), before + (1u << 20));
}

TEST_F(SimplePluginsTest, SchedulingGatesQueuesAPodThatLostItsLastGate) {
  SchedulingGates plugin;
  const ClusterEvent gone{EventResource::kTargetPod, action::kUpdatePodSchedulingGatesEliminated};
  EXPECT_EQ(Hint(plugin, gone, MakePod(), Object(MakePod().Obj()), Object(MakePod().Obj())),
            "queue");
  EXPECT_EQ(Hint(plugin, kNodeAdd, MakePod(), {}, Object(MakeNode().Obj())), "");
}

TEST_F(SimplePluginsTest, PrioritySortPutsPriorityBeforeWaitingTime) {
  const PrioritySort plugin;
  const Time early = handle.clock().Now();
  const Time late = early + std::chrono::seconds(1);
  const PodInfoPtr high = Info(MakePod().Priority(10));
  const PodInfoPtr low = Info(MakePod().Priority(-1));
  const PodInfoPtr none = Info(MakePod());
  EXPECT_TRUE(plugin.Less({high.get(), late}, {none.get(), early}));
  EXPECT_FALSE(plugin.Less({none.get(), early}, {high.get(), late}));
  EXPECT_TRUE(plugin.Less({none.get(), late}, {low.get(), early}));
  EXPECT_TRUE(plugin.Less({none.get(), early}, {none.get(), late}));
  EXPECT_FALSE(plugin.Less({none.get(), early}, {none.get(), early}));
}

TEST_F(SimplePluginsTest, NodeNameKeepsAPodOffEveryNodeButTheOneItNames) {
  NodeName plugin(handle);
  const struct {
    const char* name;
    api::Pod pod;
    Code want;
  } cases[] = {
      {"pod names no node", MakePod(), Code::kSuccess},
      {"pod names this node", MakePod().OnNode("node-a"), Code::kSuccess},
      {"pod names another node", MakePod().OnNode("node-b"), Code::kUnschedulableAndUnresolvable},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    const Status status = Filter(plugin, c.pod, MakeNode("node-a"));
    EXPECT_EQ(status.code(), c.want);
    EXPECT_EQ(status.message(), status.ok() ? "" : "node(s) didn't match the requested node name");
  }
}

TEST_F(SimplePluginsTest, NodeNameNarrowsTheSearchToTheNamedNode) {
  NodeName plugin(handle);
  const PlainSnapshot snapshot = Cluster({MakeNode("node-a")});
  EXPECT_EQ(plugin.PreFilter(state, *Info(MakePod()), snapshot).node_names, std::nullopt);
  EXPECT_THAT(plugin.PreFilter(state, *Info(MakePod().OnNode("x")), snapshot).node_names,
              testing::Optional(testing::ElementsAre("x")));
}

TEST_F(SimplePluginsTest, NodeNameQueuesOnNewNodesOnly) {
  const NodeName plugin(handle);
  const api::ObjectPtr node = Object(MakeNode().Obj());
  EXPECT_EQ(Hint(plugin, kNodeAdd, MakePod(), {}, node), "queue");
  EXPECT_EQ(Hint(plugin, kNodeLabel, MakePod(), node, node), "");
}

TEST_F(SimplePluginsTest, NodeUnschedulableSparesPodsThatTolerateCordonedNodes) {
  NodeUnschedulable plugin(handle);
  constexpr std::string_view kTaint = "node.kubernetes.io/unschedulable";
  const struct {
    const char* name;
    api::Pod pod;
    api::Node node;
    Code want;
  } cases[] = {
      {"open node", MakePod(), MakeNode(), Code::kSuccess},
      {"cordoned node", MakePod(), MakeNode().Unschedulable(), Code::kUnschedulableAndUnresolvable},
      {"tolerated", MakePod().Tolerate(kTaint, "Exists", "", "NoSchedule"),
       MakeNode().Unschedulable(), Code::kSuccess},
      {"tolerated by an empty value", MakePod().Tolerate(kTaint, "Equal", "", ""),
       MakeNode().Unschedulable(), Code::kSuccess},
      {"another effect", MakePod().Tolerate(kTaint, "Exists", "", "NoExecute"),
       MakeNode().Unschedulable(), Code::kUnschedulableAndUnresolvable},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    const Status status = Filter(plugin, c.pod, c.node);
    EXPECT_EQ(status.code(), c.want);
    EXPECT_EQ(status.message(), status.ok() ? "" : "node(s) were unschedulable");
  }
}

TEST_F(SimplePluginsTest, NodeUnschedulableQueuesWhenANodeOpensOrThePodTolerates) {
  const NodeUnschedulable plugin(handle);
  const api::ObjectPtr open = Object(MakeNode().Obj());
  const api::ObjectPtr cordoned = Object(MakeNode().Unschedulable().Obj());
  EXPECT_EQ(Hint(plugin, kNodeAdd, MakePod(), {}, open), "queue");
  EXPECT_EQ(Hint(plugin, kNodeAdd, MakePod(), {}, cordoned), "skip");
  EXPECT_EQ(Hint(plugin, kNodeTaint, MakePod(), cordoned, open), "queue");
  EXPECT_EQ(Hint(plugin, kNodeTaint, MakePod(), open, open), "skip");
  EXPECT_EQ(Hint(plugin, kNodeTaint, MakePod(), open, cordoned), "skip");
  EXPECT_EQ(Hint(plugin, kNodeAdd, MakePod(), {}, Object(MakePod().Obj())), "error");
  EXPECT_EQ(Hint(plugin, kNodeAdd, MakePod(), {}, {}), "error");

  const api::ObjectPtr before = Object(MakePod().Obj());
  const api::ObjectPtr other = Object(MakePod().Tolerate("gpu", "Exists", "", "").Obj());
  const api::ObjectPtr all = Object(MakePod().Tolerate("", "Exists", "", "").Obj());
  EXPECT_EQ(Hint(plugin, kTargetPodToleration, MakePod(), before, other), "skip");
  EXPECT_EQ(Hint(plugin, kTargetPodToleration, MakePod(), before, all), "queue");
}

TEST_F(SimplePluginsTest, NodePortsRejectsNodesWhereAPortIsTaken) {
  NodePorts plugin(handle);
  const std::vector<api::Pod> placed = {
      MakePod().Name("a").OnNode("n").HostPort(80, "TCP", "10.0.0.1"),
      MakePod().Name("b").OnNode("n").HostPort(53, "UDP")};
  const struct {
    const char* name;
    api::Pod pod;
    Code want;
  } cases[] = {
      {"no host port", MakePod(), Code::kSkip},
      {"a free port", MakePod().HostPort(81), Code::kSuccess},
      {"the same address", MakePod().HostPort(80, "TCP", "10.0.0.1"), Code::kUnschedulable},
      {"another address", MakePod().HostPort(80, "TCP", "10.0.0.2"), Code::kSuccess},
      {"every address", MakePod().HostPort(80), Code::kUnschedulable},
      {"an address where every one is taken", MakePod().HostPort(53, "UDP", "10.0.0.9"),
       Code::kUnschedulable},
      {"another protocol", MakePod().HostPort(53, "TCP"), Code::kSuccess},
      {"one of two", MakePod().HostPort(81).HostPort(53, "UDP"), Code::kUnschedulable},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    const Status status = Filter(plugin, c.pod, MakeNode("n"), placed);
    EXPECT_EQ(status.code(), c.want);
    if (status.rejected()) {
      EXPECT_EQ(status.message(), "node(s) didn't have free ports for the requested pod ports");
    }
  }
}

TEST_F(SimplePluginsTest, NodePortsHonoursTheOverlay) {
  const NodePorts plugin(handle);
  const PlainSnapshot snapshot =
      Cluster({MakeNode("n")}, {MakePod().Name("a").OnNode("n").HostPort(80)});
  const PodInfoPtr wants_80 = Info(MakePod().HostPort(80));
  const PodInfoPtr wants_81 = Info(MakePod().HostPort(81));
  Overlay overlay;
  overlay.RemovePod(snapshot.pod("a"));
  overlay.AddPod(*wants_81);
  const NodeView node = snapshot.view("n", &overlay);
  EXPECT_TRUE(plugin.Filter(state, *wants_80, node).ok());
  EXPECT_FALSE(plugin.Filter(state, *wants_81, node).ok());
}

TEST_F(SimplePluginsTest, NodePortsQueuesWhenAPodThatHeldAPortGoes) {
  const NodePorts plugin(handle);
  const api::Pod pod = MakePod().HostPort(80);
  const struct {
    const char* name;
    api::Pod deleted;
    const char* want;
  } cases[] = {
      {"it held the port", MakePod().OnNode("n").HostPort(80), "queue"},
      {"it was nominated", MakePod().NominatedNode("n").HostPort(80), "queue"},
      {"it was nowhere", MakePod().HostPort(80), "skip"},
      {"it held another port", MakePod().OnNode("n").HostPort(81), "skip"},
      {"it held none", MakePod().OnNode("n"), "skip"},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    EXPECT_EQ(Hint(plugin, kAssignedPodDelete, pod, Object(c.deleted), {}), c.want);
  }
  EXPECT_EQ(Hint(plugin, kAssignedPodDelete, pod, Object(MakeNode().Obj()), {}), "error");
  EXPECT_EQ(Hint(plugin, kNodeAdd, pod, {}, Object(MakeNode().Obj())), "queue");
}

TEST_F(SimplePluginsTest, DefaultBinderHandsTheBindToTheHandleAndItsAnswerBack) {
  DefaultBinder plugin(handle);
  FakeCancellation cancellation;
  const PodInfoPtr pod = Info(MakePod().Name("web"));
  std::vector<AsyncStatus> answers;
  plugin.Bind(state, *pod, "node-a", cancellation,
              [&](AsyncStatus status) { answers.push_back(std::move(status)); });
  ASSERT_EQ(handle.binds.size(), 1u);
  EXPECT_EQ(handle.binds[0].pod.pod->metadata.name, "web");
  EXPECT_EQ(handle.binds[0].node_name, "node-a");
  EXPECT_THAT(answers, testing::IsEmpty());
  handle.binds[0].done({Code::kError, "refused"});
  ASSERT_EQ(answers.size(), 1u);
  EXPECT_EQ(answers[0].message, "refused");
}

}  // namespace
}  // namespace berth::plugins
