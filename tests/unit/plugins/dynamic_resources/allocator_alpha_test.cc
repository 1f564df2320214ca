// SPDX-License-Identifier: Apache-2.0
// What alpha gates add: lists as attributes, derived attributes, devices that skip node operations.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/unit/plugins/dynamic_resources/allocator_fixture.h"

namespace berth::plugins::dra {
namespace {

using F = AllocatorFixture;

AllocatorFeatures With(bool AllocatorFeatures::* gate) {
  AllocatorFeatures features = DefaultFeatures();
  features.*gate = true;
  return features;
}

TEST(AllocatorAlphaTest, ListsMatchWhereTheyShareAValueAndAreDistinctWhereTheyDoNot) {
  Check({{"match: what all of them share",
          [](F& f) {
            f.Add(SliceBuilder("s", "driver-a", "pool-1")
                      .Device(DeviceBuilder("d1").Strings("l", {"x", "y"}))
                      .Device(DeviceBuilder("d2").Strings("l", {"y", "z"}))
                      .Device(DeviceBuilder("d3").Strings("l", {"z", "x"}))
                      .Device(DeviceBuilder("d4").String("l", "y")));
            f.Add(ClaimBuilder("c").Request({"r", "a", 3}).Match("driver-a/l"));
          },
          "r=driver-a/pool-1/d1 r=driver-a/pool-1/d2 r=driver-a/pool-1/d4"},
         {"match: what was narrowed is wide again after a step back",
          [](F& f) {
            f.Add(SliceBuilder("s", "driver-a", "pool-1")
                      .Device(DeviceBuilder("d1").Strings("l", {"x", "y"}))
                      .Device(DeviceBuilder("d2").Strings("l", {"x"}))
                      .Device(DeviceBuilder("d3").Strings("l", {"y"}))
                      .Device(DeviceBuilder("d4").Strings("l", {"y"})));
            f.Add(ClaimBuilder("c").Request({"r", "a", 3}).Match("driver-a/l"));
          },
          "r=driver-a/pool-1/d1 r=driver-a/pool-1/d3 r=driver-a/pool-1/d4"},
         {"distinct",
          [](F& f) {
            f.Add(SliceBuilder("s", "driver-a", "pool-1")
                      .Device(DeviceBuilder("d1").Strings("l", {"x", "y"}))
                      .Device(DeviceBuilder("d2").Strings("l", {"y", "z"}))
                      .Device(DeviceBuilder("d3").String("l", "z")));
            f.Add(ClaimBuilder("c").Request({"r", "a", 2}).Distinct("driver-a/l"));
          },
          "r=driver-a/pool-1/d1 r=driver-a/pool-1/d3"},
         {"other types share nothing",
          [](F& f) {
            f.Add(SliceBuilder("s", "driver-a", "pool-1")
                      .Device(DeviceBuilder("d1").String("l", "1"))
                      .Device(DeviceBuilder("d2").Int("l", 1)));
            f.Add(ClaimBuilder("c").Request({"r", "a", 2}).Match("driver-a/l"));
          },
          ""},
         {"an attribute without a value",
          [](F& f) {
            f.Add(SliceBuilder("s", "driver-a", "pool-1")
                      .Device(DeviceBuilder("d1").Attribute("l", {})));
            f.Add(ClaimBuilder("c").Request({"r", "a"}).Match("driver-a/l"));
          },
          ""}},
        With(&AllocatorFeatures::list_type_attributes));
}

TEST(AllocatorAlphaTest, ConstraintsSeeWhatRequestsDerive) {
  const auto add_devices = [](F& f) {
    f.Add(SliceBuilder("s", "driver-a", "pool-1")
              .Device(DeviceBuilder("d1").Int("numa", 0).Int("root", 1))
              .Device(DeviceBuilder("d2").Int("numa", 1).Int("root", 2))
              .Device(DeviceBuilder("d3").Int("numa", 0).Int("root", 2)));
  };
  const struct {
    const char* name;
    const char* expression;
    const char* want;
  } cases[] = {
      {"in place of what the device says", "attribute:root",
       "r=driver-a/pool-1/d2 r=driver-a/pool-1/d3"},
      {"nothing", "attribute:none", ""},
      {"no expression", "compile!",
       "error: compile derived attribute driver-a/numa failed: no such word"},
      {"one that fails", "runtime!",
       "error: evaluate derived attribute driver-a/numa on device driver-a/pool-1/d1 failed: no "
       "such key"},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    F f(With(&AllocatorFeatures::derived_attributes));
    add_devices(f);
    f.Add(ClaimBuilder("c")
              .Request(RequestBuilder("r", "a", 2).Derives("driver-a/numa", c.expression))
              .Match("driver-a/numa"));
    EXPECT_EQ(f.Allocate(), c.want);
    EXPECT_EQ(f.Allocate(), c.want);
  }
}

TEST(AllocatorAlphaTest, DevicesThatSkipNodeOperationsNeedANodeThatCan) {
  SliceBuilder slice = SliceBuilder("s", "driver-a", "pool-1").AllNodes().Devices({"d1"});
  slice.slice.spec.skip_node_operations = {"*"};
  const auto outcome_on = [&slice](const AllocatorFeatures& features, bool declares) {
    F f(features);
    f.Add(slice);
    f.Add(ClaimBuilder("c").Request({"r", "a"}));
    f.Allocate();
    api::Node node = F::MakeNode("node-1");
    if (declares) node.status.declared_features = {"DRAOptionalNodeOperations"};
    f.allocator.Allocate(f.prepared, 1, node, 1000, f.found);
    if (f.found.outcome != AllocationOutcome::kAllocated) return std::string("none");
    const auto results = MakeAllocationResults(f.prepared, node, f.found, f.features, f.random);
    const auto& skipped = (*results)[0].devices.results[0].skip_node_operations;
    return skipped.empty() ? std::string("all operations") : "skips " + skipped[0];
  };
  EXPECT_EQ(outcome_on(With(&AllocatorFeatures::optional_node_operations), true), "skips *");
  EXPECT_EQ(outcome_on(With(&AllocatorFeatures::optional_node_operations), false), "none");
  // Where no gate asks for the "experimental" allocator the field is not known.
  EXPECT_EQ(outcome_on(DefaultFeatures(), true), "all operations");
}

// A card whose devices name groups; "plain" names none.
void AddGroups(F& f) {
  f.Add(SliceBuilder("counters", "driver-a", "pool-1").Of(2).Counter("card", "unit", "8"));
  f.Add(SliceBuilder("devices", "driver-a", "pool-1")
            .Of(2)
            .Device(DeviceBuilder("g").Consumes("card", "unit", "1").Groups({"g"}))
            .Device(DeviceBuilder("h").Consumes("card", "unit", "1").Groups({"h"}))
            .Device(DeviceBuilder("gh").Consumes("card", "unit", "1").Groups({"h", "g"}))
            .Device(DeviceBuilder("hi").Consumes("card", "unit", "1").Groups({"h", "i"}))
            .Device(DeviceBuilder("plain").Consumes("card", "unit", "1")));
}

TEST(AllocatorAlphaTest, DevicesOfOneCounterSetShareAGroup) {
  Check({{"two that share one",
          [](F& f) {
            AddGroups(f);
            f.Add(ClaimBuilder("c").Request({"r", "a", 2}));
          },
          "r=driver-a/pool-1/g r=driver-a/pool-1/gh"},
         {"three, after a step back",
          [](F& f) {
            AddGroups(f);
            f.Add(ClaimBuilder("c").Request({"r", "a", 3}));
          },
          "r=driver-a/pool-1/h r=driver-a/pool-1/gh r=driver-a/pool-1/hi"},
         {"four do not",
          [](F& f) {
            AddGroups(f);
            f.Add(ClaimBuilder("c").Request({"r", "a", 4}));
          },
          ""},
         {"beside one that is held",
          [](F& f) {
            AddGroups(f);
            f.inventory.AddAllocation(F::Held("hi"));
            f.Add(ClaimBuilder("c").Request({"r", "a"}));
          },
          "r=driver-a/pool-1/h"},
         {"beside one that names none",
          [](F& f) {
            AddGroups(f);
            f.inventory.AddAllocation(F::Held("plain"));
            f.Add(ClaimBuilder("c").Request({"r", "a"}));
          },
          ""}},
        With(&AllocatorFeatures::compatibility_groups));
}

TEST(AllocatorAlphaTest, WithoutTheGateSlicesWithCompatibilityGroupsAreLeftOut) {
  F f;
  f.Add(SliceBuilder("counters", "driver-a", "pool-1").Of(3).Counter("card", "unit", "8"));
  f.Add(SliceBuilder("grouped", "driver-a", "pool-1")
            .Of(3)
            .Device(DeviceBuilder("d1").Consumes("card", "unit", "1").Groups({"g"})));
  f.Add(SliceBuilder("plain", "driver-a", "pool-1").Of(3).Devices({"d2"}));
  f.Add(ClaimBuilder("c").Request({"r", "a"}));
  EXPECT_EQ(f.Allocate(), "");  // the pool is not whole without it
  f.claims.clear();
  f.Add(ClaimBuilder("c").Request(RequestBuilder("r", "a").All()));
  EXPECT_EQ(f.Allocate(),
            "error: claim ns/c, request r: asks for all devices, but resource pool driver-a/pool-1 "
            "is currently being updated");
}

}  // namespace
}  // namespace berth::plugins::dra
