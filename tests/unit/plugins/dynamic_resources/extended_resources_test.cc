// SPDX-License-Identifier: Apache-2.0
#include "plugins/dynamic_resources/extended_resources.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "plugins/dynamic_resources/claim_binding.h"
#include "plugins/shared/extended_resource_classes.h"
#include "tests/support/device_builders.h"

namespace berth::plugins {
namespace {

api::Container MakeContainer(const char* name, int64_t gpus) {
  api::Container container;
  container.name = name;
  container.resources.requests = {{"cpu", api::Quantity::FromUnits(1)},
                                  {"example.com/gpu", api::Quantity::FromUnits(gpus)}};
  return container;
}

// "request=count", then "container->request".
std::vector<std::string> Requests(const api::Pod& pod) {
  const ExtendedRequests made = MakeExtendedRequests(pod, {{"example.com/gpu", "gpus"}});
  std::vector<std::string> texts;
  for (const api::DeviceRequest& request : made.requests) {
    EXPECT_EQ(request.exactly->device_class_name, "gpus");
    texts.push_back(request.name + "=" + std::to_string(request.exactly->count));
  }
  for (const auto& mapping : made.mappings) {
    texts.push_back(mapping.container_name + "->" + mapping.request_name);
  }
  return texts;
}

TEST(ExtendedRequestsTest, ContainersThatRunTogetherHaveDevicesOfTheirOwn) {
  api::Pod pod;
  pod.spec.containers = {MakeContainer("a", 1), MakeContainer("b", 2), MakeContainer("c", 0)};
  EXPECT_EQ(Requests(pod),
            (std::vector<std::string>{"container-0-request-1=1", "container-1-request-1=2",
                                      "a->container-0-request-1", "b->container-1-request-1"}));
}

TEST(ExtendedRequestsTest, InitContainersThatEndUseThoseAfterThemAndShareTheRest) {
  api::Pod pod;
  pod.spec.init_containers = {MakeContainer("small", 1), MakeContainer("large", 5),
                              MakeContainer("larger", 7)};
  pod.spec.containers = {MakeContainer("main", 2)};
  EXPECT_EQ(Requests(pod), (std::vector<std::string>{
                               "container-2-request-1=5", "container-3-request-1=2",
                               "main->container-3-request-1", "small->container-3-request-1",
                               "large->container-3-request-1", "large->container-2-request-1",
                               "larger->container-3-request-1", "larger->container-2-request-1"}));
}

TEST(ExtendedRequestsTest, ASidecarKeepsItsDevices) {
  api::Pod pod;
  pod.spec.init_containers = {MakeContainer("sidecar", 1), MakeContainer("init", 1)};
  pod.spec.init_containers[0].restart_policy = "Always";
  pod.spec.containers = {MakeContainer("main", 1)};
  EXPECT_EQ(Requests(pod), (std::vector<std::string>{
                               "container-0-request-1=1", "container-2-request-1=1",
                               "sidecar->container-0-request-1", "main->container-2-request-1",
                               "init->container-2-request-1"}));
}

TEST(ExtendedRequestsTest, OnlyExtendedResourcesAndThoseOfClassesAreDevices) {
  EXPECT_TRUE(IsDeviceResourceName("example.com/gpu"));
  EXPECT_TRUE(IsDeviceResourceName("deviceclass.resource.kubernetes.io/gpus"));
  EXPECT_FALSE(IsDeviceResourceName("cpu"));
  EXPECT_FALSE(IsDeviceResourceName("hugepages-2Mi"));
}

TEST(BindingConditionsTest, AllMustHoldAndNoneThatSaysItFailed) {
  const auto ready = [](const api::ResourceClaim& claim) -> std::string {
    const auto result = IsReadyForBinding(claim);
    if (!result) return result.error().message;
    return *result ? "ready" : "waiting";
  };
  api::ResourceClaim claim = test::MakeDeviceClaim("c").Request("gpu", "gpus").Obj();
  EXPECT_EQ(ready(claim), "waiting");
  claim = test::MakeDeviceClaim("c").Request("gpu", "gpus").Allocated("n1", "gpu-0").Obj();
  EXPECT_EQ(ready(claim), "ready");
  EXPECT_FALSE(HasBindingConditions(*claim.status.allocation));
  auto& result = claim.status.allocation->devices.results[0];
  result.binding_conditions = {"Attached", "Ready"};
  result.binding_failure_conditions = {"Failed"};
  EXPECT_TRUE(HasBindingConditions(*claim.status.allocation));
  EXPECT_EQ(ready(claim), "waiting");
  auto& status = claim.status.devices.emplace_back();
  status.driver = "gpu.example.com";
  status.pool = "n1";
  status.device = "gpu-0";
  const auto set = [&](const char* type, const char* value) {
    auto& condition = status.conditions.emplace_back();
    condition.type = type;
    condition.status = value;
    condition.reason = "Why";
    condition.message = "it \"broke\"";
  };
  set("Attached", "True");
  set("Ready", "False");
  EXPECT_EQ(ready(claim), "waiting");
  status.conditions[1].status = "True";
  EXPECT_EQ(ready(claim), "ready");
  set("Failed", "True");
  EXPECT_EQ(ready(claim),
            "device binding failed: claim=c, reason=Why, message=\"it \\\"broke\\\"\"");
}

TEST(BindingConditionsTest, TimeRunsFromTheAllocation) {
  constexpr Duration kTimeout = std::chrono::minutes(10);
  api::ResourceClaim claim = test::MakeDeviceClaim("c").Allocated("n1", "gpu-0").Obj();
  const Time allocated(std::chrono::hours(1));
  const Time late = allocated + kTimeout + std::chrono::seconds(1);
  EXPECT_FALSE(IsBindingTimedOut(claim, kTimeout, late));
  claim.status.allocation->allocation_timestamp = allocated;
  EXPECT_FALSE(IsBindingTimedOut(claim, kTimeout, late)) << "nothing is demanded";
  claim.status.allocation->devices.results[0].binding_conditions = {"Ready"};
  EXPECT_TRUE(IsBindingTimedOut(claim, kTimeout, late));
  EXPECT_FALSE(IsBindingTimedOut(claim, kTimeout, allocated + kTimeout));
}

}  // namespace
}  // namespace berth::plugins
