// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "berth/api/node.h"
#include "berth/random.h"
#include "plugins/dynamic_resources/allocator/allocator.h"
#include "tests/unit/plugins/dynamic_resources/device_objects.h"

namespace berth::plugins::dra {

// The gates that are on by default.
inline AllocatorFeatures DefaultFeatures() {
  return {.admin_access = true,
          .consumable_capacity = true,
          .device_binding_and_status = true,
          .device_taints = true,
          .partitionable_devices = true,
          .prioritized_list = true};
}

// A cluster of slices and allocated devices, and one pod's claims; nodes "node-1", "node-2", ...
// Classes "a" and "b" want devices of driver-a and driver-b, "any" wants any.
struct AllocatorFixture {
  explicit AllocatorFixture(const AllocatorFeatures& with = DefaultFeatures())
      : features(with), inventory(with), allocator(inventory, expressions) {
    classes.push_back(MakeClass("a", {"driver:driver-a"}));
    classes.push_back(MakeClass("b", {"driver:driver-b"}));
    classes.push_back(MakeClass("any", {}));
  }

  void Add(SliceBuilder slice) {
    inventory.SetSlice(std::make_shared<const api::ResourceSlice>(std::move(slice.slice)));
  }
  void Add(ClaimBuilder claim) { claims.push_back(std::move(claim.claim)); }

  // Another claim holds the device; with a share id it holds a part of it.
  static api::AllocationResult Held(std::string device, std::string share = "",
                                    api::ResourceList consumed = {}, std::string pool = "pool-1") {
    api::AllocationResult allocation;
    api::DeviceRequestAllocationResult& result = allocation.devices.results.emplace_back();
    result.driver = "driver-a";
    result.pool = std::move(pool);
    result.device = std::move(device);
    if (!share.empty()) result.share_id = std::move(share);
    result.consumed_capacity = std::move(consumed);
    return allocation;
  }

  static api::Node MakeNode(std::string name) {
    api::Node node;
    node.metadata.name = name;
    node.metadata.labels = {{"name", std::move(name)}, {"zone", "z1"}};
    return node;
  }

  // Allocates on the node. "" where the node does not do; "error: ..." and the like; else
  // "request=driver/pool/device ..." of each claim, with " | " between claims.
  std::string Allocate(const std::string& node_name = "node-1", uint64_t max_steps = 1'000'000) {
    node = MakeNode(node_name);
    std::vector<const api::ResourceClaim*> pointers;
    for (const api::ResourceClaim& claim : claims) pointers.push_back(&claim);
    prepared = allocator.Prepare(pointers, [this](std::string_view name) {
      const api::DeviceClass* of_name = nullptr;
      for (const api::DeviceClass& device_class : classes)
        if (device_class.metadata.name == name) of_name = &device_class;
      return of_name;
    });
    const auto row = static_cast<NodeRow>(node_name.back() - '0');
    allocator.Allocate(prepared, row, node, max_steps, found);
    results.clear();
    switch (found.outcome) {
      case AllocationOutcome::kNone:
        return "";
      case AllocationOutcome::kInvalidPools:
        return "invalid: " + found.error;
      case AllocationOutcome::kOutOfSteps:
        return "out of steps";
      case AllocationOutcome::kError:
        return "error: " + found.error;
      case AllocationOutcome::kAllocated:
        break;
    }
    auto made = MakeAllocationResults(prepared, node, found, features, random);
    if (!made) return "error: " + made.error().message;
    results = std::move(*made);
    std::string text;
    for (size_t i = 0; i < results.size(); ++i) {
      if (i != 0) text += " | ";
      bool first = true;
      for (const auto& result : results[i].devices.results) {
        if (!std::exchange(first, false)) text += ' ';
        text += result.request + "=" + result.driver + "/" + result.pool + "/" + result.device;
        if (result.admin_access) text += "(admin)";
        for (const auto& [name, amount] : result.consumed_capacity)
          text += "(" + name + " " + amount.ToCanonicalString() + ")";
      }
    }
    return text;
  }

  // Takes what was allocated last.
  void Take() {
    for (const api::AllocationResult& result : results) inventory.AddAllocation(result);
  }

  AllocatorFeatures features;
  DeviceInventory inventory;
  FakeExpressions expressions;
  Allocator allocator;
  Random random{7};
  std::vector<api::DeviceClass> classes;
  std::vector<api::ResourceClaim> claims;
  api::Node node;
  ClaimsToAllocate prepared;
  NodeAllocation found;
  std::vector<api::AllocationResult> results;
};

// A case: what is there, and what Allocate says about node-1.
struct AllocatorCase {
  const char* name;
  void (*fill)(AllocatorFixture&);
  const char* want;
};

inline void Check(const std::vector<AllocatorCase>& cases,
                  const AllocatorFeatures& features = DefaultFeatures()) {
  for (const AllocatorCase& c : cases) {
    SCOPED_TRACE(c.name);
    AllocatorFixture fixture(features);
    c.fill(fixture);
    EXPECT_EQ(fixture.Allocate(), c.want);
    // A search leaves nothing behind.
    EXPECT_EQ(fixture.Allocate(), c.want);
  }
}

}  // namespace berth::plugins::dra
