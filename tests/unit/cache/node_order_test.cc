// SPDX-License-Identifier: Apache-2.0
#include "src/cache/node_order.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "src/cache/cache.h"
#include "tests/support/builders.h"

namespace berth::cache {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr const char* kZone = "topology.kubernetes.io/zone";
constexpr const char* kRegion = "topology.kubernetes.io/region";

class NodeOrderTest : public testing::Test {
 protected:
  void Set(std::string_view name, std::string_view zone) {
    cache_.SetNode(test::MakeNode(name).Label(kZone, zone).Ptr());
  }
  std::vector<std::string> Names() const {
    std::vector<std::string> names;
    for (const NodeRow row : cache_.node_order().rows()) names.emplace_back(cache_.node_name(row));
    return names;
  }

  Cache cache_;
};

TEST_F(NodeOrderTest, WithoutZonesNodesStandAsTheyCame) {
  EXPECT_THAT(Names(), IsEmpty());
  for (const char* name : {"c", "a", "b"}) cache_.SetNode(test::MakeNode(name).Ptr());
  EXPECT_THAT(Names(), ElementsAre("c", "a", "b"));
}

TEST_F(NodeOrderTest, ZonesTakeTurnsUntilEachIsExhausted) {
  for (const char* name : {"a1", "a2", "a3"}) Set(name, "a");
  for (const char* name : {"b1", "b2"}) Set(name, "b");
  cache_.SetNode(test::MakeNode("none").Ptr());
  EXPECT_THAT(Names(), ElementsAre("a1", "b1", "none", "a2", "b2", "a3"));
}

TEST_F(NodeOrderTest, ANodeThatGoesLeavesItsPlaceAndOneThatComesStandsLast) {
  for (const char* name : {"a1", "a2"}) Set(name, "a");
  Set("b1", "b");
  cache_.RemoveNode("a1");
  EXPECT_THAT(Names(), ElementsAre("a2", "b1"));
  Set("a3", "a");  // takes a1's row
  EXPECT_THAT(Names(), ElementsAre("a2", "b1", "a3"));
  // A zone that ran empty and is filled again comes last, too.
  cache_.RemoveNode("a2");
  cache_.RemoveNode("a3");
  Set("b2", "b");
  Set("a4", "a");
  EXPECT_THAT(Names(), ElementsAre("b1", "a4", "b2"));
}

TEST_F(NodeOrderTest, AnUpdateMovesANodeOnlyToAnotherZone) {
  for (const char* name : {"a1", "a2"}) Set(name, "a");
  Set("b1", "b");
  cache_.SetNode(test::MakeNode("a1").Label(kZone, "a").Label("tier", "gold").Ptr());
  EXPECT_THAT(Names(), ElementsAre("a1", "b1", "a2"));
  Set("a1", "b");
  EXPECT_THAT(Names(), ElementsAre("a2", "b1", "a1"));
}

TEST_F(NodeOrderTest, AZoneIsOfItsRegionAndTheOlderLabelsCountFirst) {
  cache_.SetNode(test::MakeNode("r1a").Label(kRegion, "r1").Label(kZone, "a").Ptr());
  cache_.SetNode(test::MakeNode("r1b").Label(kRegion, "r1").Label(kZone, "a").Ptr());
  cache_.SetNode(test::MakeNode("r2").Label(kRegion, "r2").Label(kZone, "a").Ptr());
  cache_.SetNode(test::MakeNode("old")
                     .Label("failure-domain.beta.kubernetes.io/region", "r2")
                     .Label("failure-domain.beta.kubernetes.io/zone", "a")
                     .Label(kZone, "x")
                     .Ptr());
  EXPECT_THAT(Names(), ElementsAre("r1a", "r2", "r1b", "old"));
}

}  // namespace
}  // namespace berth::cache
