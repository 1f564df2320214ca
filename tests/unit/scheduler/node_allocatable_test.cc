// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <memory>

#include "tests/support/device_builders.h"
#include "tests/unit/scheduler/scheduler_fixture.h"

// Devices that stand for a part of what their node has.
namespace berth::scheduler {
namespace {

using informers::EventType;
using informers::Kind;
using testing::AllOf;
using testing::Contains;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

constexpr std::string_view kStatuses = "nodeAllocatableResourceClaimStatuses";

class NodeAllocatableSchedulerTest : public test::SchedulerFixture {
 protected:
  // A node of 4 cpus with a device that stands for 2 of them, and a claim for it.
  void Begin(bool gate) {
    options_.features.dra_node_allocatable_resources = gate;
    Restart();
    Synced();
    AddNode(test::MakeNode("n1").Allocatable({{"cpu", "4"}, {"memory", "8Gi"}, {"pods", "110"}}));
    Add(Kind::kDeviceClass, test::MakeDeviceClass("gpus"));
    api::ResourceSlice slice = test::MakeNodeSlice("n1", 1);
    api::NodeAllocatableResource cpu;
    cpu.mapping.emplace().device_multiplier = api::Quantity::FromUnits(2);
    slice.spec.devices[0].node_allocatable_resources = {{"cpu", cpu}};
    Add(Kind::kResourceSlice, slice);
    Add(Kind::kResourceClaim, test::MakeDeviceClaim("a").Request("gpu", "gpus").Obj());
  }
  template <typename T>
  void Add(Kind kind, T object) {
    PostEvent(EventType::kAdded, kind, {}, std::make_shared<const T>(std::move(object)));
  }
  static api::Pod Pinned() {
    api::Pod pod = test::MakePod().Name("pinned").Uid("pinned-uid").Req({{"cpu", "1"}});
    pod.spec.resource_claims.emplace_back().name = "a";
    pod.spec.resource_claims[0].resource_claim_name = "a";
    return pod;
  }
  int64_t Requested() { return scheduler().cache().requested(kCpu)[0]; }
};

TEST_F(NodeAllocatableSchedulerTest, APodCountsWithWhatItsClaimsTakeFromTheMomentItIsAssumed) {
  Begin(true);
  AddPod(std::make_shared<const api::Pod>(Pinned()));
  Turn();
  EXPECT_THAT(Bindings(), ElementsAre("default/pinned -> n1"));
  EXPECT_EQ(Requested(), 3000);
  EXPECT_THAT(StatusPatches("pinned"),
              Contains(AllOf(HasSubstr(kStatuses), HasSubstr("\"quantity\":\"2\""))));
  AddPod(test::MakePod().Name("other").Uid("other-uid").Req({{"cpu", "2"}}));
  Turn();
  EXPECT_THAT(StatusPatches("other"), Contains(HasSubstr("Insufficient cpu")));
}

TEST_F(NodeAllocatableSchedulerTest, WhatIsNotBoundIsTakenBack) {
  Begin(true);
  RefuseBind("default/pinned", 422, "no");
  AddPod(std::make_shared<const api::Pod>(Pinned()));
  Turn();
  EXPECT_EQ(Requested(), 0);
  EXPECT_THAT(StatusPatches("pinned"),
              Contains(HasSubstr("\"nodeAllocatableResourceClaimStatuses\":[]")));
}

TEST_F(NodeAllocatableSchedulerTest, AStatusOfAnEarlierAttemptDoesNotCount) {
  Begin(true);
  api::Pod pod = test::MakePod().Name("plain").Uid("plain-uid").Req({{"cpu", "1"}});
  pod.status.node_allocatable_resource_claim_statuses = {
      {.resource_claim_name = "old",
       .containers = {},
       .mapping = {{"cpu", api::Quantity::FromUnits(9)}},
       .overhead = {}}};
  AddPod(std::make_shared<const api::Pod>(std::move(pod)));
  Turn();
  EXPECT_THAT(Bindings(), ElementsAre("default/plain -> n1"));
  EXPECT_EQ(Requested(), 1000);
}

TEST_F(NodeAllocatableSchedulerTest, WithoutTheGateNothingCountsAndNothingIsWritten) {
  Begin(false);
  AddPod(std::make_shared<const api::Pod>(Pinned()));
  Turn();
  EXPECT_THAT(Bindings(), ElementsAre("default/pinned -> n1"));
  EXPECT_EQ(Requested(), 1000);
  EXPECT_THAT(StatusPatches("pinned"), Each(Not(HasSubstr(kStatuses))));
  api::Pod placed = test::MakePod().Name("placed").Uid("placed-uid").OnNode("n1");
  placed.status.node_allocatable_resource_claim_statuses = {
      {.resource_claim_name = "old",
       .containers = {},
       .mapping = {{"cpu", api::Quantity::FromUnits(1)}},
       .overhead = {}}};
  AddPod(std::make_shared<const api::Pod>(std::move(placed)));
  Turn();
  EXPECT_EQ(Requested(), 1000);
}

}  // namespace
}  // namespace berth::scheduler
