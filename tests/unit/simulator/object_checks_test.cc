// SPDX-License-Identifier: Apache-2.0
#include "src/simulator/object_checks.h"

#include <gmock/gmock.h>

#include "tests/support/builders.h"

namespace berth::simulator {
namespace {

template <typename T>
std::string BadValue(const T& object) {
  const auto problem = FindBadValue(std::make_shared<const T>(object));
  return problem ? problem->message : "";
}

TEST(BadValueTest, AWordThatIsNoneOfAPodsFieldIsNamed) {
  EXPECT_EQ(BadValue(test::MakePod().Req({{"cpu", "1"}}).Obj()), "");
  api::Pod pod = test::MakePod();
  pod.spec.topology_spread_constraints.emplace_back().when_unsatisfiable = "ScheduleAnyway";
  EXPECT_EQ(BadValue(pod), "");
  pod.spec.topology_spread_constraints[0].node_taints_policy = "honor";
  EXPECT_EQ(BadValue(pod),
            "spec.topologySpreadConstraints[0].nodeTaintsPolicy: Unsupported value: \"honor\": "
            "supported values: \"Honor\", \"Ignore\"");
  pod.spec.topology_spread_constraints[0].when_unsatisfiable = "DoNotSchedul";
  EXPECT_THAT(BadValue(pod),
              testing::StartsWith("spec.topologySpreadConstraints[0].whenUnsatisfiable: "
                                  "Unsupported value: \"DoNotSchedul\""));
  pod.spec.tolerations = {{"a", "Exists", "", "NoExecute", {}}, {"a", "", "", "noSchedule", {}}};
  EXPECT_THAT(BadValue(pod), testing::StartsWith("spec.tolerations[1].effect: Unsupported value"));
  pod.spec.tolerations[0].operator_ = "Exist";
  EXPECT_THAT(BadValue(pod),
              testing::StartsWith("spec.tolerations[0].operator: Unsupported value: \"Exist\""));
  pod.spec.preemption_policy = "never";
  EXPECT_THAT(BadValue(pod), testing::StartsWith("spec.preemptionPolicy: Unsupported value"));
}

TEST(BadValueTest, AResourceThatNoContainerMayAskForIsNamed) {
  EXPECT_EQ(BadValue(test::MakePod().Req({{"CPU", "100"}}).Obj()),
            "spec.containers[0].resources.requests[CPU]: Invalid value: \"CPU\": must be a "
            "standard resource for containers");
  EXPECT_THAT(BadValue(test::MakePod().Req({{"example.com/", "1"}}).Obj()),
              testing::EndsWith("doesn't follow extended resource name standard"));
  api::Pod huge = test::MakePod().Req({{"hugepages-2Mi", "2Mi"}});
  huge.spec.containers[0].resources.limits = huge.spec.containers[0].resources.requests;
  EXPECT_EQ(BadValue(huge), "");
}

TEST(BadValueTest, WhatIsNotSharedNeedsALimit) {
  for (const char* name : {"example.com/gpu", "hugepages-2Mi"}) {
    api::Pod pod = test::MakePod().Req({{name, "2Mi"}});
    EXPECT_EQ(BadValue(pod),
              "spec.containers[0].resources.limits: Required value: Limit must be set for non "
              "overcommitable resources");
    pod.spec.containers[0].resources.limits = pod.spec.containers[0].resources.requests;
    EXPECT_EQ(BadValue(pod), "");
  }
  for (const char* name : {"memory", "ephemeral-storage", "kubernetes.io/batch-cpu"}) {
    api::Pod pod = test::MakePod().Req({{name, "2Mi"}});
    EXPECT_EQ(BadValue(pod), "");
    pod.spec.containers[0].resources.limits = test::MakeResources({{name, "3Mi"}});
    EXPECT_EQ(BadValue(pod), "") << name;
  }
}

TEST(BadValueTest, ARequestIsAtMostItsLimit) {
  api::Pod pod = test::MakePod().Req({{"cpu", "2"}});
  pod.spec.containers[0].resources.limits = test::MakeResources({{"cpu", "2"}});
  EXPECT_EQ(BadValue(pod), "");
  pod.spec.containers[0].resources.limits = test::MakeResources({{"cpu", "1"}});
  EXPECT_EQ(BadValue(pod),
            "spec.containers[0].resources.requests: Invalid value: \"2\": must be less than or "
            "equal to cpu limit of 1");
}

TEST(BadValueTest, OtherKindsHaveTheirWords) {
  api::Node node = test::MakeNode("n1");
  node.spec.taints = {{"a", "", "NoSchedule"}, {"b", "", "NoSched"}};
  EXPECT_THAT(BadValue(node), testing::StartsWith("spec.taints[1].effect: Unsupported value"));
  api::StorageClass storage_class;
  storage_class.volume_binding_mode = "WaitForConsumer";
  EXPECT_THAT(BadValue(storage_class), testing::StartsWith("volumeBindingMode: Unsupported"));
  api::PersistentVolumeClaim claim;
  claim.spec.access_modes = {"RWO"};
  EXPECT_THAT(BadValue(claim), testing::StartsWith("spec.accessModes: Unsupported value"));
}

TEST(OddityTest, TellsWhichObjectCannotBeReadAndWhy) {
  EXPECT_EQ(OddityOf(test::MakePod().Name("well").Ptr()), "");
  api::Pod pod = test::MakePod().Name("odd").Label("a", "b");
  pod.spec.node_selector = {{"zone", "not a value"}};
  const auto oddity = [&pod] { return OddityOf(std::make_shared<const api::Pod>(pod)); };
  EXPECT_THAT(oddity(), testing::StartsWith("pods default/odd: spec.nodeSelector"));
  pod.metadata.damage.emplace().push_back({"spec.priority", "expected an integer"});
  EXPECT_THAT(oddity(), testing::StartsWith("pods default/odd: spec.priority"));
}

}  // namespace
}  // namespace berth::simulator
