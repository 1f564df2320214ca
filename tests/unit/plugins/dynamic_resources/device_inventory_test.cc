// SPDX-License-Identifier: Apache-2.0
// What is kept between searches ends when it must.
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <string>
#include <vector>

#include "tests/unit/plugins/dynamic_resources/allocator_fixture.h"

namespace berth::plugins::dra {
namespace {

using F = AllocatorFixture;

TEST(DeviceInventoryTest, ChangesOfSlicesAreSeen) {
  F f;
  f.Add(ClaimBuilder("c").Request({"r", "a"}));
  EXPECT_EQ(f.Allocate(), "");
  f.Add(SliceBuilder("s1", "driver-a", "pool-2").Devices({"d1"}));
  EXPECT_EQ(f.Allocate(), "r=driver-a/pool-2/d1");
  f.Add(SliceBuilder("s1", "driver-a", "pool-2").Devices({"d2"}));
  EXPECT_EQ(f.Allocate(), "r=driver-a/pool-2/d2");
  f.Add(SliceBuilder("s2", "driver-a", "pool-1").Devices({"other"}));  // another pool of the node
  EXPECT_EQ(f.Allocate(), "r=driver-a/pool-1/other");
  f.Add(SliceBuilder("s3", "driver-a", "pool-0").AllNodes().Devices({"shared"}));
  EXPECT_EQ(f.Allocate(), "r=driver-a/pool-0/shared");
  f.inventory.RemoveSlice("s3");
  EXPECT_EQ(f.Allocate(), "r=driver-a/pool-1/other");
  f.Add(SliceBuilder("s2", "driver-a", "pool-1").Node("node-2").Devices({"moved"}));
  EXPECT_EQ(f.Allocate(), "r=driver-a/pool-2/d2");
  EXPECT_EQ(f.Allocate("node-2"), "r=driver-a/pool-1/moved");
  f.inventory.RemoveSlice("s1");
  EXPECT_EQ(f.Allocate(), "");
}

TEST(DeviceInventoryTest, ASliceOnAnotherNodeMakesThePoolWhole) {
  F f;
  f.Add(ClaimBuilder("c").Request({"r", "a"}));
  f.Add(SliceBuilder("s1", "driver-a", "pool").Of(2).Devices({"d1"}));
  EXPECT_EQ(f.Allocate(), "");
  f.Add(SliceBuilder("s2", "driver-a", "pool").Of(2).Node("node-2").Devices({"d2"}));
  EXPECT_EQ(f.Allocate(), "r=driver-a/pool/d1");
  f.inventory.RemoveSlice("s2");
  EXPECT_EQ(f.Allocate(), "");
}

TEST(DeviceInventoryTest, NodesThatShareARowOrChangeLabelsAreLookedUpAgain) {
  F f;
  f.Add(ClaimBuilder("c").Request({"r", "a"}));
  f.Add(SliceBuilder("s1", "driver-a", "pool").Label("zone", "z1").Devices({"d1"}));
  ASSERT_EQ(f.Allocate(), "r=driver-a/pool/d1");
  api::Node node = F::MakeNode("node-1");
  node.metadata.labels[1].second = "z2";
  f.allocator.Allocate(f.prepared, 1, node, 1000, f.found);
  EXPECT_EQ(f.found.outcome, AllocationOutcome::kNone);
  f.Add(SliceBuilder("s2", "driver-a", "pool-2").Node("node-9").Devices({"d9"}));
  f.allocator.Allocate(f.prepared, 1, F::MakeNode("node-9"), 1000, f.found);
  EXPECT_EQ(f.found.outcome, AllocationOutcome::kAllocated);
}

TEST(DeviceInventoryTest, WhatClaimsHoldIsCountedAndReleased) {
  F f;
  f.Add(SliceBuilder("s1", "driver-a", "pool-1").Devices({"d1"}));
  f.Add(ClaimBuilder("c").Request({"r", "a"}));
  // Two claims hold one device; it is free when both are gone.
  f.inventory.AddAllocation(F::Held("d1"));
  f.inventory.AddAllocation(F::Held("d1"));
  f.inventory.RemoveAllocation(F::Held("d1"));
  EXPECT_TRUE(f.inventory.IsAllocated("driver-a", "pool-1", "d1"));
  EXPECT_EQ(f.Allocate(), "");
  f.inventory.RemoveAllocation(F::Held("d1"));
  EXPECT_FALSE(f.inventory.IsAllocated("driver-a", "pool-1", "d1"));
  EXPECT_EQ(f.Allocate(), "r=driver-a/pool-1/d1");
  // Admin access holds nothing.
  api::AllocationResult admin = F::Held("d1");
  admin.devices.results[0].admin_access = true;
  f.inventory.AddAllocation(admin);
  EXPECT_EQ(f.Allocate(), "r=driver-a/pool-1/d1");
}

TEST(DeviceInventoryTest, ADeviceIsHeldWhetherItIsPublishedOrNot) {
  F f;
  f.inventory.AddAllocation(F::Held("d1"));
  f.Add(SliceBuilder("s1", "driver-a", "pool-1").Devices({"d1", "d2"}));
  f.Add(ClaimBuilder("c").Request({"r", "a"}));
  EXPECT_EQ(f.Allocate(), "r=driver-a/pool-1/d2");
  f.inventory.RemoveSlice("s1");
  f.Add(SliceBuilder("s1", "driver-a", "pool-1").Devices({"d1", "d2"}));
  EXPECT_EQ(f.Allocate(), "r=driver-a/pool-1/d2");
}

TEST(DeviceInventoryTest, NothingStaysOfWhatIsNeitherPublishedNorHeld) {
  F f;
  for (int round = 0; round < 20; ++round) {
    const std::string name = std::to_string(round);
    f.Add(SliceBuilder("s" + name, "driver-a", "pool-" + name).Devices({"d" + name}));
    f.inventory.AddAllocation(F::Held("h" + name, "", {}, "gone-" + name));
    f.inventory.RemoveSlice("s" + name);
    f.inventory.RemoveAllocation(F::Held("h" + name, "", {}, "gone-" + name));
  }
  EXPECT_EQ(f.inventory.num_pools(), 0u);
  EXPECT_LE(f.inventory.num_rows(), 2u);
}

TEST(DeviceInventoryTest, AnExpressionIsAskedOnceForEachDevice) {
  F f;
  f.Add(SliceBuilder("s1", "driver-a", "pool-1").Devices({"d1", "d2"}));
  f.Add(ClaimBuilder("c").Request({"r", "a", 2}));
  ASSERT_NE(f.Allocate(), "");
  EXPECT_EQ(f.expressions.num_asked, 2);
  f.Add(ClaimBuilder("c2").Request({"r", "a"}));
  EXPECT_EQ(f.Allocate(), "");
  EXPECT_EQ(f.expressions.num_asked, 2);
  f.Add(SliceBuilder("s1", "driver-a", "pool-1").Devices({"d1", "d2", "d3"}));
  EXPECT_NE(f.Allocate(), "");
  EXPECT_EQ(f.expressions.num_asked, 5);
}

TEST(ExpressionTableTest, ForgetsWhatWasUsedLongestAgo) {
  FakeExpressions fake;
  DeviceInventory inventory(DefaultFeatures());
  Allocator allocator(inventory, fake, {.answer_bytes = 20'000});
  inventory.SetSlice(std::make_shared<const api::ResourceSlice>(
      SliceBuilder("s1", "driver-a", "pool-1").Devices({"d1", "d2"}).slice));
  const api::DeviceClass any = MakeClass("any", {"true"});
  NodeAllocation found;
  for (int i = 0; i < 1000; ++i) {
    // A stranger's claims, each with an expression of its own.
    const ClaimBuilder claim = ClaimBuilder("c").Request(
        RequestBuilder("r", "any").Selector("model=" + std::to_string(i)));
    const api::ResourceClaim* pointer = &claim.claim;
    const ClaimsToAllocate prepared =
        allocator.Prepare({&pointer, 1}, [&any](std::string_view) { return &any; });
    allocator.Allocate(prepared, 0, F::MakeNode("node-1"), 1000, found);
    EXPECT_EQ(found.outcome, AllocationOutcome::kNone);
    EXPECT_LT(allocator.kept_answer_bytes(), 21'000u);
  }
  // The class's expression is used all the time: it was asked once for each device.
  EXPECT_EQ(fake.num_asked, 2 * 1000 + 2);
}

// Whatever came and went before, a search finds what it finds in a cluster that was always so.
TEST(DeviceInventoryPropertyTest, AnInventoryThatChangedIsAsOneMadeAtOnce) {
  for (uint32_t seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    const auto below = [&random](uint32_t bound) { return random() % bound; };
    F changed;
    std::map<std::string, SliceBuilder> slices;
    std::vector<api::AllocationResult> held;
    for (int step = 0; step < 60; ++step) {
      const std::string name = "s" + std::to_string(below(6));
      switch (below(4)) {
        case 0:
          slices.erase(name);
          changed.inventory.RemoveSlice(name);
          break;
        case 1:
          if (!held.empty() && below(2) == 0) {
            changed.inventory.RemoveAllocation(held.back());
            held.pop_back();
          } else {
            held.push_back(F::Held("d" + std::to_string(below(4)), "", {},
                                   "pool-" + std::to_string(below(3))));
            changed.inventory.AddAllocation(held.back());
          }
          break;
        default: {
          SliceBuilder slice(name, "driver-a", "pool-" + std::to_string(below(3)));
          const int64_t of = 1 + static_cast<int64_t>(below(2));
          const int64_t generation = 1 + static_cast<int64_t>(below(2));
          slice.Of(of, generation).Node("node-" + std::to_string(1 + below(2)));
          if (below(4) == 0) slice.AllNodes();
          if (below(4) == 0) slice.Label("name", "node-" + std::to_string(1 + below(2)));
          if (below(4) == 0) slice.Counter("set-" + name, "u", "2");
          if (slice.slice.spec.shared_counters.empty()) {
            for (uint32_t i = 0; i < 1 + below(3); ++i) {
              DeviceBuilder device("d" + std::to_string(below(4)));
              if (below(4) == 0) device.Consumes("set-s" + std::to_string(below(6)), "u", "1");
              slice.Device(device);
            }
          }
          slices.insert_or_assign(name, slice);
          changed.Add(slice);
        }
      }
      F made;
      for (const auto& [key, slice] : slices) made.Add(slice);
      for (const api::AllocationResult& allocation : held) made.inventory.AddAllocation(allocation);
      for (F* f : {&changed, &made}) {
        f->claims.clear();
        f->Add(ClaimBuilder("c").Request({"r", "a", 1 + step % 3}));
      }
      for (const char* node : {"node-1", "node-2"})
        ASSERT_EQ(changed.Allocate(node), made.Allocate(node)) << step;
    }
  }
}

}  // namespace
}  // namespace berth::plugins::dra
