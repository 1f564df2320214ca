// SPDX-License-Identifier: Apache-2.0
#include "plugins/dynamic_resources/node_allocatable.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "berth/resources.h"
#include "tests/unit/plugins/dynamic_resources/dynamic_resources_fixture.h"

// Devices that take of what their node has.
namespace berth::plugins {
namespace {

using api::Quantity;
using test::MakeDeviceClaim;
using test::MakeNode;
using test::MakeNodeSlice;
using test::MakePod;
using testing::ElementsAre;
using testing::IsEmpty;
using Statuses = std::vector<api::NodeAllocatableResourceClaimStatus>;

Quantity Amount(std::string_view text) { return *Quantity::Parse(text); }

class NodeAllocatableTest : public testing::Test, public test::DynamicResourcesFixture {
 protected:
  NodeAllocatableTest() {
    handle.gates.dra_node_allocatable_resources = true;
    SetNodes({Node("n1", "4"), Node("n2", "2")});
  }

  static api::Node Node(const std::string& name, const std::string& cpu) {
    return MakeNode(name).Allocatable({{"cpu", cpu}, {"memory", "8Gi"}, {"pods", "110"}});
  }
  // A device of the node that stands for so many cpus, and costs memory.
  void Publish(const std::string& node, const std::string& cpus) {
    api::ResourceSlice slice = MakeNodeSlice(node, 1);
    api::NodeAllocatableResource cpu;
    cpu.mapping.emplace().device_multiplier = Amount(cpus);
    api::NodeAllocatableResource memory;
    memory.overhead.emplace().per_pod = Amount("1Gi");
    memory.overhead->per_container = Amount("100Mi");
    slice.spec.devices[0].node_allocatable_resources = {{"cpu", cpu}, {"memory", memory}};
    handle.plain_listers.Set(slice);
  }
  // Names claim "a" in its container, besides asking for so many cpus.
  static api::Pod Pod(const std::string& cpus, const std::string& name = "p") {
    api::Pod pod = PodWith({"a"}, name);
    pod.spec.containers = MakePod().Req({{"cpu", cpus}}).Obj().spec.containers;
    pod.spec.containers[0].resources.claims.push_back({"a", ""});
    return pod;
  }
  static std::string Text(const Status& status) {
    std::string text;
    for (const std::string& reason : status.reasons()) {
      text += (text.empty() ? "" : "; ") + reason;
    }
    if (status.code() == Code::kUnschedulableAndUnresolvable) text += " (never)";
    return text;
  }
  // What Filter says about each node, once both forms agree.
  std::vector<std::string> Verdicts(const api::Pod& pod) {
    state = CycleState();
    info_ = Info(pod);
    EXPECT_TRUE(plugin_->PreFilter(state, *info_, *snapshot_).status.ok());
    NodeSet nodes = snapshot_->nodes();
    const bool columns = plugin_->FilterNodes(state, *info_, *snapshot_, nodes).ok();
    std::vector<std::string> verdicts;
    for (NodeRow row = 0; row < 2; ++row) {
      const Status status = plugin_->Filter(state, *info_, NodeView(*snapshot_, row));
      if (columns) {
        EXPECT_EQ(status.ok(), nodes.Test(row));
      }
      verdicts.push_back(Text(status));
    }
    return verdicts;
  }
  void Place(const std::vector<api::Pod>& pods) {
    snapshot_.emplace(Cluster({Node("n1", "4"), Node("n2", "2")}, pods));
    handle.current_snapshot = &*snapshot_;
  }
  static Statuses Expected() {
    return {{.resource_claim_name = "a",
             .containers = {"container-0"},
             .mapping = {{"cpu", Amount("2")}},
             .overhead = {{"memory", Amount("1Gi"), Amount("100Mi")}}}};
  }

  PodInfoPtr info_;
};

TEST_F(NodeAllocatableTest, TheNodeMustHaveWhatThePodAndItsDevicesAskFor) {
  Publish("n1", "2");
  Publish("n2", "2");
  handle.ShowClaim(MakeDeviceClaim("a").Request("gpu", "gpus").Obj());
  EXPECT_THAT(Verdicts(Pod("1")), ElementsAre("", "Insufficient cpu (never)"));
  Place({MakePod().Name("q").Uid("q").OnNode("n1").Req({{"cpu", "2"}, {"memory", "7Gi"}})});
  EXPECT_THAT(Verdicts(Pod("1")),
              ElementsAre("Insufficient cpu; Insufficient memory", "Insufficient cpu (never)"));
  handle.gates.dra_node_allocatable_resources = false;
  EXPECT_THAT(Verdicts(Pod("1")), ElementsAre("", ""));
}

TEST_F(NodeAllocatableTest, ReserveSaysWhatTheClaimsTakeWhileThePodStandsOnItsNode) {
  Publish("n1", "2");
  handle.ShowClaim(MakeDeviceClaim("a").Request("gpu", "gpus").Obj());
  EXPECT_THAT(Verdicts(Pod("2")), ElementsAre("", "cannot allocate all claims (never)"));
  api::Pod placed = Pod("2");
  placed.spec.node_name = "n1";
  Place({placed});
  ASSERT_TRUE(plugin_->Reserve(state, *info_, "n1").ok());
  EXPECT_EQ(state.Read<NodeAllocatableClaims>().statuses, Expected());
}

// The pod's status says it before the devices' conditions are waited for.
TEST_F(NodeAllocatableTest, PreBindWritesWhatTheClaimsTakeOfTheNode) {
  handle.ShowClaim(MakeDeviceClaim("a").Request("gpu", "gpus").Obj());
  for (const bool written : {false, true}) {
    SCOPED_TRACE(written);
    Publish("n1", "2");
    Verdicts(Pod("2"));
    ASSERT_TRUE(plugin_->Reserve(state, *info_, "n1").ok());
    test::FakeCancellation cancellation;
    std::optional<AsyncStatus> done;
    plugin_->PreBind(state, *info_, "n1", cancellation,
                     [&](AsyncStatus status) { done = std::move(status); });
    for (const std::string_view what : {"AddFinalizer", "WriteStatus"}) {
      EXPECT_FALSE(state.Read<NodeAllocatableClaims>().sent);
      auto request = handle.claims_written.Take();
      EXPECT_EQ(request.what, what);
      request.done({.claim = std::make_shared<const api::ResourceClaim>(request.claim)});
    }
    EXPECT_TRUE(state.Read<NodeAllocatableClaims>().sent);
    EXPECT_FALSE(done);
    ASSERT_EQ(handle.claims_written.pod_writes.size(), 1u);
    EXPECT_EQ(handle.claims_written.pod_writes[0].of_node, Expected());
    handle.claims_written.pod_writes[0].done(written ? AsyncStatus()
                                                     : AsyncStatus{Code::kError, "no"});
    handle.claims_written.pod_writes.clear();
    ASSERT_TRUE(done);
    EXPECT_EQ(done->message,
              written ? "" : "updating pod default/p NodeAllocatableResourceClaimStatuses: no");
    plugin_->Unreserve(state, *info_, "n1");
    handle.claims_written.Take().done({});  // the reservation has been taken out
  }
}

TEST_F(NodeAllocatableTest, AClaimWithADeviceThatStandsForAPartOfItsNodeIsOfOnePod) {
  Publish("n1", "2");
  handle.ShowClaim(MakeDeviceClaim("a")
                       .Request("gpu", "gpus")
                       .Allocated("n1", "gpu-0")
                       .OnNode("n1")
                       .ReservedFor("q", "q-uid")
                       .Obj());
  constexpr std::string_view kShared =
      "node allocatable resource claim a has a mapped device and cannot be shared across pods "
      "(never)";
  EXPECT_THAT(Verdicts(Pod("1")),
              ElementsAre(kShared, "resourceclaim not available on the node (never)"));
  EXPECT_THAT(Verdicts(Pod("1", "q")),
              ElementsAre("", "resourceclaim not available on the node (never)"));
  // One that only costs something may be shared.
  api::ResourceSlice slice = MakeNodeSlice("n1", 1);
  api::NodeAllocatableResource memory;
  memory.overhead.emplace().per_pod = Amount("1Gi");
  slice.spec.devices[0].node_allocatable_resources = {{"memory", memory}};
  handle.plain_listers.Set(slice);
  EXPECT_THAT(Verdicts(Pod("1")),
              ElementsAre("", "resourceclaim not available on the node (never)"));
}

TEST_F(NodeAllocatableTest, PodLevelResourcesMustCoverTheDevices) {
  Publish("n1", "2");
  handle.ShowClaim(MakeDeviceClaim("a").Request("gpu", "gpus").Obj());
  api::Pod pod = Pod("1");
  pod.spec.resources.emplace().requests = {{"cpu", Amount("2500m")}};
  EXPECT_EQ(Verdicts(pod)[0],
            "pod level request for cpu is insufficient to cover the aggregated container and "
            "node-allocatable DRA requests (never)");
  pod.spec.resources->requests = {{"cpu", Amount("3")}};
  EXPECT_EQ(Verdicts(pod)[0], "");
  pod.spec.resources->limits = {{"cpu", Amount("3")}};
  pod.spec.containers[0].resources.limits = {{"cpu", Amount("1500m")}};
  EXPECT_EQ(Verdicts(pod)[0],
            "pod level limit for cpu is insufficient to cover the limit and DRA overhead for "
            "container container-0 (never)");
}

TEST_F(NodeAllocatableTest, HugePagesAndCapacitiesCount) {
  api::ResourceSlice slice = MakeNodeSlice("n1", 1);
  api::Device& device = slice.spec.devices[0];
  device.allow_multiple_allocations = true;
  device.capacity = {{"pages", {Amount("1000"), {}}}};
  api::CapacityRequestPolicy policy;
  policy.default_ = Amount("3");
  policy.valid_range.emplace().min = Amount("1");
  device.capacity[0].second.request_policy = policy;
  api::NodeAllocatableResource pages;
  pages.mapping.emplace().capacity_key = "pages";
  pages.mapping->capacity_multiplier = Amount("2Mi");
  device.node_allocatable_resources = {{"hugepages-2Mi", pages}};
  handle.plain_listers.Set(slice);
  handle.ShowClaim(MakeDeviceClaim("a").Request("gpu", "gpus").Obj());
  EXPECT_EQ(Verdicts(Pod("1"))[0], "Insufficient hugepages-2Mi (never)");
  const auto nodes = [](const std::string& huge) {
    return std::vector<api::Node>{
        MakeNode("n1").Allocatable({{"cpu", "4"}, {"hugepages-2Mi", huge}, {"pods", "110"}}),
        Node("n2", "2")};
  };
  SetNodes(nodes("6Mi"));
  EXPECT_EQ(Verdicts(Pod("1"))[0], "");
  snapshot_.emplace(Cluster(nodes("8Mi"), {MakePod().Name("q").Uid("q").OnNode("n1").Req(
                                              {{"cpu", "1"}, {"hugepages-2Mi", "4Mi"}})}));
  handle.current_snapshot = &*snapshot_;
  EXPECT_EQ(Verdicts(Pod("1"))[0], "Insufficient hugepages-2Mi");
}

TEST_F(NodeAllocatableTest, AnotherDeviceOfSuchAClaimMustBeKnownOnTheNode) {
  Publish("n1", "2");
  handle.ShowClaim(MakeDeviceClaim("a")
                       .Request("gpu", "gpus")
                       .Allocated("n1", "gpu-0")
                       .Allocated("n1", "gone")
                       .Obj());
  state = CycleState();
  info_ = Info(Pod("1"));
  ASSERT_TRUE(plugin_->PreFilter(state, *info_, *snapshot_).status.ok());
  const Status status = plugin_->Filter(state, *info_, NodeView(*snapshot_, 0));
  EXPECT_EQ(status.code(), Code::kError);
  EXPECT_EQ(status.message(),
            "claim default/a, device gone, driver gpu.example.com: device gone not found in pool "
            "n1 for driver gpu.example.com");
}

TEST_F(NodeAllocatableTest, PodsThatGoWakeThoseThatWaitForRoomOnlyBehindTheGate) {
  const api::ObjectPtr gone = test::Object(MakePod().OnNode("n1").Obj());
  EXPECT_EQ(test::Hint(*plugin_, test::kAssignedPodDelete, Pod("1"), gone, {}), "queue");
  handle.gates.dra_node_allocatable_resources = false;
  EXPECT_EQ(test::Hint(*plugin_, test::kAssignedPodDelete, Pod("1"), gone, {}), "");
}

TEST(NodeAllocatablePodTest, WhatClaimsTakeCountsOnceAPodIsPlaced) {
  test::FakeHandle handle;
  api::Pod pod = MakePod().Req({{"cpu", "1"}, {"memory", "1Gi"}});
  pod.status.node_allocatable_resource_claim_statuses = {
      {.resource_claim_name = "a",
       .containers = {"main", "side"},
       .mapping = {{"cpu", Amount("2")}},
       .overhead = {{"memory", Amount("1Gi"), Amount("100Mi")}}}};
  const PodInfoPtr info = PodInfo::Make(std::make_shared<const api::Pod>(pod), handle.names);
  EXPECT_EQ(info->requests.milli_cpu, 1000);
  EXPECT_EQ(info->placed.milli_cpu, 3000);
  EXPECT_EQ(info->placed.memory, Amount("2Gi").Value() + Amount("200Mi").Value());
  EXPECT_EQ(info->non_zero_milli_cpu, 3000);
}

}  // namespace
}  // namespace berth::plugins
