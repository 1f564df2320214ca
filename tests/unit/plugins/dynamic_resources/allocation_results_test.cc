// SPDX-License-Identifier: Apache-2.0
// What is written into a claim's status for the devices that were found.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/unit/plugins/dynamic_resources/allocator_fixture.h"

namespace berth::plugins::dra {
namespace {

// "source:parameters[request request]" of each.
std::string ConfigText(const api::AllocationResult& result) {
  std::string text;
  for (const auto& config : result.devices.config) {
    text += (text.empty() ? "" : " ") + config.source + ":" + config.opaque->parameters.text + "[";
    for (size_t i = 0; i < config.requests.size(); ++i)
      text += (i == 0 ? "" : " ") + config.requests[i];
    text += ']';
  }
  return text;
}

std::string SelectorText(const api::AllocationResult& result) {
  if (!result.node_selector) return "everywhere";
  std::string text;
  const auto add = [&text](const auto& requirements, const char* kind) {
    for (const auto& requirement : requirements) {
      text += (text.empty() ? "" : " ") + std::string(kind) + requirement.key + " " +
              requirement.operator_;
      for (const std::string& value : requirement.values) text += " " + value;
    }
  };
  EXPECT_EQ(result.node_selector->node_selector_terms.size(), 1u);
  for (const auto& term : result.node_selector->node_selector_terms) {
    add(term.match_fields, "field ");
    add(term.match_expressions, "label ");
  }
  return text;
}

TEST(AllocationResultsTest, ConfigurationComesFromClassesOnceAndThenFromTheClaim) {
  AllocatorFixture f;
  f.classes.push_back(MakeClass("with", {}, {"c1", "c2"}));
  f.classes.push_back(MakeClass("other", {}, {"o"}));
  f.Add(SliceBuilder("s", "driver-a", "pool-1").Devices({"d1", "d2", "d3", "d4"}));
  f.Add(ClaimBuilder("c")
            .Request({"r1", "with"})
            .Request({"r2", "other"})
            .Request(FirstOf("r3", {{"x", "b"}, {"y", "with"}}))
            .Config("all")
            .Config("one", {"r2"})
            .Config("parent", {"r3"})
            .Config("chosen", {"r3/y"})
            .Config("not-chosen", {"r3/x"})
            .Config("every", {"r3/y", "r1", "r2"}));
  ASSERT_NE(f.Allocate(), "");
  EXPECT_EQ(ConfigText(f.results[0]),
            "FromClass:c1[r1 r3/y] FromClass:c2[r1 r3/y] FromClass:o[r2] FromClaim:all[] "
            "FromClaim:one[r2] FromClaim:parent[r3] FromClaim:chosen[r3/y] FromClaim:every[]");
}

TEST(AllocationResultsTest, AClassOfAllRequestsNamesNone) {
  AllocatorFixture f;
  f.classes.push_back(MakeClass("with", {}, {"c1"}));
  f.Add(SliceBuilder("s", "driver-a", "pool-1").Devices({"d1", "d2"}));
  f.Add(ClaimBuilder("c").Request({"r1", "with"}).Request({"r2", "with"}));
  ASSERT_NE(f.Allocate(), "");
  EXPECT_EQ(ConfigText(f.results[0]), "FromClass:c1[]");
}

TEST(AllocationResultsTest, TheNodeSelectorIsWhereAllDevicesCanBeReached) {
  const struct {
    const char* name;
    std::vector<SliceBuilder> slices;
    const char* want;
  } cases[] = {
      {"a device of the node",
       {SliceBuilder("s", "driver-a", "pool-1").Devices({"d1", "d2"})},
       "field metadata.name In node-1"},
      {"devices of all nodes",
       {SliceBuilder("s", "driver-a", "pool-1").AllNodes().Devices({"d1", "d2"})},
       "everywhere"},
      {"devices of some",
       {SliceBuilder("s1", "driver-a", "pool-1").Label("zone", "z1").Devices({"d1"}),
        SliceBuilder("s2", "driver-a", "pool-2").Label("name", "node-1").Devices({"d2"})},
       "label zone In z1 label name In node-1"},
      {"of the same ones twice",
       {SliceBuilder("s1", "driver-a", "pool-1").Label("zone", "z1").Devices({"d1"}),
        SliceBuilder("s2", "driver-a", "pool-2").Label("zone", "z1").Devices({"d2"})},
       "label zone In z1"},
      {"of some and of the node",
       {SliceBuilder("s1", "driver-a", "pool-1").Label("zone", "z1").Devices({"d1"}),
        SliceBuilder("s2", "driver-a", "pool-2").Devices({"d2"})},
       "field metadata.name In node-1"},
      {"a device that binds to the node it is used on",
       {SliceBuilder("s", "driver-a", "pool-1")
            .AllNodes()
            .Devices({"d1"})
            .Device(DeviceBuilder("d2").BindsToNode())},
       "field metadata.name In node-1"},
      {"each device for itself",
       {SliceBuilder("s", "driver-a", "pool-1")
            .EachDevice()
            .Device(DeviceBuilder("d1").OnLabel("zone", "z1"))
            .Device(DeviceBuilder("d2").OnLabel("name", "node-1"))},
       "label zone In z1 label name In node-1"},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    AllocatorFixture f;
    for (const SliceBuilder& slice : c.slices) f.Add(slice);
    f.Add(ClaimBuilder("c").Request({"r", "any", 2}));
    ASSERT_NE(f.Allocate(), "");
    EXPECT_EQ(SelectorText(f.results[0]), c.want);
  }
}

TEST(AllocationResultsTest, TheStableAllocatorDoesNotKnowDevicesThatBindToANode) {
  for (const bool binding_conditions : {false, true}) {
    AllocatorFixture f(AllocatorFeatures{.device_binding_and_status = binding_conditions});
    f.Add(SliceBuilder("s", "driver-a", "pool-1")
              .AllNodes()
              .Device(DeviceBuilder("d").BindsToNode()));
    f.Add(ClaimBuilder("c").Request({"r", "any"}));
    ASSERT_NE(f.Allocate(), "");
    EXPECT_EQ(SelectorText(f.results[0]),
              binding_conditions ? "field metadata.name In node-1" : "everywhere");
  }
}

TEST(AllocationResultsTest, ASelectorOfSeveralTermsIsNotSupported) {
  AllocatorFixture f;
  SliceBuilder slice = SliceBuilder("s", "driver-a", "pool-1").Label("zone", "z1").Devices({"d"});
  auto& terms = slice.slice.spec.node_selector->node_selector_terms;
  terms.push_back(terms.front());
  f.Add(slice);
  f.Add(ClaimBuilder("c").Request({"r", "any"}));
  EXPECT_EQ(f.Allocate(),
            "error: create NodeSelector for claim c: unsupported ResourceSlice.NodeSelector with 2 "
            "terms");
}

TEST(AllocationResultsTest, TolerationsAndBindingConditionsAreCopied) {
  AllocatorFixture f;
  f.Add(SliceBuilder("s", "driver-a", "pool-1")
            .Device(DeviceBuilder("d").Conditions("Ready", "Failed").Taint("t")));
  f.Add(ClaimBuilder("c").Request(RequestBuilder("r", "a").Tolerates("t")));
  ASSERT_EQ(f.Allocate(), "r=driver-a/pool-1/d");
  const auto& result = f.results[0].devices.results[0];
  ASSERT_EQ(result.tolerations.size(), 1u);
  EXPECT_EQ(result.tolerations[0].key, "t");
  EXPECT_EQ(result.binding_conditions, std::vector<std::string>{"Ready"});
  EXPECT_EQ(result.binding_failure_conditions, std::vector<std::string>{"Failed"});
}

}  // namespace
}  // namespace berth::plugins::dra
