// SPDX-License-Identifier: Apache-2.0
#include "plugins/node_declared_features/node_declared_features.h"

#include <gtest/gtest.h>

#include "tests/unit/plugins/plugin_fixture.h"

namespace berth::plugins {
namespace {

using namespace berth::test;

constexpr const char* kRestart = "RestartAllContainersOnContainerExits";
constexpr const char* kUsers = "UserNamespacesHostNetworkSupport";
constexpr const char* kMounts = "VolumeBindMountOptions";

constexpr ClusterEvent kNodeFeatures{EventResource::kNode, action::kUpdateNodeDeclaredFeature};
constexpr ClusterEvent kTargetPodUpdate{EventResource::kTargetPod, action::kUpdate};

api::Container WithRule(std::string_view action) {
  api::Container container;
  container.restart_policy_rules = {{"Restart"}, {std::string(action)}};
  return container;
}

api::Container WithMount(std::vector<std::string> options) {
  api::Container container;
  container.volume_mounts = {{}, {std::move(options)}};
  return container;
}

api::Pod WithEphemeralMount(std::vector<std::string> options) {
  api::Pod pod = MakePod();
  pod.spec.ephemeral_containers.push_back({{{std::move(options)}}});
  return pod;
}

class NodeDeclaredFeaturesTest : public testing::Test, public PluginFixture {
 public:
  NodeDeclaredFeatures plugin{handle};
};

TEST_F(NodeDeclaredFeaturesTest, ThePodsSpecSaysWhatItNeeds) {
  const struct {
    const char* name;
    api::Pod pod;
    const char* want;  // "" for nothing
  } cases[] = {
      {"nothing", MakePod().Req({}), ""},
      {"restarts all containers", MakePod().Container(WithRule("RestartAllContainers")), kRestart},
      {"an init container does", MakePod().InitContainer(WithRule("RestartAllContainers")),
       kRestart},
      {"restarts one container", MakePod().Container(WithRule("Restart")), ""},
      {"host network and own users", MakePod().HostNetwork().HostUsers(false), kUsers},
      {"host network and host users", MakePod().HostNetwork().HostUsers(true), ""},
      {"host network, users not told", MakePod().HostNetwork(), ""},
      {"own network and users", MakePod().HostUsers(false), ""},
      {"mount options", MakePod().Container(WithMount({"noexec"})), kMounts},
      {"mount options of an init container", MakePod().InitContainer(WithMount({"noexec"})),
       kMounts},
      {"mount options of an ephemeral container", WithEphemeralMount({"noexec"}), kMounts},
      {"no mount options", MakePod().Container(WithMount({})), ""},
  };
  const api::Node plain = MakeNode();
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    const Status without = Filter(plugin, c.pod, plain);
    if (std::string_view(c.want).empty()) {
      EXPECT_TRUE(without.skip());
      continue;
    }
    EXPECT_EQ(without.code(), Code::kUnschedulableAndUnresolvable);
    EXPECT_EQ(without.message(), "node(s) didn't match Pod's required features");
    EXPECT_TRUE(Filter(plugin, c.pod, MakeNode().DeclaredFeature(c.want)).ok());
  }
}

TEST_F(NodeDeclaredFeaturesTest, TheNodeMustDeclareAllOfThem) {
  const api::Pod pod = MakePod()
                           .HostNetwork()
                           .HostUsers(false)
                           .Container(WithMount({"noexec"}))
                           .Container(WithRule("RestartAllContainers"));
  const struct {
    const char* name;
    api::Node node;
    bool want;
  } cases[] = {
      {"none", MakeNode(), false},
      {"two of three", MakeNode().DeclaredFeature(kRestart).DeclaredFeature(kMounts), false},
      {"others", MakeNode().DeclaredFeature("A").DeclaredFeature("B").DeclaredFeature("C"), false},
      {"all and more, in any order",
       MakeNode()
           .DeclaredFeature(kMounts)
           .DeclaredFeature("A")
           .DeclaredFeature(kUsers)
           .DeclaredFeature(kRestart),
       true},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    EXPECT_EQ(Filter(plugin, pod, c.node).ok(), c.want);
    // Without PreFilter the answer is the same.
    const PlainSnapshot snapshot = Cluster({c.node});
    EXPECT_EQ(plugin.Filter(CycleState(), *Info(pod), NodeView(snapshot, 0)).ok(), c.want);
  }
}

TEST_F(NodeDeclaredFeaturesTest, HintsFollowWhatNodesDeclareAndWhatThePodNeeds) {
  const api::Pod pod = MakePod().HostNetwork().HostUsers(false);
  const api::ObjectPtr none = Object(MakeNode());
  const api::ObjectPtr some = Object(MakeNode().DeclaredFeature(kUsers));
  const struct {
    const char* name;
    ClusterEvent event;
    api::ObjectPtr before;
    api::ObjectPtr after;
    const char* want;
  } cases[] = {
      {"a new node", kNodeAdd, {}, none, "queue"},
      {"a node declares more", kNodeFeatures, none, some, "queue"},
      {"a node declares less", kNodeFeatures, some, none, "queue"},
      {"a node declares the same", kNodeFeatures, some, some, "skip"},
      {"a node's labels", kNodeLabel, none, some, ""},
      {"the pod needs less", kTargetPodUpdate, Object(pod), Object(MakePod()), "queue"},
      {"the pod needs the same", kTargetPodUpdate, Object(pod),
       Object(MakePod().HostNetwork().HostUsers(false).Label("a", "b")), "skip"},
      {"the pod changes in one way", kTargetPodScaleDown, Object(pod), Object(MakePod()), "queue"},
      {"another pod", kAssignedPodScaleDown, Object(pod), Object(MakePod()), ""},
      {"no object", kNodeAdd, {}, {}, "error"},
      {"no old pod", kTargetPodUpdate, {}, Object(pod), "error"},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    EXPECT_EQ(Hint(plugin, c.event, pod, c.before, c.after), c.want);
  }
}

TEST_F(NodeDeclaredFeaturesTest, AnUpdateThatChangesOnlyWhatThePodNeedsIsAnEvent) {
  const api::Pod before = MakePod().HostNetwork().HostUsers(false);
  const api::Pod after = MakePod().HostNetwork().HostUsers(true);
  const std::vector<ClusterEvent> events =
      PodUpdateEvents(EventResource::kTargetPod, before, after);
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(Hint(plugin, events[0], before, Object(before), Object(after)), "queue");
}

}  // namespace
}  // namespace berth::plugins
