// SPDX-License-Identifier: Apache-2.0
#include "berth/cluster_event.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/builders.h"

namespace berth {
namespace {

using test::MakeNode;
using test::MakePod;

std::vector<std::string> Labels(const std::vector<ClusterEvent>& events) {
  std::vector<std::string> labels;
  for (const ClusterEvent& event : events) labels.push_back(event.Label());
  return labels;
}

TEST(ClusterEventTest, LabelsAreThoseOfMetrics) {
  EXPECT_EQ((ClusterEvent{EventResource::kNode, action::kAdd}.Label()), "NodeAdd");
  EXPECT_EQ((ClusterEvent{EventResource::kAssignedPod, action::kUpdatePodScaleDown}.Label()),
            "AssignedPodUpdatePodScaleDown");
  EXPECT_EQ((ClusterEvent{EventResource::kCsiNode, action::kUpdate}.Label()),
            "storage.k8s.io/CSINodeUpdate");
  EXPECT_EQ(ClusterEvent().Label(), "*All");
  EXPECT_EQ((ClusterEvent{EventResource::kWildcard, action::kAll, "ForceActivate"}.Label()),
            "ForceActivate");
}

TEST(ClusterEventTest, ARegistrationMatchesByResourceAndAction) {
  using R = EventResource;
  const struct {
    const char* name;
    ClusterEvent registered;
    ClusterEvent incoming;
    bool want;
  } cases[] = {
      {"the wildcard takes all", {}, {R::kNode, action::kAdd}, true},
      {"one of its actions",
       {R::kNode, action::kAdd | action::kUpdateNodeLabel},
       {R::kNode, action::kUpdateNodeLabel},
       true},
      {"not one of its actions",
       {R::kNode, action::kAdd | action::kUpdateNodeLabel},
       {R::kNode, action::kUpdateNodeTaint},
       false},
      {"another resource", {R::kNode, action::kAdd}, {R::kAssignedPod, action::kAdd}, false},
      {"Pod takes every kind of pod", {R::kPod, action::kAdd}, {R::kTargetPod, action::kAdd}, true},
      {"a kind of pod does not take Pod",
       {R::kTargetPod, action::kAdd},
       {R::kPod, action::kAdd},
       false},
      {"a broader event than registered",
       {R::kNode, action::kUpdateNodeLabel},
       {R::kNode, action::kUpdate},
       false},
      {"a wildcard event is no match for a registration",
       {R::kNode, action::kAll},
       {R::kWildcard, action::kAll},
       false},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    EXPECT_EQ(c.registered.Matches(c.incoming), c.want);
  }
}

TEST(PodUpdateEventsTest, EachChangeIsAnEventInUpstreamsOrder) {
  const api::Pod base = MakePod().Req({{"cpu", "2"}});
  const struct {
    const char* name;
    api::Pod before;
    api::Pod after;
    std::vector<std::string> want;
  } cases[] = {
      {"nothing", base, base, {"TargetPodUpdate"}},
      {"a label", base, MakePod().Req({{"cpu", "2"}}).Label("a", "b"), {"TargetPodUpdatePodLabel"}},
      {"less cpu", base, MakePod().Req({{"cpu", "1"}}), {"TargetPodUpdatePodScaleDown"}},
      {"more cpu", base, MakePod().Req({{"cpu", "3"}}), {"TargetPodUpdatePodScaleUp"}},
      {"memory instead of cpu",
       base,
       MakePod().Req({{"memory", "1Gi"}}),
       {"TargetPodUpdatePodScaleDown", "TargetPodUpdatePodScaleUp"}},
      {"the last gate",
       MakePod().Gate("g"),
       MakePod(),
       {"TargetPodUpdatePodSchedulingGatesEliminated"}},
      {"one of two gates", MakePod().Gate("g").Gate("h"), MakePod().Gate("h"), {"TargetPodUpdate"}},
      {"a toleration",
       MakePod(),
       MakePod().Tolerate("k", "Exists", "", ""),
       {"TargetPodUpdatePodToleration"}},
      {"several",
       MakePod().Gate("g"),
       MakePod().Label("a", "b").Tolerate("k", "Exists", "", ""),
       {"TargetPodUpdatePodLabel", "TargetPodUpdatePodSchedulingGatesEliminated",
        "TargetPodUpdatePodToleration"}},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    EXPECT_EQ(Labels(PodUpdateEvents(EventResource::kTargetPod, c.before, c.after)), c.want);
  }
}

TEST(PodUpdateEventsTest, ClaimsThatAreMadeForThePodAreAnEventOfTheirOwn) {
  const auto labels = [](const api::Pod& before, const api::Pod& after) {
    return Labels(PodUpdateEvents(EventResource::kTargetPod, before, after));
  };
  const std::vector<std::string> want = {"TargetPodUpdatePodGeneratedResourceClaim"};
  const api::Pod before = MakePod();
  api::Pod named = before;
  named.status.resource_claim_statuses.push_back({"gpu", "p-gpu-x"});
  EXPECT_EQ(labels(before, named), want);
  api::Pod extended = before;
  extended.status.extended_resource_claim_status =
      api::PodExtendedResourceClaimStatus{{{"main", "example.com/gpu", "r"}}, "p-1"};
  EXPECT_EQ(labels(before, extended), want);
}

TEST(PodUpdateEventsTest, AShrinkingPodScalesDownOnlyWhenTheKubeletHasDoneIt) {
  api::Pod before = MakePod().OnNode("n").Req({{"cpu", "2"}});
  before.status.container_statuses = {{"container-0", test::MakeResources({{"cpu", "2"}}), {}}};
  api::Pod wished = before;
  wished.spec.containers[0].resources.requests = test::MakeResources({{"cpu", "1"}});
  api::Pod done = wished;
  done.status.container_statuses[0].allocated_resources = test::MakeResources({{"cpu", "1"}});
  EXPECT_EQ(Labels(PodUpdateEvents(EventResource::kAssignedPod, before, wished)),
            (std::vector<std::string>{"AssignedPodUpdate"}));
  EXPECT_EQ(Labels(PodUpdateEvents(EventResource::kAssignedPod, wished, done)),
            (std::vector<std::string>{"AssignedPodUpdatePodScaleDown"}));
}

TEST(PodUpdateEventsTest, WithoutItsGateTheStatusOfAWholePodCountsForNothing) {
  api::Pod before = MakePod().OnNode("n");
  before.spec.resources.emplace().requests = test::MakeResources({{"cpu", "2"}});
  before.status.resources.emplace().requests = test::MakeResources({{"cpu", "2"}});
  before.status.allocated_resources = test::MakeResources({{"cpu", "2"}});
  api::Pod wished = before;
  wished.spec.resources->requests = test::MakeResources({{"cpu", "1"}});
  const auto labels = [&](bool pod_level_status) {
    return Labels(PodUpdateEvents(EventResource::kAssignedPod, before, wished, pod_level_status));
  };
  EXPECT_EQ(labels(true), (std::vector<std::string>{"AssignedPodUpdate"}));
  EXPECT_EQ(labels(false), (std::vector<std::string>{"AssignedPodUpdatePodScaleDown"}));
}

TEST(NodeUpdateEventsTest, EachChangeIsAnEventInUpstreamsOrder) {
  const struct {
    const char* name;
    api::Node before;
    api::Node after;
    std::vector<std::string> want;
  } cases[] = {
      {"nothing", MakeNode(), MakeNode(), {}},
      {"uncordoned", MakeNode().Unschedulable(), MakeNode(), {"NodeUpdateNodeTaint"}},
      {"cordoned", MakeNode(), MakeNode().Unschedulable(), {}},
      {"allocatable",
       MakeNode(),
       MakeNode().Allocatable({{"cpu", "1"}}),
       {"NodeUpdateNodeAllocatable"}},
      {"a label", MakeNode(), MakeNode().Label("a", "b"), {"NodeUpdateNodeLabel"}},
      {"a condition turns",
       MakeNode().Condition("Ready", "False"),
       MakeNode().Condition("Ready", "True"),
       {"NodeUpdateNodeCondition"}},
      {"conditions in another order",
       MakeNode().Condition("A", "True").Condition("B", "True"),
       MakeNode().Condition("B", "True").Condition("A", "True"),
       {}},
      {"an annotation", MakeNode(), MakeNode().Annotation("a", "b"), {"NodeUpdateNodeAnnotation"}},
      {"a feature", MakeNode(), MakeNode().DeclaredFeature("F"), {"NodeUpdateNodeDeclaredFeature"}},
      {"the taint of a cordoned node goes",
       MakeNode().Unschedulable().Taint("node.kubernetes.io/unschedulable", "", "NoSchedule"),
       MakeNode().Label("a", "b"),
       {"NodeUpdateNodeTaint", "NodeUpdateNodeLabel", "NodeUpdateNodeTaint"}},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    EXPECT_EQ(Labels(NodeUpdateEvents(c.before, c.after)), c.want);
  }
}

TEST(NodeUpdateEventsTest, APreemptionPolicyIsAnEventBeforeTheFeatures) {
  api::Node before = MakeNode();
  api::Node after = MakeNode().DeclaredFeature("F");
  after.spec.pod_preemption_policy.emplace();
  EXPECT_EQ(Labels(NodeUpdateEvents(before, after)),
            (std::vector<std::string>{"NodeUpdateNodePreemptionPolicy",
                                      "NodeUpdateNodeDeclaredFeature"}));
  before.spec.pod_preemption_policy = after.spec.pod_preemption_policy;
  after.spec.pod_preemption_policy->disable_resize_preemption = {"example.com/operator"};
  EXPECT_EQ(Labels(NodeUpdateEvents(before, after)),
            (std::vector<std::string>{"NodeUpdateNodePreemptionPolicy",
                                      "NodeUpdateNodeDeclaredFeature"}));
}

TEST(AllClusterEventsTest, CoversPodsAndNodes) {
  const auto labels = [](bool pod_groups) {
    std::vector<std::string> all;
    for (const auto& [event, hint] : AllClusterEvents(pod_groups)) {
      EXPECT_EQ(hint, nullptr);
      all.push_back(event.Label());
    }
    return all;
  };
  EXPECT_THAT(labels(false),
              testing::IsSupersetOf({"AssignedPodAll", "UnscheduledPodAll", "TargetPodAll",
                                     "NodeAll", "PersistentVolumeAll"}));
  EXPECT_THAT(labels(false), testing::Not(testing::Contains("scheduling.k8s.io/PodGroupAll")));
  EXPECT_THAT(labels(true), testing::Contains("scheduling.k8s.io/PodGroupAll"));
}

}  // namespace
}  // namespace berth
