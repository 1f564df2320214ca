// SPDX-License-Identifier: Apache-2.0
// What resource scores count of devices that stand for an extended resource.
#include "plugins/dynamic_resources/device_counts.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "plugins/node_resources_balanced_allocation/node_resources_balanced_allocation.h"
#include "plugins/node_resources_fit/node_resources_fit.h"
#include "tests/support/device_builders.h"
#include "tests/unit/plugins/plugin_fixture.h"

namespace berth::plugins {
namespace {

using namespace berth::test;

constexpr std::string_view kGpu = "example.com/gpu";

class DeviceCountsTest : public testing::Test, public PluginFixture {
 protected:
  DeviceCountsTest() { handle.plain_listers.Set(MakeDeviceClass("gpus", kGpu)); }

  // The class has devices for which this holds.
  void Select(const std::string& expression) {
    api::DeviceClass made = MakeDeviceClass("gpus", kGpu);
    made.spec.selectors.emplace_back().cel = api::CELDeviceSelector{expression};
    handle.plain_listers.Set(std::move(made));
  }
  // A claim holds the device of node "n" from now on.
  void Hold(const std::string& device, const std::string& name = "c") {
    handle.ShowClaim(MakeDeviceClaim(name).Request("r", "gpus").Obj());
    ASSERT_TRUE(handle.claims().AddPending(
        MakeDeviceClaim(name).Request("r", "gpus").Allocated("n", device).Ptr(),
        ClaimTracker::Existence::kExists));
  }
  // "held/all" on the node, "" where no class stands for the resource.
  std::string Counts(std::string_view resource = kGpu, const api::Node& node = MakeNode("n")) {
    const DeviceAmounts* devices = counts_.Find(resource);
    if (devices == nullptr) return "";
    const NodeAllocation amounts = devices->On(node);
    return std::to_string(amounts.allocated) + "/" + std::to_string(amounts.allocatable);
  }

  DeviceCounts counts_{handle};
};

TEST_F(DeviceCountsTest, ItsMemoryGrowsWithTheDevicesAndGoesWithThem) {
  EXPECT_EQ(Counts(), "0/0");
  const size_t none = counts_.kept_bytes();
  handle.plain_listers.Set(MakeNodeSlice("n", 100));
  EXPECT_EQ(Counts(), "0/100");
  const size_t some = counts_.kept_bytes();
  EXPECT_GT(some, none + 100 * sizeof(std::string));
  handle.plain_listers.Set(MakeNodeSlice("other", 1000));
  EXPECT_EQ(Counts(), "0/100");
  EXPECT_GT(counts_.kept_bytes(), 5 * some);
  handle.plain_listers.Set(MakeNodeSlice("other", 1));
  handle.plain_listers.Set(MakeNodeSlice("n", 1));
  EXPECT_EQ(Counts(), "0/1");
  EXPECT_LT(counts_.kept_bytes(), some);
}

TEST_F(DeviceCountsTest, CountsDevicesOfTheNodeAndThoseThatClaimsHold) {
  EXPECT_EQ(Counts(), "0/0");
  handle.plain_listers.Set(MakeNodeSlice("n", 4));
  handle.plain_listers.Set(MakeNodeSlice("other", 2));
  EXPECT_EQ(Counts(), "0/4");
  EXPECT_EQ(Counts(kGpu, MakeNode("other")), "0/2");
  EXPECT_EQ(Counts("deviceclass.resource.kubernetes.io/gpus"), "0/4");
  EXPECT_EQ(Counts("example.com/else"), "");
  EXPECT_EQ(Counts("cpu"), "");
  Hold("gpu-1");
  EXPECT_EQ(Counts(), "1/4");
  handle.claims().RemovePending("default/c", ClaimTracker::Sharers::kOne);
  EXPECT_EQ(Counts(), "0/4");
}

TEST_F(DeviceCountsTest, ADeviceThatTwoClaimsHoldCountsOnce) {
  handle.plain_listers.Set(MakeNodeSlice("n", 2));
  Hold("gpu-0", "a");
  Hold("gpu-0", "b");
  EXPECT_EQ(Counts(), "1/2");
  handle.claims().RemovePending("default/a", ClaimTracker::Sharers::kOne);
  EXPECT_EQ(Counts(), "1/2");
}

TEST_F(DeviceCountsTest, ASliceThatChangesIsCountedAgain) {
  handle.plain_listers.Set(MakeNodeSlice("n", 4));
  Hold("gpu-3");
  EXPECT_EQ(Counts(), "1/4");
  handle.plain_listers.Set(MakeNodeSlice("n", 3));
  EXPECT_EQ(Counts(), "0/3");
}

TEST_F(DeviceCountsTest, TheExpressionsOfTheClassSelect) {
  api::ResourceSlice slice = MakeNodeSlice("n", 3);
  api::DeviceAttribute model;
  model.string = "a";
  slice.spec.devices[1].attributes.emplace_back("model", model);
  slice.spec.devices[2].attributes.emplace_back("model", model);
  // A score does not know that several claims may have a device.
  slice.spec.devices[2].allow_multiple_allocations = true;
  handle.plain_listers.Set(std::move(slice));
  Select("device.driver == 'gpu.example.com' && 'model' in device.attributes['gpu.example.com']");
  EXPECT_EQ(Counts(), "0/2");
  Select("device.allowMultipleAllocations");
  EXPECT_EQ(Counts(), "0/0");
  Select("device.attributes['gpu.example.com'].model == 'a'");  // fails on the first
  EXPECT_EQ(Counts(), "0/0");
  Select("device.driver == 'gpu.example.com'");
  EXPECT_EQ(Counts(), "0/3");
}

TEST_F(DeviceCountsTest, SharedSlicesAndDevicesChooseTheirNodes) {
  api::ResourceSlice slice = MakeNodeSlice("net", 3);
  slice.spec.node_name.reset();
  slice.spec.all_nodes = true;
  handle.plain_listers.Set(slice);
  EXPECT_EQ(Counts(), "0/3");
  slice.spec.all_nodes.reset();
  slice.spec.per_device_node_selection = true;
  slice.spec.devices[0].node_name = "n";
  slice.spec.devices[1].node_name = "other";
  slice.spec.devices[2].all_nodes = true;
  handle.plain_listers.Set(slice);
  EXPECT_EQ(Counts(), "0/2");
  EXPECT_EQ(Counts(kGpu, MakeNode("third")), "0/1");
}

// A pod of one gpu, on a node with four of which one is held: half of them is used then.
TEST_F(DeviceCountsTest, ScoresCountDevicesWhereTheNodeHasNoneOfTheResource) {
  handle.plain_listers.Set(MakeNodeSlice("n", 4));
  Hold("gpu-1");
  NodeResourcesFitArgs args;
  args.scoring_strategy.type = ScoringStrategyType::kMostAllocated;
  args.scoring_strategy.resources = {{std::string(kGpu), 1}};
  NodeResourcesFit fit(args, handle);
  NodeResourcesBalancedAllocation balance({{{"cpu", 1}, {std::string(kGpu), 1}}}, handle);
  const api::Pod pod = MakePod().Req({{"cpu", "1"}, {kGpu, "1"}});
  const size_t of_fit = fit.kept_bytes();
  const size_t of_balance = balance.kept_bytes();
  EXPECT_EQ(Score(fit, pod, MakeNode("n").Allocatable({{"cpu", "10"}})), 50);
  EXPECT_FALSE(fit.NormalizesByValue(state));
  // Fractions 0 and 0.25 become 0.1 and 0.5: the deviation grows from 0.125 to 0.2.
  EXPECT_EQ(Score(balance, pod, MakeNode("n").Allocatable({{"cpu", "10"}})),
            50 + (50 + 80 - 87) / 2);
  EXPECT_FALSE(balance.NormalizesByValue(state));
  EXPECT_GT(fit.kept_bytes(), of_fit);
  EXPECT_GT(balance.kept_bytes(), of_balance);
  // The node's own count first.
  EXPECT_EQ(Score(fit, pod, MakeNode("n").Allocatable({{"cpu", "10"}, {kGpu, "10"}})), 10);
  EXPECT_EQ(Score(fit, MakePod().Req({{"cpu", "1"}}), MakeNode("n")), 0);
  EXPECT_TRUE(fit.NormalizesByValue(state));
}

}  // namespace
}  // namespace berth::plugins
