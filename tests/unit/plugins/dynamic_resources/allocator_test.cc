// SPDX-License-Identifier: Apache-2.0
#include "plugins/dynamic_resources/allocator/allocator.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/unit/plugins/dynamic_resources/allocator_fixture.h"

namespace berth::plugins::dra {
namespace {

using F = AllocatorFixture;

SliceBuilder Pool1(std::vector<std::string> devices) {
  return SliceBuilder("slice-1", "driver-a", "pool-1").Devices(std::move(devices));
}

TEST(AllocatorTest, GivesTheFirstDevicesThatAreFree) {
  Check({
      {"no claims", [](F&) {}, ""},
      {"nothing published", [](F& f) { f.Add(ClaimBuilder("c").Request({"r", "a"})); }, ""},
      {"one of two",
       [](F& f) {
         f.Add(Pool1({"d1", "d2"}));
         f.Add(ClaimBuilder("c").Request({"r", "a"}));
       },
       "r=driver-a/pool-1/d1"},
      {"the order in the slice counts, not the name",
       [](F& f) {
         f.Add(Pool1({"d2", "d1"}));
         f.Add(ClaimBuilder("c").Request({"r", "a"}));
       },
       "r=driver-a/pool-1/d2"},
      {"held by another claim",
       [](F& f) {
         f.Add(Pool1({"d1", "d2"}));
         f.inventory.AddAllocation(F::Held("d1"));
         f.Add(ClaimBuilder("c").Request({"r", "a"}));
       },
       "r=driver-a/pool-1/d2"},
      {"too few",
       [](F& f) {
         f.Add(Pool1({"d1", "d2"}));
         f.Add(ClaimBuilder("c").Request({"r", "a", 3}));
       },
       ""},
      {"two claims, two requests",
       [](F& f) {
         f.Add(Pool1({"d1", "d2", "d3", "d4"}));
         f.Add(ClaimBuilder("c1").Request({"r1", "a", 2}).Request({"r2", "a"}));
         f.Add(ClaimBuilder("c2").Request({"r1", "a"}));
       },
       "r1=driver-a/pool-1/d1 r1=driver-a/pool-1/d2 r2=driver-a/pool-1/d3 | r1=driver-a/pool-1/d4"},
      {"selectors of class and request",
       [](F& f) {
         f.Add(SliceBuilder("slice-1", "driver-b", "pool-1")
                   .Device(DeviceBuilder("d1").String("model", "x")));
         f.Add(SliceBuilder("slice-2", "driver-a", "pool-1")
                   .Device(DeviceBuilder("d1").String("model", "y"))
                   .Device(DeviceBuilder("d2").String("model", "x")));
         f.Add(ClaimBuilder("c").Request(RequestBuilder("r", "a").Selector("model=x")));
       },
       "r=driver-a/pool-1/d2"},
      {"an earlier request gives way",
       [](F& f) {
         f.Add(SliceBuilder("slice-1", "driver-a", "pool-1")
                   .Device(DeviceBuilder("small").String("size", "s"))
                   .Device(DeviceBuilder("large").String("size", "l")));
         f.Add(ClaimBuilder("c")
                   .Request({"any", "a"})
                   .Request(RequestBuilder("small", "a").Selector("size=s")));
       },
       "any=driver-a/pool-1/large small=driver-a/pool-1/small"},
      {"an earlier claim gives way",
       [](F& f) {
         f.Add(SliceBuilder("slice-1", "driver-a", "pool-1")
                   .Device(DeviceBuilder("small").String("size", "s"))
                   .Device(DeviceBuilder("large").String("size", "l")));
         f.Add(ClaimBuilder("c1").Request({"any", "a"}));
         f.Add(ClaimBuilder("c2").Request(RequestBuilder("small", "a").Selector("size=s")));
       },
       "any=driver-a/pool-1/large | small=driver-a/pool-1/small"},
  });
}

TEST(AllocatorTest, PoolsAreSearchedByDriverAndNameAndSlicesByName) {
  Check({
      {"drivers, then pools, then slices",
       [](F& f) {
         f.Add(SliceBuilder("z", "driver-b", "pool-1").Devices({"b1"}));
         f.Add(SliceBuilder("y", "driver-a", "pool-2").Devices({"a2"}));
         f.Add(SliceBuilder("x", "driver-a", "pool-1").Of(2).Devices({"x1"}));
         f.Add(SliceBuilder("w", "driver-a", "pool-1").Of(2).Devices({"w1"}));
         f.Add(ClaimBuilder("c").Request({"r", "any", 4}));
       },
       "r=driver-a/pool-1/w1 r=driver-a/pool-1/x1 r=driver-a/pool-2/a2 r=driver-b/pool-1/b1"},
      {"pools with binding conditions last",
       [](F& f) {
         f.Add(SliceBuilder("s1", "driver-a", "pool-1")
                   .Device(DeviceBuilder("slow").Conditions("Ready", "Failed"))
                   .Devices({"beside"}));
         f.Add(SliceBuilder("s2", "driver-a", "pool-2").Devices({"d2"}));
         f.Add(SliceBuilder("s3", "driver-b", "pool-1").Devices({"d3"}));
         f.Add(ClaimBuilder("c").Request({"r", "any", 4}));
       },
       "r=driver-a/pool-2/d2 r=driver-b/pool-1/d3 r=driver-a/pool-1/slow r=driver-a/pool-1/beside"},
  });
}

TEST(AllocatorTest, APoolIsUsedWhenItIsWholeAndOfOneGeneration) {
  Check({
      {"not all slices are there",
       [](F& f) {
         f.Add(Pool1({"d1"}).Of(2));
         f.Add(ClaimBuilder("c").Request({"r", "a"}));
       },
       ""},
      {"the other slice is another node's",
       [](F& f) {
         f.Add(Pool1({"d1"}).Of(2));
         f.Add(SliceBuilder("slice-2", "driver-a", "pool-1").Of(2).Node("node-2").Devices({"d2"}));
         f.Add(ClaimBuilder("c").Request({"r", "a"}));
       },
       "r=driver-a/pool-1/d1"},
      {"an old slice is not looked at",
       [](F& f) {
         f.Add(SliceBuilder("a-old", "driver-a", "pool-1").Of(1, 1).Devices({"old"}));
         f.Add(SliceBuilder("b-new", "driver-a", "pool-1").Of(1, 2).Devices({"new"}));
         f.Add(ClaimBuilder("c").Request({"r", "a"}));
       },
       "r=driver-a/pool-1/new"},
      {"an incomplete old generation, the newer one elsewhere",
       [](F& f) {
         f.Add(SliceBuilder("a-old", "driver-a", "pool-1").Of(2, 1).Devices({"old"}));
         f.Add(SliceBuilder("b-new", "driver-a", "pool-1").Of(1, 2).Node("node-2").Devices({"n"}));
         f.Add(ClaimBuilder("c").Request(RequestBuilder("r", "a").All()));
       },
       ""},
      {"a complete old generation is used, whatever is elsewhere",
       [](F& f) {
         f.Add(SliceBuilder("a-old", "driver-a", "pool-1").Of(1, 1).Devices({"old"}));
         f.Add(SliceBuilder("b-new", "driver-a", "pool-1").Of(1, 2).Node("node-2").Devices({"n"}));
         f.Add(ClaimBuilder("c").Request({"r", "a"}));
       },
       "r=driver-a/pool-1/old"},
      {"all devices, but a pool is incomplete",
       [](F& f) {
         f.Add(Pool1({"d1"}).Of(2));
         f.Add(ClaimBuilder("c").Request(RequestBuilder("r", "a").All()));
       },
       "error: claim ns/c, request r: asks for all devices, but resource pool driver-a/pool-1 is "
       "currently being updated"},
      {"two devices of one name",
       [](F& f) {
         f.Add(Pool1({"d1", "d1"}));
         f.Add(ClaimBuilder("c").Request({"r", "a"}));
       },
       "invalid: invalid resource pools were encountered"},
      {"an invalid pool does no harm where another one helps",
       [](F& f) {
         f.Add(Pool1({"d1", "d1"}));
         f.Add(SliceBuilder("slice-2", "driver-a", "pool-2").Devices({"d2"}));
         f.Add(ClaimBuilder("c").Request({"r", "a"}));
       },
       "r=driver-a/pool-2/d2"},
      {"all devices, but a pool is invalid",
       [](F& f) {
         f.Add(Pool1({"d1", "d1"}));
         f.Add(ClaimBuilder("c").Request(RequestBuilder("r", "a").All()));
       },
       "error: claim ns/c, request r: asks for all devices, but resource pool driver-a/pool-1 is "
       "currently invalid"},
  });
}

TEST(AllocatorTest, SlicesAndDevicesChooseNodes) {
  Check({
      {"another node's",
       [](F& f) {
         f.Add(Pool1({"d1"}).Node("node-2"));
         f.Add(ClaimBuilder("c").Request({"r", "a"}));
       },
       ""},
      {"all nodes",
       [](F& f) {
         f.Add(Pool1({"d1"}).AllNodes());
         f.Add(ClaimBuilder("c").Request({"r", "a"}));
       },
       "r=driver-a/pool-1/d1"},
      {"by label",
       [](F& f) {
         f.Add(Pool1({"d1"}).Label("zone", "z1"));
         f.Add(ClaimBuilder("c").Request({"r", "a"}));
       },
       "r=driver-a/pool-1/d1"},
      {"by a label of others",
       [](F& f) {
         f.Add(Pool1({"d1"}).Label("zone", "z2"));
         f.Add(ClaimBuilder("c").Request({"r", "a"}));
       },
       ""},
      {"nothing that is known",
       [](F& f) {
         SliceBuilder slice = Pool1({"d1"});
         slice.slice.spec.node_name.reset();
         f.Add(slice);
         f.Add(ClaimBuilder("c").Request({"r", "a"}));
       },
       ""},
      {"each device by itself",
       [](F& f) {
         f.Add(SliceBuilder("slice-1", "driver-a", "pool-1")
                   .EachDevice()
                   .Device(DeviceBuilder("far").OnNode("node-2"))
                   .Device(DeviceBuilder("zone").OnLabel("zone", "z1"))
                   .Device(DeviceBuilder("near").OnNode("node-1")));
         f.Add(ClaimBuilder("c").Request({"r", "a", 2}));
       },
       "r=driver-a/pool-1/zone r=driver-a/pool-1/near"},
      {"a selector that cannot be read",
       [](F& f) {
         f.Add(Pool1({"d1"}).Label("zone", "z1", "Near"));
         f.Add(ClaimBuilder("c").Request({"r", "a"}));
       },
       "error: gather pool information: failed to perform node selection for slice slice-1: failed "
       "to parse node selector &NodeSelector{NodeSelectorTerms:[]NodeSelectorTerm{NodeSelectorTerm"
       "{MatchExpressions:[]NodeSelectorRequirement{NodeSelectorRequirement{Key:zone,Operator:Near,"
       "Values:[z1],},},MatchFields:[]NodeSelectorRequirement{},},},}: nodeSelectorTerms[0]."
       "matchExpressions[0].operator: Unsupported value: \"Near\": supported values: \"In\", "
       "\"NotIn\", \"Exists\", \"DoesNotExist\", \"Gt\", \"Lt\""},
  });
}

TEST(AllocatorTest, AllMeansEveryDeviceThatCouldBeHad) {
  Check({
      {"all",
       [](F& f) {
         f.Add(Pool1({"d1", "d2"}));
         f.Add(SliceBuilder("slice-2", "driver-b", "pool-1").Devices({"other"}));
         f.Add(ClaimBuilder("c").Request(RequestBuilder("r", "a").All()));
       },
       "r=driver-a/pool-1/d1 r=driver-a/pool-1/d2"},
      {"none is there",
       [](F& f) {
         f.Add(Pool1({}));
         f.Add(ClaimBuilder("c").Request(RequestBuilder("r", "a").All()));
       },
       ""},
      {"one is held",
       [](F& f) {
         f.Add(Pool1({"d1", "d2"}));
         f.inventory.AddAllocation(F::Held("d2"));
         f.Add(ClaimBuilder("c").Request(RequestBuilder("r", "a").All()));
       },
       ""},
      {"one is held, with admin access",
       [](F& f) {
         f.Add(Pool1({"d1", "d2"}));
         f.inventory.AddAllocation(F::Held("d2"));
         f.Add(ClaimBuilder("c").Request(RequestBuilder("r", "a").All().Admin()));
       },
       "r=driver-a/pool-1/d1(admin) r=driver-a/pool-1/d2(admin)"},
      {"beside another request",
       [](F& f) {
         f.Add(Pool1({"d1", "d2"}));
         f.Add(SliceBuilder("slice-2", "driver-b", "pool-1").Devices({"b1", "b2"}));
         f.Add(ClaimBuilder("c").Request({"one", "b"}).Request(RequestBuilder("all", "a").All()));
       },
       "one=driver-b/pool-1/b1 all=driver-a/pool-1/d1 all=driver-a/pool-1/d2"},
      {"another request has one of them",
       [](F& f) {
         f.Add(Pool1({"d1", "d2"}));
         f.Add(ClaimBuilder("c").Request({"one", "a"}).Request(RequestBuilder("all", "a").All()));
       },
       ""},
      {"a constraint keeps one out",
       [](F& f) {
         f.Add(SliceBuilder("slice-1", "driver-a", "pool-1")
                   .Device(DeviceBuilder("d1").Int("numa", 0))
                   .Device(DeviceBuilder("d2").Int("numa", 1)));
         f.Add(ClaimBuilder("c").Request(RequestBuilder("r", "a").All()).Match("driver-a/numa"));
       },
       "error: claim ns/c, request r: cannot add device driver-a/pool-1/d2 because a claim "
       "constraint would not be satisfied"},
  });
}

TEST(AllocatorTest, AdminAccessTakesNothingAway) {
  Check({
      {"a device that is held",
       [](F& f) {
         f.Add(Pool1({"d1"}));
         f.inventory.AddAllocation(F::Held("d1"));
         f.Add(ClaimBuilder("c").Request(RequestBuilder("r", "a").Admin()));
       },
       "r=driver-a/pool-1/d1(admin)"},
      {"not the same device twice in one claim",
       [](F& f) {
         f.Add(Pool1({"d1"}));
         f.Add(ClaimBuilder("c").Request(RequestBuilder("r", "a", 2).Admin()));
       },
       ""},
      {"the same device in two claims",
       [](F& f) {
         f.Add(Pool1({"d1"}));
         f.Add(ClaimBuilder("c1").Request(RequestBuilder("r", "a").Admin()));
         f.Add(ClaimBuilder("c2").Request(RequestBuilder("r", "a").Admin()));
       },
       "r=driver-a/pool-1/d1(admin) | r=driver-a/pool-1/d1(admin)"},
      {"but within a pod not before someone else takes it",
       [](F& f) {
         f.Add(Pool1({"d1"}));
         f.Add(ClaimBuilder("c1").Request(RequestBuilder("r", "a").Admin()));
         f.Add(ClaimBuilder("c2").Request({"r", "a"}));
       },
       ""},
      {"adminAccess: false is no admin access",
       [](F& f) {
         f.Add(Pool1({"d1", "d2"}));
         f.inventory.AddAllocation(F::Held("d1"));
         f.Add(ClaimBuilder("c").Request(RequestBuilder("r", "a").Admin(false)));
       },
       "r=driver-a/pool-1/d2"},
  });
}

TEST(AllocatorTest, ConstraintsHoldDevicesTogetherOrApart) {
  Check({
      {"match: backtracks to devices alike",
       [](F& f) {
         f.Add(SliceBuilder("slice-1", "driver-a", "pool-1")
                   .Device(DeviceBuilder("d1").Int("numa", 0))
                   .Device(DeviceBuilder("d2").Int("numa", 1))
                   .Device(DeviceBuilder("d3").Int("numa", 1)));
         f.Add(ClaimBuilder("c").Request({"r", "a", 2}).Match("driver-a/numa"));
       },
       "r=driver-a/pool-1/d2 r=driver-a/pool-1/d3"},
      {"match: types differ",
       [](F& f) {
         f.Add(SliceBuilder("slice-1", "driver-a", "pool-1")
                   .Device(DeviceBuilder("d1").Int("numa", 0))
                   .Device(DeviceBuilder("d2").String("numa", "0")));
         f.Add(ClaimBuilder("c").Request({"r", "a", 2}).Match("driver-a/numa"));
       },
       ""},
      {"match: full name and the driver's own short one",
       [](F& f) {
         f.Add(SliceBuilder("slice-1", "driver-a", "pool-1")
                   .Device(DeviceBuilder("d1").String("driver-a/root", "x"))
                   .Device(DeviceBuilder("d2").String("root", "x")));
         f.Add(ClaimBuilder("c").Request({"r", "a", 2}).Match("driver-a/root"));
       },
       "r=driver-a/pool-1/d1 r=driver-a/pool-1/d2"},
      {"match: another domain",
       [](F& f) {
         f.Add(SliceBuilder("slice-1", "driver-a", "pool-1")
                   .Device(DeviceBuilder("d1").String("root", "x")));
         f.Add(ClaimBuilder("c").Request({"r", "a"}).Match("driver-b/root"));
       },
       ""},
      {"match: only the requests that it names",
       [](F& f) {
         f.Add(SliceBuilder("slice-1", "driver-a", "pool-1")
                   .Device(DeviceBuilder("d1").Int("numa", 0))
                   .Device(DeviceBuilder("d2").Int("numa", 1))
                   .Device(DeviceBuilder("d3").Int("numa", 1)));
         f.Add(ClaimBuilder("c")
                   .Request({"free", "a"})
                   .Request({"r1", "a"})
                   .Request({"r2", "a"})
                   .Match("driver-a/numa", {"r1", "r2"}));
       },
       "free=driver-a/pool-1/d1 r1=driver-a/pool-1/d2 r2=driver-a/pool-1/d3"},
      {"match: a subrequest by its full name, the others not",
       [](F& f) {
         f.Add(SliceBuilder("slice-1", "driver-a", "pool-1")
                   .Device(DeviceBuilder("d1").Int("numa", 0))
                   .Device(DeviceBuilder("d2").Int("numa", 1)));
         f.Add(ClaimBuilder("c")
                   .Request({"r1", "a"})
                   .Request(FirstOf("r2", {{"x", "a"}, {"y", "a"}}))
                   .Match("driver-a/numa", {"r1", "r2/x"}));
       },
       "r1=driver-a/pool-1/d1 r2/y=driver-a/pool-1/d2"},
      {"distinct: skips what is there already",
       [](F& f) {
         f.Add(SliceBuilder("slice-1", "driver-a", "pool-1")
                   .Device(DeviceBuilder("d1").Int("numa", 0))
                   .Device(DeviceBuilder("d2").Int("numa", 0))
                   .Device(DeviceBuilder("d3").Int("numa", 1)));
         f.Add(ClaimBuilder("c").Request({"r", "a", 2}).Distinct("driver-a/numa"));
       },
       "r=driver-a/pool-1/d1 r=driver-a/pool-1/d3"},
      {"distinct: values of other types are others",
       [](F& f) {
         f.Add(SliceBuilder("slice-1", "driver-a", "pool-1")
                   .Device(DeviceBuilder("d1").Int("numa", 0))
                   .Device(DeviceBuilder("d2").String("numa", "0")));
         f.Add(ClaimBuilder("c").Request({"r", "a", 2}).Distinct("driver-a/numa"));
       },
       "r=driver-a/pool-1/d1 r=driver-a/pool-1/d2"},
      {"distinct: the attribute must be there",
       [](F& f) {
         f.Add(Pool1({"d1"}));
         f.Add(ClaimBuilder("c").Request({"r", "a"}).Distinct("driver-a/numa"));
       },
       ""},
      {"distinct: a list is one device's at most, unless gated on",
       [](F& f) {
         f.Add(SliceBuilder("slice-1", "driver-a", "pool-1")
                   .Device(DeviceBuilder("d1").Strings("l", {"x"}))
                   .Device(DeviceBuilder("d2").Strings("l", {"y"})));
         f.Add(ClaimBuilder("c").Request({"r", "a", 2}).Distinct("driver-a/l"));
       },
       ""},
      {"no type at all",
       [](F& f) {
         f.Add(Pool1({"d1"}));
         ClaimBuilder claim = ClaimBuilder("c").Request({"r", "a"});
         claim.claim.spec.devices.constraints.emplace_back();
         f.Add(claim);
       },
       "error: claim ns/c, constraint #0: empty constraint (unsupported constraint type?)"},
  });
}

TEST(AllocatorTest, FirstAvailableTakesTheFirstThatLeadsToASolution) {
  Check({
      {"the first",
       [](F& f) {
         f.Add(Pool1({"d1"}));
         f.Add(ClaimBuilder("c").Request(FirstOf("r", {{"x", "a"}, {"y", "a"}})));
       },
       "r/x=driver-a/pool-1/d1"},
      {"the second",
       [](F& f) {
         f.Add(Pool1({"d1"}));
         f.Add(ClaimBuilder("c").Request(FirstOf("r", {{"x", "b"}, {"y", "a"}})));
       },
       "r/y=driver-a/pool-1/d1"},
      {"none",
       [](F& f) {
         f.Add(Pool1({"d1"}));
         f.Add(ClaimBuilder("c").Request(FirstOf("r", {{"x", "b"}, {"y", "b"}})));
       },
       ""},
      {"a later request makes it give way",
       [](F& f) {
         f.Add(Pool1({"d1", "d2"}));
         f.Add(ClaimBuilder("c")
                   .Request(FirstOf("r1", {{"x", "a", 2}, {"y", "a"}}))
                   .Request({"r2", "a"}));
       },
       "r1/y=driver-a/pool-1/d1 r2=driver-a/pool-1/d2"},
      {"more than a claim may have is passed over",
       [](F& f) {
         std::vector<std::string> names;
         for (int i = 0; i < 40; ++i) names.push_back("d" + std::to_string(i));
         f.Add(Pool1(names));
         f.Add(ClaimBuilder("c").Request(FirstOf("r", {{"x", "a", 33}, {"y", "a", 1}})));
       },
       "r/y=driver-a/pool-1/d0"},
      {"all of them, where there are none",
       [](F& f) {
         f.Add(Pool1({"d1"}));
         f.Add(ClaimBuilder("c").Request(
             FirstOf("r", {RequestBuilder("x", "b").All(), RequestBuilder("y", "a").All()})));
       },
       "r/y=driver-a/pool-1/d1"},
  });
}

TEST(AllocatorTest, ScoreCountsChosenSubrequestsFromEightDown) {
  AllocatorFixture f;
  f.Add(Pool1({"d1", "d2", "d3"}));
  f.Add(ClaimBuilder("c1").Request({"r", "a"}));
  f.Add(ClaimBuilder("c2")
            .Request(FirstOf("r1", {{"x", "a"}, {"y", "b"}}))
            .Request(FirstOf("r2", {{"x", "b"}, {"y", "b"}, {"z", "a"}})));
  EXPECT_EQ(f.Allocate(), "r=driver-a/pool-1/d1 | r1/x=driver-a/pool-1/d2 r2/z=driver-a/pool-1/d3");
  EXPECT_EQ(f.found.score, 8 + 6);
}

TEST(AllocatorTest, AClaimHasThirtyTwoResultsAtMost) {
  const auto with_devices = [](int count) {
    std::vector<std::string> names;
    for (int i = 0; i < count; ++i) names.push_back("d" + std::to_string(i));
    return Pool1(names);
  };
  AllocatorFixture f;
  f.Add(with_devices(40));
  f.Add(ClaimBuilder("c").Request({"r1", "a", 30}).Request({"r2", "a", 2}));
  EXPECT_NE(f.Allocate(), "");
  f.claims.clear();
  f.Add(ClaimBuilder("c").Request({"r1", "a", 30}).Request({"r2", "a", 3}));
  EXPECT_EQ(f.Allocate(),
            "error: claim ns/c, request r2: adding 3 devices exceeds the claim limit of 32, with "
            "30 already accounted for");
  f.claims.clear();
  f.Add(ClaimBuilder("c").Request(RequestBuilder("r1", "a").All()));
  EXPECT_EQ(f.Allocate(),
            "error: claim ns/c, request r1: adding 40 devices exceeds the claim limit of 32, with "
            "0 already accounted for");
  f.claims.clear();
  f.Add(ClaimBuilder("c")
            .Request({"r1", "a", INT64_MAX})
            .Request(FirstOf("r2", {{"x", "a", INT64_MAX}})));
  EXPECT_EQ(f.Allocate(),
            "error: claim ns/c, request r1: adding 9223372036854775807 devices exceeds the claim "
            "limit of 32, with 0 already accounted for");
}

TEST(AllocatorTest, WhatIsWrongWithAClaimIsSaid) {
  Check({
      {"no such class", [](F& f) { f.Add(ClaimBuilder("c").Request({"r", "gone"})); },
       "error: claim ns/c, request r: could not retrieve device class gone: "
       "deviceclass.resource.k8s.io \"gone\" not found"},
      {"no class", [](F& f) { f.Add(ClaimBuilder("c").Request({"r", ""})); },
       "error: claim ns/c, request r: missing device class name (unsupported request type?)"},
      {"a selector of a later version",
       [](F& f) {
         RequestBuilder request("r", "a");
         request.request.exactly->selectors.emplace_back();
         f.Add(ClaimBuilder("c").Request(request));
       },
       "error: claim ns/c, request r, selector #0: CEL expression empty (unsupported selector "
       "type?)"},
      {"a mode of a later version",
       [](F& f) {
         RequestBuilder request("r", "a");
         request.request.exactly->allocation_mode = "Some";
         f.Add(ClaimBuilder("c").Request(request));
       },
       "error: claim ns/c, request r: unsupported count mode Some"},
      {"derived attributes",
       [](F& f) {
         f.Add(ClaimBuilder("c").Request(RequestBuilder("r", "a").Derives("x/y", "attribute:z")));
       },
       "error: claim ns/c, request r: cannot handle request with derived attributes, the feature "
       "is disabled"},
      {"a request's selector does not compile",
       [](F& f) {
         f.Add(Pool1({"d1"}));
         f.Add(ClaimBuilder("c").Request(
             RequestBuilder("r", "a").Selector("true").Selector("compile!")));
       },
       "error: claim ns/c: selector #1: CEL compile error: no such word"},
      {"a class's selector fails",
       [](F& f) {
         f.Add(Pool1({"d1"}));
         f.classes.push_back(MakeClass("broken", {"runtime!"}));
         f.Add(ClaimBuilder("c").Request({"r", "broken"}));
       },
       "error: class broken: selector #0 on device driver-a/pool-1/d1: CEL runtime error: no such "
       "key"},
      {"a selector fails on a device that is not looked at",
       [](F& f) {
         f.Add(Pool1({"d1", "d2"}));
         f.Add(ClaimBuilder("c").Request(RequestBuilder("r", "a").Selector("runtime!d2")));
       },
       "r=driver-a/pool-1/d1"},
      {"a selector fails on a device that the class leaves out",
       [](F& f) {
         f.Add(SliceBuilder("slice-2", "driver-b", "pool-1").Devices({"d2"}));
         f.Add(ClaimBuilder("c").Request(RequestBuilder("r", "a").Selector("runtime!")));
       },
       ""},
  });
}

TEST(AllocatorTest, WithoutTheirGatesFeaturesAreRefused) {
  Check(
      {
          {"first available",
           [](F& f) { f.Add(ClaimBuilder("c").Request(FirstOf("r", {{"x", "a"}}))); },
           "error: claim ns/c, request r: has subrequests, but the DRAPrioritizedList feature is "
           "disabled"},
          {"admin access, even none",
           [](F& f) { f.Add(ClaimBuilder("c").Request(RequestBuilder("r", "a").Admin(false))); },
           "error: claim ns/c, request r: admin access is requested, but the feature is disabled"},
          {"taints are not looked at",
           [](F& f) {
             f.Add(SliceBuilder("slice-1", "driver-a", "pool-1")
                       .Device(DeviceBuilder("d1").Taint("t")));
             f.Add(ClaimBuilder("c").Request({"r", "a"}));
           },
           "r=driver-a/pool-1/d1"},
          {"devices with binding conditions",
           [](F& f) {
             f.Add(SliceBuilder("slice-1", "driver-a", "pool-1")
                       .Device(DeviceBuilder("d1").Conditions("Ready", "Failed")));
             f.Add(ClaimBuilder("c").Request({"r", "a"}));
           },
           ""},
          {"devices that consume counters",
           [](F& f) {
             f.Add(SliceBuilder("slice-1", "driver-a", "pool-1")
                       .Device(DeviceBuilder("d1").Consumes("set", "c", "1"))
                       .Devices({"d2"}));
             f.Add(ClaimBuilder("c").Request({"r", "a"}));
           },
           "r=driver-a/pool-1/d2"},
          {"slices whose devices choose nodes",
           [](F& f) {
             f.Add(SliceBuilder("slice-1", "driver-a", "pool-1")
                       .EachDevice()
                       .Device(DeviceBuilder("d1").OnNode("node-1")));
             f.Add(ClaimBuilder("c").Request({"r", "a"}));
           },
           ""},
      },
      AllocatorFeatures{});
}

TEST(AllocatorTest, TheStableAllocatorDoesNotKnowWhatCameWithShares) {
  const auto fill_capacity = [](F& f) {
    f.Add(Pool1({"d1"}));
    f.Add(ClaimBuilder("c").Request(RequestBuilder("r", "a").Capacity("memory", "1Gi")));
  };
  const auto fill_distinct = [](F& f) {
    f.Add(SliceBuilder("slice-1", "driver-a", "pool-1").Device(DeviceBuilder("d1").Int("n", 0)));
    f.Add(ClaimBuilder("c").Request({"r", "a"}).Distinct("driver-a/n"));
  };
  Check({{"capacity is passed over", fill_capacity, "r=driver-a/pool-1/d1"},
         {"distinct", fill_distinct,
          "error: claim ns/c, constraint #0: empty constraint (unsupported constraint type?)"}},
        AllocatorFeatures{});
  // With one gate more upstream takes another allocator.
  Check({{"capacity", fill_capacity,
          "error: claim ns/c, request r: has capacity requests, but the DRAConsumableCapacity "
          "feature is disabled"},
         {"distinct", fill_distinct, "r=driver-a/pool-1/d1"}},
        AllocatorFeatures{.device_binding_and_status = true});
}

TEST(AllocatorTest, TaintsKeepRequestsAwayThatDoNotTolerateThem) {
  Check({
      {"not tolerated",
       [](F& f) {
         f.Add(SliceBuilder("slice-1", "driver-a", "pool-1")
                   .Device(DeviceBuilder("d1").Taint("t"))
                   .Device(DeviceBuilder("d2").Taint("t", "NoExecute"))
                   .Device(DeviceBuilder("d3").Taint("t", "None")));
         f.Add(ClaimBuilder("c").Request({"r", "a"}));
       },
       "r=driver-a/pool-1/d3"},
      {"tolerated",
       [](F& f) {
         f.Add(SliceBuilder("slice-1", "driver-a", "pool-1")
                   .Device(DeviceBuilder("d1").Taint("other"))
                   .Device(DeviceBuilder("d2").Taint("t").Taint("t", "NoExecute")));
         f.Add(ClaimBuilder("c").Request(RequestBuilder("r", "a").Tolerates("t")));
       },
       "r=driver-a/pool-1/d2"},
      {"one of two effects is not",
       [](F& f) {
         f.Add(SliceBuilder("slice-1", "driver-a", "pool-1")
                   .Device(DeviceBuilder("d2").Taint("t").Taint("t", "NoExecute")));
         f.Add(ClaimBuilder("c").Request(RequestBuilder("r", "a").Tolerates("t", "NoSchedule")));
       },
       ""},
      {"every key",
       [](F& f) {
         f.Add(SliceBuilder("slice-1", "driver-a", "pool-1")
                   .Device(DeviceBuilder("d1").Taint("t").Taint("u")));
         f.Add(ClaimBuilder("c").Request(RequestBuilder("r", "a").Tolerates("")));
       },
       "r=driver-a/pool-1/d1"},
  });
}

TEST(AllocatorTest, TheSearchStopsWhereItsStepsEnd) {
  AllocatorFixture f;
  // Two numa nodes with too few devices each: every set of devices is tried.
  SliceBuilder slice("slice-1", "driver-a", "pool-1");
  for (int i = 0; i < 40; ++i)
    slice.Device(DeviceBuilder("d" + std::to_string(i)).Int("numa", i % 2));
  f.Add(slice);
  f.Add(ClaimBuilder("c").Request({"r", "a", 21}).Match("driver-a/numa"));
  EXPECT_EQ(f.Allocate("node-1", 10'000), "out of steps");
  EXPECT_EQ(f.found.steps, 10'001u);
  // It leaves nothing behind.
  f.claims.clear();
  f.Add(ClaimBuilder("c").Request({"r", "a", 1}));
  EXPECT_EQ(f.Allocate("node-1", 10'000), "r=driver-a/pool-1/d0");
  // What expressions cost counts, too.
  f.expressions.cost = 100'000 * Search::kCelCostPerStep;
  f.Add(ClaimBuilder("d").Request(RequestBuilder("r", "a").Selector("true")));
  EXPECT_EQ(f.Allocate("node-1", 10'000), "out of steps");
}

}  // namespace
}  // namespace berth::plugins::dra
