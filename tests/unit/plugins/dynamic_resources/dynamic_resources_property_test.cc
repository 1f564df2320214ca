// SPDX-License-Identifier: Apache-2.0
// What DynamicResources keeps from pod to pod changes no verdict and no score.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "plugins/dynamic_resources/dynamic_resources.h"
#include "tests/support/device_builders.h"
#include "tests/unit/plugins/plugin_fixture.h"

namespace berth::plugins {
namespace {

using test::DeviceClaimBuilder;
using test::MakeDeviceClaim;
using test::MakeDeviceClass;
using test::MakeNode;
using test::MakePod;

constexpr uint32_t kNodes = 7;

std::string NodeName(uint32_t i) { return "n" + std::to_string(i); }

class Cluster : public test::PluginFixture {
 public:
  explicit Cluster(uint32_t seed) : random_(seed) {
    handle.plain_listers.Set(MakeDeviceClass("gpus", "example.com/gpu"));
    for (uint32_t i = 0; i < kNodes; ++i) {
      nodes_.push_back(MakeNode(NodeName(i)).Label("rack", i % 2 == 0 ? "even" : "odd"));
      if (i % 3 == 0) {
        nodes_.back().status.declared_features = {"DRAOptionalNodeOperations"};
      }
      PublishDevices(i);
    }
    MakeSnapshot();
    // The class of an error is met on some nodes only.
    api::DeviceClass odd = MakeDeviceClass("odd");
    odd.spec.selectors.emplace_back().cel.emplace().expression =
        "device.attributes['gpu.example.com'].size > 0";
    handle.plain_listers.Set(odd);
  }

  // Something of the cluster changes, or nothing.
  void Change() {
    switch (Draw(6)) {
      case 0:
        PublishDevices(Draw(kNodes));
        break;
      case 1:
        handle.plain_listers.Remove<api::ResourceSlice>("", NodeName(Draw(kNodes)) + "-gpus");
        break;
      case 2: {
        api::DeviceTaintRule rule;
        rule.metadata.name = "r";
        rule.spec.device_selector.emplace().pool = NodeName(Draw(kNodes));
        rule.spec.taint.key = "broken";
        rule.spec.taint.effect = api::kDeviceTaintNoSchedule;
        handle.plain_listers.Set(rule);
        break;
      }
      case 3:
        OfferResources(nodes_[Draw(kNodes)]);
        MakeSnapshot();
        break;
      case 4:
        Release();
        break;
      default:
        break;
    }
  }

  // A pod comes: both forms of Filter and Score agree, and it may take what one node has.
  void Schedule(int number) {
    const std::string name = "pod-" + std::to_string(number);
    const api::Pod pod = MakePodWithClaims(name);
    CycleState cycle;
    const PodInfoPtr info = Info(pod);
    const Status found = plugin_.PreFilter(cycle, *info, *snapshot_).status;
    ASSERT_TRUE(found.ok() || found.rejected()) << found.message();
    if (!found.ok()) return;

    NodeSet kept = snapshot_->nodes();
    if (Draw(3) == 0) kept.Clear(Draw(kNodes));
    NodeSet plain = kept;
    const Status failure = plugin_.FilterNodes(cycle, *info, *snapshot_, kept);
    // Which claims could not be used somewhere.
    std::vector<bool>& unavailable = cycle.Read<PodDevicesState>().devices->unavailable;
    const std::vector<bool> noted = std::exchange(unavailable, {});
    const Status plain_failure = FilterEach(plain, [&](NodeRow row) {
      return plugin_.Filter(cycle, *info, NodeView(*snapshot_, row));
    });
    ASSERT_EQ(failure.message(), plain_failure.message());
    if (!failure.ok()) {
      ++failures;
      return;
    }
    ASSERT_EQ(kept, plain);
    ASSERT_EQ(noted, unavailable);
    out_of_reach += noted.empty() ? 0 : 1;
    CheckScores(cycle, *info, kept);
    ++(kept.Empty() ? refused : taken);
    if (kept.Empty()) return;
    std::vector<NodeRow> rows;
    kept.ForEach([&](NodeRow row) { rows.push_back(row); });
    const NodeRow row = rows[Draw(static_cast<uint32_t>(rows.size()))];
    ASSERT_TRUE(plugin_.Reserve(cycle, *info, snapshot_->node(row).metadata.name).ok());
    if (Draw(4) == 0) {
      plugin_.Unreserve(cycle, *info, snapshot_->node(row).metadata.name);
      return;
    }
    reserved_.push_back({std::move(cycle), info, snapshot_->node(row).metadata.name});
  }

  int failures = 0;
  int refused = 0;
  int taken = 0;
  int out_of_reach = 0;

 private:
  struct Reserved {
    CycleState state;
    PodInfoPtr pod;
    std::string node;
  };

  uint32_t Draw(uint32_t below) { return static_cast<uint32_t>(random_() % below); }

  // Resources of device plugins: of the one that a class stands for, and of another.
  void OfferResources(api::Node& node) {
    auto& allocatable = node.status.allocatable;
    std::erase_if(allocatable,
                  [](const auto& entry) { return entry.first.find('/') != std::string::npos; });
    for (const char* name : {"example.com/gpu", "example.com/nic"}) {
      if (Draw(2) == 0) allocatable.emplace_back(name, api::Quantity::FromUnits(Draw(3)));
    }
    std::ranges::sort(allocatable, {}, &api::ResourceList::value_type::first);
  }
  void MakeSnapshot() {
    snapshot_.emplace(handle.names, nodes_, std::vector<api::Pod>());
    handle.current_snapshot = &*snapshot_;
  }
  void PublishDevices(uint32_t node) {
    api::ResourceSlice slice = test::MakeNodeSlice(NodeName(node), static_cast<int>(Draw(4)));
    slice.metadata.resource_version = std::to_string(++version_);
    for (api::Device& device : slice.spec.devices) {
      if (Draw(8) == 0) continue;
      api::DeviceAttribute size;
      size.int_ = 1 + Draw(2);
      device.attributes.emplace_back("size", size);
    }
    handle.plain_listers.Set(slice);
  }
  // The pod that came first gives its devices back.
  void Release() {
    if (reserved_.empty()) return;
    Reserved& first = reserved_.front();
    plugin_.Unreserve(first.state, *first.pod, first.node);
    reserved_.erase(reserved_.begin());
  }

  api::Pod MakePodWithClaims(const std::string& name) {
    api::Pod pod = MakePod().Name(name).Uid(name);
    const uint32_t kind = Draw(9);
    if (kind >= 7) {
      for (uint32_t i = 0; i < kind - 6; ++i)
        AddClaim(AllocatedClaim(name + "-" + std::to_string(i)), pod);
      return pod;
    }
    if (kind >= 5) AddExtendedResources(pod);
    if (kind == 6) return pod;
    auto claim =
        MakeDeviceClaim(name + "-a").Request("r", kind == 4 ? "odd" : "gpus", 1 + kind % 2);
    if (kind == 2) {
      api::DeviceRequest& request = claim->spec.devices.requests[0];
      request.exactly.reset();
      for (const auto& [sub, count] : {std::pair("many", 3), std::pair("few", 1)}) {
        api::DeviceSubRequest& made = request.first_available.emplace_back();
        made.name = sub;
        made.device_class_name = "gpus";
        made.allocation_mode = api::kExactCount;
        made.count = count;
      }
    }
    AddClaim(std::move(claim).Obj(), pod);
    if (kind == 3) AddClaim(AllocatedClaim(name + "-b"), pod);
    return pod;
  }
  // Can be used on one node, on some, or everywhere, at once or later.
  api::ResourceClaim AllocatedClaim(const std::string& name) {
    const std::string node = NodeName(Draw(kNodes));
    DeviceClaimBuilder claim = MakeDeviceClaim(name).Allocated(node, "gpu-9");
    const uint32_t reach = Draw(4);
    api::NodeSelectorTerm term;
    if (reach == 0) term.match_fields.push_back({"metadata.name", "In", {node}});
    if (reach == 1)
      term.match_expressions.push_back({"rack", Draw(2) == 0 ? "In" : "NotIn", {"even"}});
    if (reach < 2) claim->status.allocation->node_selector.emplace().node_selector_terms = {term};
    api::DeviceRequestAllocationResult& result = claim->status.allocation->devices.results[0];
    if (Draw(4) == 0) result.skip_node_operations = {"*"};
    if (Draw(3) == 0) {
      result.binding_conditions = {"attached"};
      claim->status.allocation->allocation_timestamp =
          handle.clock().WallNow() - std::chrono::minutes(Draw(20));
    }
    return std::move(claim).Obj();
  }
  void AddExtendedResources(api::Pod& pod) {
    auto& requests = pod.spec.containers.emplace_back().resources.requests;
    requests.emplace_back("example.com/gpu", api::Quantity::FromUnits(1 + Draw(2)));
    if (Draw(3) == 0) requests.emplace_back("example.com/nic", api::Quantity::FromUnits(1));
  }
  void AddClaim(api::ResourceClaim claim, api::Pod& pod) {
    auto& entry = pod.spec.resource_claims.emplace_back();
    entry.name = claim.metadata.name;
    entry.resource_claim_name = claim.metadata.name;
    handle.ShowClaim(std::move(claim));
  }

  // PreScore says of each node what the allocator would.
  void CheckScores(CycleState& cycle, const PodInfo& pod, const NodeSet& feasible) {
    if (!plugin_.PreScore(cycle, pod, *snapshot_, feasible).ok()) return;
    CycleState other;
    DynamicResources fresh(DynamicResourcesArgs(), handle);
    ASSERT_TRUE(fresh.PreFilter(other, pod, *snapshot_).status.ok());
    ASSERT_TRUE(fresh.PreScore(other, pod, *snapshot_, feasible).ok());
    feasible.ForEach([&](NodeRow row) {
      const NodeView node(*snapshot_, row);
      EXPECT_EQ(plugin_.Score(cycle, pod, node).score, fresh.Score(other, pod, node).score);
    });
  }

  std::mt19937 random_;
  std::vector<api::Node> nodes_;
  std::optional<test::PlainSnapshot> snapshot_;
  DynamicResources plugin_{DynamicResourcesArgs(), handle};
  std::vector<Reserved> reserved_;
  int version_ = 0;
};

TEST(DynamicResourcesPropertyTest, WhatIsKeptChangesNoVerdict) {
  int failures = 0;
  int refused = 0;
  int taken = 0;
  int out_of_reach = 0;
  for (uint32_t seed = 0; seed < 30; ++seed) {
    SCOPED_TRACE(seed);
    Cluster cluster(seed);
    for (int step = 0; step < 80; ++step) {
      cluster.Change();
      cluster.Schedule(step);
      if (testing::Test::HasFatalFailure()) return;
    }
    failures += cluster.failures;
    refused += cluster.refused;
    taken += cluster.taken;
    out_of_reach += cluster.out_of_reach;
  }
  // All kinds of answers were met.
  EXPECT_GT(failures, 20);
  EXPECT_GT(refused, 100);
  EXPECT_GT(taken, 300);
  EXPECT_GT(out_of_reach, 100);
}

}  // namespace
}  // namespace berth::plugins
