// SPDX-License-Identifier: Apache-2.0
// Devices of which several claims have a part: counters of a pool, capacity of a device.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/unit/plugins/dynamic_resources/allocator_fixture.h"

namespace berth::plugins::dra {
namespace {

using F = AllocatorFixture;

// A card of 8 units, as one large and two small devices.
void AddCard(F& f, const std::string& node = "node-1") {
  f.Add(
      SliceBuilder("counters", "driver-a", "pool-1").Of(2).Node(node).Counter("card", "unit", "8"));
  f.Add(SliceBuilder("devices", "driver-a", "pool-1")
            .Of(2)
            .Device(DeviceBuilder("large").Consumes("card", "unit", "8"))
            .Device(DeviceBuilder("small-1").Consumes("card", "unit", "4"))
            .Device(DeviceBuilder("small-2").Consumes("card", "unit", "4")));
}

TEST(AllocatorCountersTest, DevicesTakeFromWhatThePoolHas) {
  Check({
      {"the first",
       [](F& f) {
         AddCard(f);
         f.Add(ClaimBuilder("c").Request({"r", "a"}));
       },
       "r=driver-a/pool-1/large"},
      {"two only fit as small ones",
       [](F& f) {
         AddCard(f);
         f.Add(ClaimBuilder("c").Request({"r", "a", 2}));
       },
       "r=driver-a/pool-1/small-1 r=driver-a/pool-1/small-2"},
      {"three do not",
       [](F& f) {
         AddCard(f);
         f.Add(ClaimBuilder("c").Request({"r", "a", 3}));
       },
       ""},
      {"over two claims",
       [](F& f) {
         AddCard(f);
         f.Add(ClaimBuilder("c1").Request({"r", "a"}));
         f.Add(ClaimBuilder("c2").Request({"r", "a"}));
       },
       "r=driver-a/pool-1/small-1 | r=driver-a/pool-1/small-2"},
      {"what others hold is gone",
       [](F& f) {
         AddCard(f);
         f.inventory.AddAllocation(F::Held("small-2"));
         f.Add(ClaimBuilder("c").Request({"r", "a"}));
       },
       "r=driver-a/pool-1/small-1"},
      {"all is gone",
       [](F& f) {
         AddCard(f);
         f.inventory.AddAllocation(F::Held("large"));
         f.Add(ClaimBuilder("c").Request({"r", "a"}));
       },
       ""},
      {"the counters' slice reaches another node",
       [](F& f) {
         AddCard(f, "node-2");
         f.Add(ClaimBuilder("c").Request({"r", "a", 2}));
       },
       "r=driver-a/pool-1/small-1 r=driver-a/pool-1/small-2"},
      {"a device on another node takes from the same counters",
       [](F& f) {
         f.Add(SliceBuilder("counters", "driver-a", "pool-1")
                   .Of(3)
                   .AllNodes()
                   .Counter("c", "u", "8"));
         f.Add(SliceBuilder("here", "driver-a", "pool-1")
                   .Of(3)
                   .Device(DeviceBuilder("here").Consumes("c", "u", "5")));
         f.Add(SliceBuilder("there", "driver-a", "pool-1")
                   .Of(3)
                   .Node("node-2")
                   .Device(DeviceBuilder("there").Consumes("c", "u", "5")));
         f.inventory.AddAllocation(F::Held("there"));
         f.Add(ClaimBuilder("c").Request({"r", "a"}));
       },
       ""},
      {"an overdrawn counter blocks all that take of any",
       [](F& f) {
         f.Add(SliceBuilder("counters", "driver-a", "pool-1")
                   .Of(2)
                   .Counter("c1", "u", "1")
                   .Counter("c2", "u", "1"));
         f.Add(SliceBuilder("devices", "driver-a", "pool-1")
                   .Of(2)
                   .Device(DeviceBuilder("held").Consumes("c1", "u", "2"))
                   .Device(DeviceBuilder("other").Consumes("c2", "u", "1"))
                   .Devices({"none"}));
         f.inventory.AddAllocation(F::Held("held"));
         f.Add(ClaimBuilder("c").Request({"r", "a"}));
       },
       "r=driver-a/pool-1/none"},
      {"a device that is tainted gives its units back",
       [](F& f) {
         f.Add(SliceBuilder("counters", "driver-a", "pool-1").Of(2).Counter("card", "unit", "8"));
         f.Add(SliceBuilder("devices", "driver-a", "pool-1")
                   .Of(2)
                   .Device(DeviceBuilder("tainted").Consumes("card", "unit", "8").Taint("t"))
                   .Device(DeviceBuilder("whole").Consumes("card", "unit", "8")));
         f.Add(ClaimBuilder("c").Request({"r", "a"}));
       },
       "r=driver-a/pool-1/whole"},
      {"and so does one that a constraint keeps out",
       [](F& f) {
         f.Add(SliceBuilder("counters", "driver-a", "pool-1").Of(2).Counter("card", "unit", "8"));
         f.Add(SliceBuilder("devices", "driver-a", "pool-1")
                   .Of(2)
                   .Device(DeviceBuilder("without").Consumes("card", "unit", "8"))
                   .Device(DeviceBuilder("with").Consumes("card", "unit", "8").Int("numa", 0)));
         f.Add(ClaimBuilder("c").Request({"r", "a"}).Match("driver-a/numa"));
       },
       "r=driver-a/pool-1/with"},
      {"no such set",
       [](F& f) {
         f.Add(SliceBuilder("devices", "driver-a", "pool-1")
                   .Device(DeviceBuilder("d").Consumes("card", "unit", "8")));
         f.Add(ClaimBuilder("c").Request({"r", "a"}));
       },
       "invalid: invalid resource pools were encountered"},
      {"no such counter",
       [](F& f) {
         f.Add(SliceBuilder("counters", "driver-a", "pool-1").Of(2).Counter("card", "unit", "8"));
         f.Add(SliceBuilder("devices", "driver-a", "pool-1")
                   .Of(2)
                   .Device(DeviceBuilder("d").Consumes("card", "memory", "8")));
         f.Add(ClaimBuilder("c").Request({"r", "a"}));
       },
       "invalid: invalid resource pools were encountered"},
      {"one set in two slices",
       [](F& f) {
         f.Add(SliceBuilder("counters-1", "driver-a", "pool-1").Of(3).Counter("card", "unit", "8"));
         f.Add(SliceBuilder("counters-2", "driver-a", "pool-1").Of(3).Counter("card", "unit", "8"));
         f.Add(SliceBuilder("devices", "driver-a", "pool-1").Of(3).Devices({"d"}));
         f.Add(ClaimBuilder("c").Request({"r", "a"}));
       },
       "invalid: invalid resource pools were encountered"},
  });
}

TEST(AllocatorCapacityTest, SharedDevicesAreGivenUntilTheirCapacityEnds) {
  Check({
      {"two shares in one claim",
       [](F& f) {
         f.Add(SliceBuilder("s", "driver-a", "pool-1")
                   .Device(DeviceBuilder("d").Shared().Capacity("memory", "8Gi")));
         f.Add(ClaimBuilder("c")
                   .Request(RequestBuilder("r1", "a").Capacity("memory", "4Gi"))
                   .Request(RequestBuilder("r2", "a").Capacity("memory", "4096Mi")));
       },
       "r1=driver-a/pool-1/d(memory 4Gi) r2=driver-a/pool-1/d(memory 4Gi)"},
      {"the third goes elsewhere",
       [](F& f) {
         f.Add(SliceBuilder("s", "driver-a", "pool-1")
                   .Device(DeviceBuilder("d1").Shared().Capacity("memory", "8Gi"))
                   .Device(DeviceBuilder("d2").Shared().Capacity("memory", "8Gi")));
         f.Add(ClaimBuilder("c")
                   .Request(RequestBuilder("r1", "a").Capacity("memory", "4Gi"))
                   .Request(RequestBuilder("r2", "a").Capacity("memory", "5Gi"))
                   .Request(RequestBuilder("r3", "a").Capacity("memory", "4Gi")));
       },
       "r1=driver-a/pool-1/d1(memory 4Gi) r2=driver-a/pool-1/d2(memory 5Gi) "
       "r3=driver-a/pool-1/d1(memory 4Gi)"},
      {"what others hold counts",
       [](F& f) {
         f.Add(SliceBuilder("s", "driver-a", "pool-1")
                   .Device(DeviceBuilder("d1").Shared().Capacity("memory", "8Gi"))
                   .Device(DeviceBuilder("d2").Shared().Capacity("memory", "8Gi")));
         f.inventory.AddAllocation(F::Held("d1", "share-1", {{"memory", Amount("5Gi")}}));
         f.Add(ClaimBuilder("c").Request(RequestBuilder("r", "a").Capacity("memory", "4Gi")));
       },
       "r=driver-a/pool-1/d2(memory 4Gi)"},
      {"who asks for nothing gets all",
       [](F& f) {
         f.Add(SliceBuilder("s", "driver-a", "pool-1")
                   .Device(DeviceBuilder("d1").Shared().Capacity("memory", "8Gi")));
         f.Add(ClaimBuilder("c").Request({"r", "a"}));
       },
       "r=driver-a/pool-1/d1(memory 8Gi)"},
      {"or the default",
       [](F& f) {
         f.Add(SliceBuilder("s", "driver-a", "pool-1")
                   .Device(DeviceBuilder("d1")
                               .Shared()
                               .Capacity("memory", "8Gi")
                               .Range("1Gi", "", "", "2Gi")));
         f.Add(ClaimBuilder("c").Request({"r", "a"}));
       },
       "r=driver-a/pool-1/d1(memory 2Gi)"},
      {"a device without capacity is shared without end",
       [](F& f) {
         f.Add(SliceBuilder("s", "driver-a", "pool-1").Device(DeviceBuilder("d1").Shared()));
         f.Add(ClaimBuilder("c1").Request({"r", "a", 1}));
         f.Add(ClaimBuilder("c2").Request({"r", "a", 1}));
       },
       "r=driver-a/pool-1/d1 | r=driver-a/pool-1/d1"},
      {"but once for each of a request's devices",
       [](F& f) {
         f.Add(SliceBuilder("s", "driver-a", "pool-1").Device(DeviceBuilder("d1").Shared()));
         f.Add(ClaimBuilder("c").Request({"r", "a", 2}));
       },
       ""},
      {"a capacity that the device has not",
       [](F& f) {
         f.Add(SliceBuilder("s", "driver-a", "pool-1")
                   .Device(DeviceBuilder("d1").Capacity("memory", "8Gi"))
                   .Device(DeviceBuilder("d2").Capacity("cores", "8")));
         f.Add(ClaimBuilder("c").Request(RequestBuilder("r", "a").Capacity("cores", "1")));
       },
       "r=driver-a/pool-1/d2"},
      {"a device of one claim must have it all the same",
       [](F& f) {
         f.Add(SliceBuilder("s", "driver-a", "pool-1")
                   .Device(DeviceBuilder("d1").Capacity("memory", "8Gi")));
         f.Add(ClaimBuilder("c").Request(RequestBuilder("r", "a").Capacity("memory", "9Gi")));
       },
       ""},
      {"a device of one claim has no share",
       [](F& f) {
         f.Add(SliceBuilder("s", "driver-a", "pool-1")
                   .Device(DeviceBuilder("d1").Capacity("memory", "8Gi")));
         f.Add(ClaimBuilder("c").Request(RequestBuilder("r", "a").Capacity("memory", "1Gi")));
       },
       "r=driver-a/pool-1/d1"},
      {"a device that is shared now and was given whole",
       [](F& f) {
         f.Add(SliceBuilder("s", "driver-a", "pool-1").Device(DeviceBuilder("d1").Shared()));
         f.inventory.AddAllocation(F::Held("d1"));
         f.Add(ClaimBuilder("c").Request({"r", "a"}));
       },
       ""},
      {"all devices: one without enough left",
       [](F& f) {
         f.Add(SliceBuilder("s", "driver-a", "pool-1")
                   .Device(DeviceBuilder("d1").Shared().Capacity("memory", "8Gi"))
                   .Device(DeviceBuilder("d2").Shared().Capacity("memory", "8Gi")));
         f.inventory.AddAllocation(F::Held("d2", "share-1", {{"memory", Amount("5Gi")}}));
         f.Add(ClaimBuilder("c").Request(RequestBuilder("r", "a").All().Capacity("memory", "4Gi")));
       },
       ""},
      {"all devices: one that never had enough is left out",
       [](F& f) {
         f.Add(SliceBuilder("s", "driver-a", "pool-1")
                   .Device(DeviceBuilder("d1").Shared().Capacity("memory", "8Gi"))
                   .Device(DeviceBuilder("d2").Shared().Capacity("memory", "2Gi")));
         f.Add(ClaimBuilder("c").Request(RequestBuilder("r", "a").All().Capacity("memory", "4Gi")));
       },
       "r=driver-a/pool-1/d1(memory 4Gi)"},
      {"who shares a device shares its counters",
       [](F& f) {
         f.Add(SliceBuilder("counters", "driver-a", "pool-1").Of(2).Counter("card", "unit", "4"));
         f.Add(SliceBuilder("devices", "driver-a", "pool-1")
                   .Of(2)
                   .Device(DeviceBuilder("d")
                               .Shared()
                               .Capacity("memory", "8Gi")
                               .Consumes("card", "unit", "4")));
         f.Add(ClaimBuilder("c1").Request(RequestBuilder("r", "a").Capacity("memory", "4Gi")));
         f.Add(ClaimBuilder("c2").Request(RequestBuilder("r", "a").Capacity("memory", "4Gi")));
       },
       "r=driver-a/pool-1/d(memory 4Gi) | r=driver-a/pool-1/d(memory 4Gi)"},
      {"also with those who had it before",
       [](F& f) {
         f.Add(SliceBuilder("counters", "driver-a", "pool-1").Of(2).Counter("card", "unit", "4"));
         f.Add(SliceBuilder("devices", "driver-a", "pool-1")
                   .Of(2)
                   .Device(DeviceBuilder("d")
                               .Shared()
                               .Capacity("memory", "8Gi")
                               .Consumes("card", "unit", "4")));
         f.inventory.AddAllocation(F::Held("d", "share-1", {{"memory", Amount("4Gi")}}));
         f.Add(ClaimBuilder("c").Request(RequestBuilder("r", "a").Capacity("memory", "4Gi")));
       },
       "r=driver-a/pool-1/d(memory 4Gi)"},
  });
}

TEST(AllocatorCapacityTest, PoliciesRoundUpAndRefuse) {
  struct {
    const char* name;
    DeviceBuilder device;
    const char* request;
    const char* want;
    bool fractional = false;
  } cases[] = {
      {"below the least", DeviceBuilder("d").Shared().Capacity("c", "10").Range("2", "", ""), "1",
       "r=driver-a/pool-1/d(c 2)"},
      {"up to the next step", DeviceBuilder("d").Shared().Capacity("c", "10").Range("2", "", "3"),
       "3", "r=driver-a/pool-1/d(c 5)"},
      {"on a step", DeviceBuilder("d").Shared().Capacity("c", "10").Range("2", "", "3"), "5",
       "r=driver-a/pool-1/d(c 5)"},
      {"in the step's format",
       DeviceBuilder("d").Shared().Capacity("c", "10Gi").Range("1Gi", "", "1Gi"), "1500M",
       "r=driver-a/pool-1/d(c 2Gi)"},
      {"above the most", DeviceBuilder("d").Shared().Capacity("c", "10").Range("2", "6", ""), "7",
       ""},
      {"the next value", DeviceBuilder("d").Shared().Capacity("c", "10").Values({"1", "4"}), "2",
       "r=driver-a/pool-1/d(c 4)"},
      {"above all values", DeviceBuilder("d").Shared().Capacity("c", "10").Values({"1", "4"}), "5",
       ""},
      {"thousandths are whole numbers without the gate",
       DeviceBuilder("d").Shared().Capacity("c", "10").Range("500m", "", "250m"), "600m",
       "r=driver-a/pool-1/d(c 1)"},
      {"and thousandths with it",
       DeviceBuilder("d").Shared().Capacity("c", "10").Range("500m", "", "250m"), "600m",
       "r=driver-a/pool-1/d(c 750m)", true},
      {"a whole number of thousandths",
       DeviceBuilder("d").Shared().Capacity("c", "10").Range("500m", "", "250m"), "900m",
       "r=driver-a/pool-1/d(c 1)", true},
      {"less than a thousandth",
       DeviceBuilder("d").Shared().Capacity("c", "10").Range("500m", "", "250m"), "600100u",
       "error: claim ns/c, request r: checking capacity for device driver-a/pool-1/d: capacity "
       "\"c\": capacity request cannot be represented in the device's range arithmetic: request "
       "600100u is not a representable milli value",
       true},
      {"rounded up past the largest number",
       DeviceBuilder("d").Shared().Capacity("c", "10").Range("0", "", "9223372036854775806"),
       "9223372036854775807",
       "error: claim ns/c, request r: checking capacity for device driver-a/pool-1/d: capacity "
       "\"c\": capacity request cannot be represented in the device's range arithmetic: rounding "
       "request 9223372036854775807 up to the next step passes MaxInt64"},
      {"beyond 64 bits", DeviceBuilder("d").Shared().Capacity("c", "4").Range("1", "4", "1"),
       "1e20",
       "error: claim ns/c, request r: checking capacity for device driver-a/pool-1/d: capacity "
       "\"c\": capacity request cannot be represented in the device's range arithmetic: request "
       "100e18 exceeds MaxInt64"},
      {"from a negative least to the largest number",
       DeviceBuilder("d").Shared().Capacity("c", "10").Range("-9", "", "9223372036854775807"),
       "9223372036854775806",
       "error: claim ns/c, request r: checking capacity for device driver-a/pool-1/d: capacity "
       "\"c\": capacity request cannot be represented in the device's range arithmetic: rounding "
       "request 9223372036854775806 up to the next step passes MaxInt64"},
      {"negative", DeviceBuilder("d").Shared().Capacity("c", "10"), "-1",
       "error: claim ns/c, request r: checking capacity for device driver-a/pool-1/d: capacity "
       "\"c\": capacity value is negative"},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    AllocatorFeatures features = DefaultFeatures();
    features.fractional_capacity_range = c.fractional;
    AllocatorFixture f(features);
    f.Add(SliceBuilder("s", "driver-a", "pool-1").Device(c.device));
    f.Add(ClaimBuilder("c").Request(RequestBuilder("r", "a").Capacity("c", c.request)));
    EXPECT_EQ(f.Allocate(), c.want);
  }
}

TEST(AllocatorCapacityTest, WithoutTheGateASharedDeviceIsHeldWhole) {
  AllocatorFeatures features = DefaultFeatures();
  features.consumable_capacity = false;
  AllocatorFixture f(features);
  f.Add(SliceBuilder("s", "driver-a", "pool-1")
            .Device(DeviceBuilder("d1").Shared().Capacity("memory", "8Gi"))
            .Device(DeviceBuilder("d2").Shared().Capacity("memory", "8Gi")));
  f.inventory.AddAllocation(F::Held("d1", "share-1"));
  f.Add(ClaimBuilder("c").Request({"r", "a"}));
  EXPECT_EQ(f.Allocate(), "r=driver-a/pool-1/d2");
  ASSERT_EQ(f.results.size(), 1u);
  EXPECT_FALSE(f.results[0].devices.results[0].share_id);
}

TEST(AllocatorCapacityTest, EveryShareHasAnIdOfItsOwn) {
  AllocatorFixture f;
  f.Add(SliceBuilder("s", "driver-a", "pool-1").Device(DeviceBuilder("d1").Shared()));
  f.Add(ClaimBuilder("c").Request({"r1", "a"}).Request({"r2", "a"}));
  EXPECT_EQ(f.Allocate(), "r1=driver-a/pool-1/d1 r2=driver-a/pool-1/d1");
  const auto& results = f.results[0].devices.results;
  ASSERT_TRUE(results[0].share_id && results[1].share_id);
  EXPECT_NE(*results[0].share_id, *results[1].share_id);
  ASSERT_EQ(results[0].share_id->size(), 36u);
  EXPECT_EQ((*results[0].share_id)[14], '4');
}

}  // namespace
}  // namespace berth::plugins::dra
