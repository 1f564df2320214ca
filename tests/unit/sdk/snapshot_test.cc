// SPDX-License-Identifier: Apache-2.0
#include "berth/snapshot.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/builders.h"
#include "tests/support/plain_snapshot.h"

namespace berth {
namespace {

using test::MakeNode;
using test::MakePod;

std::vector<std::string> PodNames(const NodeView& node) {
  std::vector<std::string> pods;
  node.ForEachPod([&](const PodInfo& pod) { pods.push_back(pod.pod->metadata.name); });
  return pods;
}

TEST(OverlayTest, AViewCountsWhatTheOverlayAddsAndTakesAway) {
  test::PlainResourceNames names;
  const ResourceId gpu = names.Intern("nvidia.com/gpu");
  const test::PlainSnapshot snapshot(
      names, {MakeNode("n").Allocatable({{"cpu", "4"}, {"nvidia.com/gpu", "2"}})},
      {MakePod().Name("old").OnNode("n").Req({{"cpu", "1"}, {"nvidia.com/gpu", "1"}}),
       MakePod().Name("stays").OnNode("n").Req({{"memory", "1Mi"}})});
  const PodInfoPtr fresh = MakePod().Name("new").Req({{"cpu", "2"}}).Info(names);

  Overlay overlay;
  const NodeView node = snapshot.view("n", &overlay);
  EXPECT_EQ(node.requested(kCpu), 1000);
  overlay.AddPod(*fresh);
  overlay.RemovePod(snapshot.pod("old"));
  EXPECT_EQ(node.allocatable(kCpu), 4000);
  EXPECT_EQ(node.requested(kCpu), 2000);
  EXPECT_EQ(node.requested(gpu), 0);
  EXPECT_EQ(node.non_zero_requested(kCpu), 2100);
  EXPECT_EQ(node.non_zero_requested(kMemory), 1024 * 1024 + kDefaultMemoryRequest);
  EXPECT_EQ(node.pod_count(), 2);
  EXPECT_THAT(PodNames(node), testing::UnorderedElementsAre("stays", "new"));
}

TEST(OverlayTest, UndoingAnImaginedChangeLeavesNoTrace) {
  test::PlainResourceNames names;
  const test::PlainSnapshot snapshot(names, {MakeNode("n")},
                                     {MakePod().Name("old").OnNode("n").Req({{"cpu", "1"}})});
  const PodInfoPtr fresh = MakePod().Name("new").Req({{"cpu", "2"}}).Info(names);
  Overlay overlay;
  overlay.RemovePod(snapshot.pod("old"));
  overlay.AddPod(*fresh);
  overlay.RemovePod(*fresh);
  overlay.AddPod(snapshot.pod("old"));
  EXPECT_THAT(overlay.added(), testing::IsEmpty());
  EXPECT_THAT(overlay.removed(), testing::IsEmpty());
  const NodeView node = snapshot.view("n", &overlay);
  EXPECT_EQ(node.requested(kCpu), 1000);
  EXPECT_EQ(node.pod_count(), 1);
  EXPECT_THAT(PodNames(node), testing::ElementsAre("old"));
}

TEST(OverlayTest, AmountsThatNoInt64HoldsAreImaginedExactly) {
  test::PlainResourceNames names;
  const std::string most = "9223372036854775807";
  const ResourceId gpu = names.Intern("example.com/gpu");
  const test::PlainSnapshot snapshot(names,
                                     {MakeNode("n").Allocatable({{"example.com/gpu", most}})},
                                     {MakePod().Name("old").OnNode("n").Req({{"cpu", "1"}})});
  const PodInfoPtr one = MakePod().Name("one").Req({{"example.com/gpu", most}}).Info(names);
  const PodInfoPtr two = MakePod().Name("two").Req({{"example.com/gpu", most}}).Info(names);
  Overlay overlay;
  const NodeView node = snapshot.view("n", &overlay);
  overlay.AddPod(*one);
  overlay.AddPod(*two);
  EXPECT_EQ(node.requested(gpu), kMostAmount);
  overlay.RemovePod(*one);
  EXPECT_EQ(node.requested(gpu), kMostAmount) << "the other one is still there";
  overlay.RemovePod(*two);
  EXPECT_EQ(node.requested(gpu), 0);
}

TEST(NodeSetTest, SetsOfAnyLengthKeepTheirTailClear) {
  for (size_t rows : {0u, 1u, 63u, 64u, 65u, 200u}) {
    SCOPED_TRACE(rows);
    NodeSet all(rows, true);
    EXPECT_EQ(all.Count(), rows);
    NodeSet none(rows);
    none |= all;
    EXPECT_EQ(none, all);
    none -= all;
    EXPECT_TRUE(none.Empty());
    size_t visited = 0;
    all.ForEach([&](NodeRow row) { EXPECT_EQ(row, visited++); });
    EXPECT_EQ(visited, rows);
    all.Filter([](NodeRow row) { return row % 3 == 0; });
    EXPECT_EQ(all.Count(), (rows + 2) / 3);
    all.Resize(rows + 70);
    EXPECT_EQ(all.Count(), (rows + 2) / 3);
  }
}

}  // namespace
}  // namespace berth
