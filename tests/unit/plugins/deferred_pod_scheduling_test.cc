// SPDX-License-Identifier: Apache-2.0
#include "plugins/deferred_pod_scheduling/deferred_pod_scheduling.h"

#include <gtest/gtest.h>

#include "tests/unit/plugins/plugin_fixture.h"

namespace berth::plugins {
namespace {

using namespace berth::test;

constexpr ClusterEvent kPolicy{EventResource::kNode, action::kUpdateNodePreemptionPolicy};
constexpr ClusterEvent kPodAdd{EventResource::kAssignedPod, action::kAdd};
constexpr ClusterEvent kPodScaleUp{EventResource::kAssignedPod, action::kUpdatePodScaleUp};
constexpr ClusterEvent kOwnScaleUp{EventResource::kTargetPod, action::kUpdatePodScaleUp};

class DeferredPodSchedulingTest : public testing::Test, public PluginFixture {
 protected:
  DeferredPodSchedulingTest() {
    handle.gates.in_place_pod_vertical_scaling_scheduler_preemption = true;
  }
  static api::Pod Deferred() {
    return MakePod().Name("app").OnNode("n").Condition("PodResizePending", "True", "Deferred");
  }
  static api::Node Disabling(std::string_view name, std::vector<std::string> owners) {
    api::Node node = MakeNode(name);
    node.spec.pod_preemption_policy.emplace().disable_resize_preemption = std::move(owners);
    return node;
  }
};

TEST_F(DeferredPodSchedulingTest, KeepsAPodToItsNodeAsLongAsThatLetsPodsBeEvicted) {
  DeferredPodScheduling plugin(handle);
  EXPECT_TRUE(Filter(plugin, Deferred(), MakeNode("n")).ok());
  EXPECT_TRUE(Filter(plugin, Deferred(), Disabling("n", {})).ok());
  const Status other = Filter(plugin, Deferred(), MakeNode("m"));
  EXPECT_EQ(other.code(), Code::kUnschedulableAndUnresolvable);
  EXPECT_EQ(other.message(), "pod assigned to different node");
  const Status disabled = Filter(plugin, Deferred(), Disabling("n", {"example.com/operator"}));
  EXPECT_EQ(disabled.code(), Code::kUnschedulableAndUnresolvable);
  EXPECT_EQ(disabled.message(), "node had resize preemption disabled");
}

TEST_F(DeferredPodSchedulingTest, LetsNoResizeThatFitsBeBound) {
  DeferredPodScheduling plugin(handle);
  const Status status = plugin.Permit(state, *Info(Deferred()), "n").status;
  EXPECT_EQ(status.code(), Code::kUnschedulableAndUnresolvable);
  EXPECT_EQ(status.message(), "pod resize fits, waiting for Kubelet actuation");
}

TEST_F(DeferredPodSchedulingTest, SaysNothingOfOtherPodsAndNothingWithoutTheGate) {
  DeferredPodScheduling plugin(handle);
  const api::Node disabled = Disabling("n", {"example.com/operator"});
  for (const api::Pod& pod :
       {MakePod().Obj(), MakePod().OnNode("m").Obj(),
        MakePod().OnNode("m").Condition("PodResizePending", "True", "Infeasible").Obj()}) {
    EXPECT_TRUE(Filter(plugin, pod, disabled).skip());
    EXPECT_TRUE(plugin.Filter(state, *Info(pod), NodeView(Cluster({disabled}), 0)).ok());
    EXPECT_TRUE(plugin.Permit(state, *Info(pod), "n").status.ok());
  }
  handle.gates.in_place_pod_vertical_scaling_scheduler_preemption = false;
  DeferredPodScheduling without(handle);
  EXPECT_TRUE(Filter(without, Deferred(), disabled).skip());
  EXPECT_TRUE(without.Permit(state, *Info(Deferred()), "n").status.ok());
  EXPECT_TRUE(without.EventsToRegister().empty());
}

TEST_F(DeferredPodSchedulingTest, QueuesWhenItsNodeAllowsEvictionsAgain) {
  const DeferredPodScheduling plugin(handle);
  const api::ObjectPtr open = Object(MakeNode("n").Obj());
  const api::ObjectPtr closed = Object(Disabling("n", {"a"}));
  const api::ObjectPtr closed_by_two = Object(Disabling("n", {"a", "b"}));
  EXPECT_EQ(Hint(plugin, kPolicy, Deferred(), closed, open), "queue");
  EXPECT_EQ(Hint(plugin, kPolicy, Deferred(), closed_by_two, closed), "skip");
  EXPECT_EQ(Hint(plugin, kPolicy, Deferred(), open, closed), "skip");
  EXPECT_EQ(
      Hint(plugin, kPolicy, Deferred(), Object(Disabling("m", {"a"})), Object(MakeNode("m").Obj())),
      "skip");
  EXPECT_EQ(Hint(plugin, kPolicy, MakePod(), closed, open), "skip");
  EXPECT_EQ(Hint(plugin, kNodeAdd, Deferred(), {}, open), "queue");
  EXPECT_EQ(Hint(plugin, kNodeAdd, Deferred(), {}, closed), "skip");
  EXPECT_EQ(Hint(plugin, kNodeAdd, Deferred(), {}, Object(MakeNode("m").Obj())), "skip");
}

TEST_F(DeferredPodSchedulingTest, QueuesWhenWhatFittedMayFitNoMore) {
  const DeferredPodScheduling plugin(handle);
  const api::ObjectPtr here = Object(MakePod().Name("other").OnNode("n").Obj());
  const api::ObjectPtr elsewhere = Object(MakePod().Name("other").OnNode("m").Obj());
  EXPECT_EQ(Hint(plugin, kPodAdd, Deferred(), {}, here), "queue");
  EXPECT_EQ(Hint(plugin, kPodAdd, Deferred(), {}, elsewhere), "skip");
  EXPECT_EQ(Hint(plugin, kPodScaleUp, Deferred(), here, here), "queue");
  EXPECT_EQ(Hint(plugin, kPodScaleUp, Deferred(), elsewhere, elsewhere), "skip");
  EXPECT_EQ(Hint(plugin, kOwnScaleUp, Deferred(), Object(Deferred()), Object(Deferred())), "queue");
  EXPECT_EQ(Hint(plugin, kNodeAllocatable, Deferred(), Object(MakeNode("n").Obj()),
                 Object(MakeNode("n").Obj())),
            "queue");
  EXPECT_EQ(Hint(plugin, kNodeAllocatable, Deferred(), Object(MakeNode("m").Obj()),
                 Object(MakeNode("m").Obj())),
            "skip");
}

}  // namespace
}  // namespace berth::plugins
