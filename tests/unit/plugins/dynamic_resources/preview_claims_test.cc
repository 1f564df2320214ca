// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/unit/plugins/dynamic_resources/dynamic_resources_fixture.h"

namespace berth::plugins {
namespace {

using test::MakeDeviceClaim;
using test::MakeDeviceClass;
using test::MakeNode;
using test::MakeNodeSlice;
using test::MakePod;
using testing::ElementsAre;
using testing::IsEmpty;

class PreviewClaimsTest : public testing::Test, public test::DynamicResourcesFixture {
 protected:
  // "claim=devices" or "claim: problem" for each claim.
  std::vector<std::string> Preview(const api::Pod& pod, NodeRow row) {
    const auto by_node = plugin_->PreviewClaims(*Info(pod));
    if (by_node == nullptr) return {"none"};
    std::vector<std::string> lines;
    for (const ClaimPreview& claim : by_node(NodeView(*snapshot_, row))) {
      EXPECT_TRUE(claim.has_devices);
      std::string line = claim.claim;
      for (const std::string& device : claim.devices) line += " | " + device;
      if (!claim.problem.empty()) line += " ! " + claim.problem;
      lines.push_back(std::move(line));
    }
    return lines;
  }
};

TEST_F(PreviewClaimsTest, APodWithoutClaimsOfDevicesHasNone) {
  EXPECT_THAT(Preview(MakePod(), 0), ElementsAre("none"));
  EXPECT_THAT(Preview(MakePod().Req({{"example.com/gpu", "1"}}), 0), ElementsAre("none"));
}

TEST_F(PreviewClaimsTest, EachClaimSaysWhichDevicesItHasOrWouldBeGiven) {
  handle.plain_listers.Set(MakeNodeSlice("n1", 3));
  handle.ShowClaim(MakeDeviceClaim("new").Request("two", "gpus", 2).Obj());
  handle.ShowClaim(
      MakeDeviceClaim("old").Request("gpu", "gpus").Allocated("n1", "gpu-0").OnNode("n1").Obj());
  const api::Pod pod = PodWith({"new", "old"});
  EXPECT_THAT(
      Preview(pod, 0),
      ElementsAre("default/new | two: gpu.example.com/n1/gpu-1 | two: gpu.example.com/n1/gpu-2",
                  "default/old | gpu: gpu.example.com/n1/gpu-0"));
  EXPECT_THAT(Preview(pod, 1),
              ElementsAre("default/new ! request two: the node has no devices",
                          "default/old | gpu: gpu.example.com/n1/gpu-0 ! resourceclaim not "
                          "available on the node"));
  EXPECT_EQ(handle.claim_table.pending(), 0u);
  // No draw was taken from the decisions.
  Random untouched = handle.random();
  EXPECT_EQ(untouched.Next(), Random(1).Next());
}

TEST_F(PreviewClaimsTest, ANodeSaysWhatItsDevicesLack) {
  api::ResourceSlice slice = MakeNodeSlice("n1", 5);
  for (size_t i = 0; i < 5; ++i) {
    api::DeviceAttribute model;
    model.string = i < 2 ? "a" : "b";
    slice.spec.devices[i].attributes.emplace_back("model", model);
  }
  slice.spec.devices[2].taints.emplace_back().key = "broken";
  slice.spec.devices[2].taints[0].effect = api::kDeviceTaintNoSchedule;
  handle.plain_listers.Set(slice);
  handle.ShowClaim(
      MakeDeviceClaim("old").Request("gpu", "gpus").Allocated("n1", "gpu-3").OnNode("n1").Obj());
  auto claim = MakeDeviceClaim("a").Request("any", "gpus").Request("gpu", "gpus", 2).Obj();
  claim.spec.devices.requests[1].exactly->selectors.emplace_back().cel.emplace().expression =
      "device.attributes['gpu.example.com'].model == 'b'";
  handle.ShowClaim(claim);
  EXPECT_THAT(Preview(PodWith({"a"}), 0),
              ElementsAre("default/a ! request gpu: 1 of 5 devices would do, 2 are asked for: 2 do "
                          "not match device.attributes['gpu.example.com'].model == 'b' (gpu-0 has "
                          "model \"a\"), 1 has taints that it does not tolerate, 1 is in use"));
}

TEST_F(PreviewClaimsTest, APoolThatCannotBeReadIsNamed) {
  api::ResourceSlice slice = MakeNodeSlice("n1", 2);
  slice.spec.devices[1].name = "gpu-0";
  handle.plain_listers.Set(slice);
  handle.ShowClaim(MakeDeviceClaim("a").Request("gpu", "gpus").Obj());
  EXPECT_THAT(Preview(PodWith({"a"}), 0),
              ElementsAre(testing::EndsWith(
                  "invalid resource pools were encountered: gpu.example.com/n1: duplicate device "
                  "name gpu-0")));
  // Then it is an error of the pod.
  api::ResourceClaim all = MakeDeviceClaim("b").Request("gpu", "gpus").Obj();
  all.spec.devices.requests[0].exactly->allocation_mode = api::kAllDevices;
  all.spec.devices.requests[0].exactly->count = 0;
  handle.ShowClaim(all);
  EXPECT_THAT(Preview(PodWith({"b"}), 0),
              ElementsAre(testing::EndsWith(
                  "asks for all devices, but resource pool gpu.example.com/n1 is currently "
                  "invalid: gpu.example.com/n1: duplicate device name gpu-0")));
}

// One by one there are enough of them.
TEST_F(PreviewClaimsTest, ARequestSaysWhatThoseBeforeItLeave) {
  handle.plain_listers.Set(MakeNodeSlice("n1", 3));
  handle.ShowClaim(
      MakeDeviceClaim("b").Request("first", "gpus", 2).Request("next", "gpus", 2).Obj());
  EXPECT_THAT(Preview(PodWith({"b"}), 0),
              ElementsAre("default/b ! request next: of 3 devices that would do 1 is left beside "
                          "the requests before it, 2 are asked for: 2 are given to request first"));
  handle.ShowClaim(MakeDeviceClaim("c").Request("gpu", "gpus", 2).Obj());
  handle.ShowClaim(MakeDeviceClaim("d").Request("gpu", "gpus", 3).Obj());
  EXPECT_THAT(Preview(PodWith({"c", "d"}), 0),
              ElementsAre("default/c",
                          "default/d ! request gpu: of 3 devices that would do 1 is left beside "
                          "the requests before it, 3 are asked for: 2 are given to request gpu of "
                          "default/c"));
}

TEST_F(PreviewClaimsTest, ARequestSaysWhatIsLeftOfACounter) {
  api::ResourceSlice counters = MakeNodeSlice("n1", 0);
  counters.metadata.name = "n1-counters";
  counters.spec.pool.resource_slice_count = 2;
  counters.spec.shared_counters.push_back({"card", {{"memory", {*api::Quantity::Parse("50Gi")}}}});
  handle.plain_listers.Set(counters);
  api::ResourceSlice slice = MakeNodeSlice("n1", 3);
  slice.spec.pool.resource_slice_count = 2;
  for (api::Device& device : slice.spec.devices) {
    device.consumes_counters.push_back({"card", {{"memory", {*api::Quantity::Parse("20Gi")}}}, {}});
  }
  handle.plain_listers.Set(slice);
  handle.ShowClaim(MakeDeviceClaim("a").Request("first", "gpus").Request("next", "gpus", 2).Obj());
  EXPECT_THAT(Preview(PodWith({"a"}), 0),
              ElementsAre("default/a ! request next: of 3 devices that would do 1 is left beside "
                          "the requests before it, 2 are asked for: 1 is given to request first, "
                          "1 takes more of a counter than is left (gpu-2 takes 20Gi of "
                          "card/memory, 10Gi left)"));
}

TEST_F(PreviewClaimsTest, ARequestSaysWhichDevicesDoNotGoWithThoseBefore) {
  api::ResourceSlice slice = MakeNodeSlice("n1", 3);
  for (size_t i = 0; i < 3; ++i) {
    api::DeviceAttribute numa;
    numa.int_ = static_cast<int64_t>(i / 2);
    slice.spec.devices[i].attributes.emplace_back("numa", numa);
  }
  handle.plain_listers.Set(slice);
  auto claim = MakeDeviceClaim("a").Request("first", "gpus").Request("next", "gpus").Obj();
  claim.spec.devices.requests[0].exactly->selectors.emplace_back().cel.emplace().expression =
      "device.attributes['gpu.example.com'].numa == 1";
  claim.spec.devices.constraints.emplace_back().match_attribute = "gpu.example.com/numa";
  handle.ShowClaim(claim);
  EXPECT_THAT(Preview(PodWith({"a"}), 0),
              ElementsAre("default/a ! request next: of 3 devices that would do 0 are left beside "
                          "the requests before it, 1 is asked for: 2 do not meet matchAttribute "
                          "gpu.example.com/numa beside gpu-2 (gpu-0 has 0), 1 is given to request "
                          "first"));
}

TEST_F(PreviewClaimsTest, ARequestSaysWhatOthersLeaveOfACapacity) {
  api::ResourceSlice slice = MakeNodeSlice("n1", 1);
  slice.spec.devices[0].allow_multiple_allocations = true;
  slice.spec.devices[0].capacity.emplace_back("memory", api::DeviceCapacity());
  slice.spec.devices[0].capacity[0].second.value = *api::Quantity::Parse("4Gi");
  handle.plain_listers.Set(slice);
  auto claim = MakeDeviceClaim("a").Request("first", "gpus").Request("next", "gpus").Obj();
  for (auto& request : claim.spec.devices.requests) {
    request.exactly->capacity.emplace().requests = {{"memory", *api::Quantity::Parse("3Gi")}};
  }
  handle.ShowClaim(claim);
  EXPECT_THAT(Preview(PodWith({"a"}), 0),
              ElementsAre("default/a ! request next: of 1 device that would do 0 are left beside "
                          "the requests before it, 1 is asked for: 1 has too little capacity left "
                          "(gpu-0 has 1Gi of memory left, 3Gi are asked for)"));
}

TEST_F(PreviewClaimsTest, AConstraintSaysWhichValuesThereAre) {
  api::ResourceSlice slice = MakeNodeSlice("n1", 3);
  for (size_t i = 0; i < 3; ++i) {
    api::DeviceAttribute numa;
    numa.int_ = static_cast<int64_t>(i / 2);
    slice.spec.devices[i].attributes.emplace_back("numa", numa);
  }
  handle.plain_listers.Set(slice);
  auto claim = MakeDeviceClaim("a").Request("gpu", "gpus", 2).Request("more", "gpus").Obj();
  claim.spec.devices.constraints.emplace_back().match_attribute = "gpu.example.com/numa";
  handle.ShowClaim(claim);
  EXPECT_THAT(Preview(PodWith({"a"}), 0),
              ElementsAre("default/a ! matchAttribute gpu.example.com/numa: 3 devices with one "
                          "value are asked for, there are 2 (gpu-0 has 0, gpu-2 has 1)"));
  claim.spec.devices.constraints[0] = {};
  claim.spec.devices.constraints[0].distinct_attribute = "gpu.example.com/numa";
  handle.ShowClaim(claim);
  EXPECT_THAT(
      Preview(PodWith({"a"}), 0),
      ElementsAre("default/a ! distinctAttribute gpu.example.com/numa: 3 devices with "
                  "different values are asked for, there are 2 (gpu-0 has 0, gpu-2 has 1)"));
}

TEST_F(PreviewClaimsTest, ADeviceSaysWhatIsLeftOfItsCapacity) {
  api::ResourceSlice slice = MakeNodeSlice("n1", 1);
  slice.spec.devices[0].allow_multiple_allocations = true;
  slice.spec.devices[0].capacity.emplace_back("memory", api::DeviceCapacity());
  slice.spec.devices[0].capacity[0].second.value = *api::Quantity::Parse("4Gi");
  handle.plain_listers.Set(slice);
  auto old = MakeDeviceClaim("old").Request("gpu", "gpus").Allocated("n1", "gpu-0").Obj();
  old.status.allocation->devices.results[0].share_id = "share";
  old.status.allocation->devices.results[0].consumed_capacity = {
      {"memory", *api::Quantity::Parse("3Gi")}};
  handle.ShowClaim(old);
  auto claim = MakeDeviceClaim("a").Request("gpu", "gpus").Obj();
  claim.spec.devices.requests[0].exactly->capacity.emplace().requests = {
      {"memory", *api::Quantity::Parse("2Gi")}};
  handle.ShowClaim(claim);
  EXPECT_THAT(Preview(PodWith({"a"}), 0),
              ElementsAre("default/a ! request gpu: 0 of 1 device would do, 1 is asked for: 1 has "
                          "too little capacity (gpu-0 has memory 4Gi, 1Gi of it left, 2Gi are "
                          "asked for)"));
}

TEST_F(PreviewClaimsTest, AShareSaysWhatItTakes) {
  api::ResourceSlice slice = MakeNodeSlice("n1", 1);
  slice.spec.devices[0].allow_multiple_allocations = true;
  slice.spec.devices[0].capacity.emplace_back("memory", api::DeviceCapacity());
  slice.spec.devices[0].capacity[0].second.value = *api::Quantity::Parse("4Gi");
  handle.plain_listers.Set(slice);
  auto claim = MakeDeviceClaim("a").Request("gpu", "gpus").Obj();
  claim.spec.devices.requests[0].exactly->capacity.emplace().requests = {
      {"memory", *api::Quantity::Parse("1024Mi")}};
  handle.ShowClaim(claim);
  EXPECT_THAT(Preview(PodWith({"a"}), 0),
              ElementsAre("default/a | gpu: gpu.example.com/n1/gpu-0 share memory=1Gi"));
}

TEST_F(PreviewClaimsTest, ExtendedResourcesAreAClaimWhereDevicesGiveThem) {
  handle.plain_listers.Set(MakeNodeSlice("n1", 1));
  MapExtendedResource();
  SetNodes({MakeNode("n1"), MakeNode("n2").Allocatable({{"example.com/gpu", "1"}})});
  const api::Pod pod = PodWithExtended("1");
  EXPECT_THAT(
      Preview(pod, 0),
      ElementsAre("<extended resources> | container-0-request-0: gpu.example.com/n1/gpu-0"));
  EXPECT_THAT(Preview(pod, 1), IsEmpty());
}

}  // namespace
}  // namespace berth::plugins
