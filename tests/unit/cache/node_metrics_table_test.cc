// SPDX-License-Identifier: Apache-2.0
#include "src/cache/node_metrics_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "tests/support/builders.h"

namespace berth::cache {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;
using test::MakeNode;
using test::MakePod;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

constexpr Time kStart{std::chrono::hours(1'000'000 / 3600 * 3600)};

int64_t At(Duration since_start) {
  return std::chrono::floor<seconds>(kStart + since_start).time_since_epoch().count();
}

NodeMetrics Busy(std::string name, double cpu) {
  const MeasuredResource resource{.known = true, .average = cpu, .deviation = 0, .last = cpu};
  return {std::move(name), resource, {}};
}

class NodeMetricsTableTest : public testing::Test {
 public:
  NodeMetricsTableTest() {
    for (const char* name : {"a", "b"}) {
      api::Node node = MakeNode(name);
      node.status.capacity = test::MakeResources({{"cpu", "4"}, {"memory", "8Gi"}});
      cache.SetNode(std::make_shared<const api::Node>(std::move(node)));
    }
  }
  const MeasuredNodes& Watch() { return table.Watch({}, kStart); }
  void Take(Duration end, std::vector<NodeMetrics> nodes, bool amounts = false) {
    table.Take({NodeMetricsSource().Name(), At(end), amounts, std::move(nodes)});
  }
  void Place(std::string_view name, std::string_view node, Duration at) {
    table.SetPlaced(MakePod().Name(name).Ptr(), node, kStart + at);
  }
  static std::vector<std::string> Names(std::span<const std::shared_ptr<const api::Pod>> pods) {
    std::vector<std::string> names;
    for (const auto& pod : pods) names.push_back(pod->metadata.name);
    return names;
  }
  // The nodes on which something was measured again since the last call.
  std::vector<std::string> Changed() {
    std::vector<Change> changes;
    EXPECT_TRUE(cache.ChangesSince(seen, changes));
    seen = cache.generation();
    std::vector<std::string> names;
    for (const Change& change : changes) {
      if (change.kind != ChangeKind::kMeasured) continue;
      names.emplace_back(cache.node_name(change.row));
    }
    return names;
  }

  Cache cache;
  NodeMetricsTable table{cache};
  uint64_t seen = 0;
};

TEST_F(NodeMetricsTableTest, KeepsNothingUntilASourceIsWatched) {
  Place("early", "a", {});
  Take({}, {Busy("a", 10)});
  EXPECT_EQ(table.num_recent_pods(), 0u);
  EXPECT_THAT(Changed(), IsEmpty());
  EXPECT_EQ(Watch().Find("a"), nullptr);
}

TEST_F(NodeMetricsTableTest, AMessageTakesThePlaceOfTheOneBefore) {
  const MeasuredNodes& measured = Watch();
  Take({}, {Busy("a", 10), Busy("b", 20), Busy("gone", 30)});
  ASSERT_NE(measured.Find("a"), nullptr);
  EXPECT_EQ(*measured.Find("a"), Busy("a", 10));
  EXPECT_THAT(Changed(), UnorderedElementsAre("a", "b"));
  // Only what differs is a change.
  Take(seconds(30), {Busy("a", 10), Busy("b", 21)});
  EXPECT_THAT(Changed(), ElementsAre("b"));
  Take(seconds(60), {Busy("b", 21)});
  EXPECT_EQ(measured.Find("a"), nullptr);
  EXPECT_THAT(Changed(), ElementsAre("a"));
  Take(seconds(60), {});
  EXPECT_EQ(measured.Find("b"), nullptr);
  EXPECT_THAT(Changed(), ElementsAre("b"));
  // Another source's is not for this one.
  table.Take({"Prometheus http://other", At({}), false, {Busy("a", 10)}});
  EXPECT_EQ(measured.Find("a"), nullptr);
}

TEST_F(NodeMetricsTableTest, ARowStandsForTheNodeThatIsThere) {
  const MeasuredNodes& measured = Watch();
  const auto on_row = [&](std::string_view name) {
    const NodeMetrics* found = measured.FindOnRow(cache.FindNode(name), name);
    EXPECT_EQ(found, measured.Find(name)) << name;
    return found;
  };
  EXPECT_EQ(on_row("a"), nullptr);
  Take({}, {Busy("a", 10), Busy("b", 20), Busy("late", 30)});
  const NodeRow row = cache.FindNode("a");
  EXPECT_EQ(*on_row("a"), Busy("a", 10));
  EXPECT_EQ(*on_row("b"), Busy("b", 20));
  cache.SetNode(MakeNode("late").Ptr());
  EXPECT_EQ(*on_row("late"), Busy("late", 30));
  cache.RemoveNode("a");
  EXPECT_EQ(cache.SetNode(MakeNode("other").Ptr()), row) << "a row is used again";
  EXPECT_EQ(on_row("other"), nullptr);
  cache.SetNode(MakeNode("a").Ptr());
  EXPECT_EQ(*on_row("a"), Busy("a", 10));
  Take(seconds(30), {Busy("other", 40), Busy("b", 20)});
  EXPECT_EQ(on_row("a"), nullptr);
  EXPECT_EQ(*on_row("other"), Busy("other", 40));
  EXPECT_EQ(measured.FindOnRow(kNoRow, "b"), measured.Find("b"));
}

TEST_F(NodeMetricsTableTest, ANodeThatChangedInTwoWaysIsNotedOnce) {
  Watch();
  Take({}, {Busy("a", 10), Busy("b", 20)});
  Place("pod", "a", seconds(10));
  Changed();
  Take(seconds(30), {Busy("a", 11), Busy("b", 20)});
  EXPECT_THAT(Changed(), ElementsAre("a"));
}

// Plugins that count pods by row do not count them again whenever nodes are measured.
TEST_F(NodeMetricsTableTest, WhatIsMeasuredChangesNeitherNodesNorPods) {
  Watch();
  const uint64_t before = cache.generation();
  Take({}, {Busy("a", 10), Busy("b", 20)});
  EXPECT_GT(cache.generation(), before);
  std::vector<NodeRow> rows;
  EXPECT_TRUE(cache.RowsChangedSince(before, rows));
  EXPECT_THAT(rows, IsEmpty());
  ASSERT_TRUE(cache.AddPod(cache.MakePodInfo(MakePod().Name("pod").OnNode("b").Ptr())));
  EXPECT_TRUE(cache.RowsChangedSince(before, rows));
  EXPECT_THAT(rows, ElementsAre(cache.FindNode("b")));
}

TEST_F(NodeMetricsTableTest, AmountsBecomePercentsOfTheCapacity) {
  const MeasuredNodes& measured = Watch();
  NodeMetrics a{"a", {.known = true, .average = 1000, .deviation = 0, .last = 1000}, {}};
  a.memory = {.known = true, .average = 2147483648.0, .deviation = 0, .last = 2147483648.0};
  NodeMetrics unknown = a;
  unknown.name = "not-there";
  Take({}, {a, unknown}, true);
  ASSERT_NE(measured.Find("a"), nullptr);
  EXPECT_EQ(measured.Find("a")->cpu.average, 25);
  EXPECT_EQ(measured.Find("a")->cpu.last, 25);
  EXPECT_EQ(measured.Find("a")->memory.average, 25);
  EXPECT_EQ(measured.Find("not-there"), nullptr);
  // A node that says nothing of its capacity.
  cache.SetNode(MakeNode("c").Ptr());
  a.name = "c";
  Take({}, {a}, true);
  EXPECT_EQ(measured.Find("c"), nullptr);
}

TEST_F(NodeMetricsTableTest, PodsCountUntilTheyHaveBeenMeasuredForAMinute) {
  const MeasuredNodes& measured = Watch();
  Take({}, {Busy("a", 10)});
  Place("first", "a", seconds(10));
  Place("second", "a", seconds(30));
  Place("other", "b", seconds(30));
  // Confirmed: it stays as it is.
  Place("first", "a", seconds(50));
  EXPECT_THAT(Names(measured.UnmeasuredPods("a")), ElementsAre("first", "second"));
  Changed();
  Take(seconds(69), {Busy("a", 10)});
  EXPECT_THAT(Names(measured.UnmeasuredPods("a")), ElementsAre("first", "second"));
  EXPECT_THAT(Changed(), UnorderedElementsAre("a", "b"));
  // A minute after the first.
  Take(seconds(70), {Busy("a", 10)});
  EXPECT_THAT(Names(measured.UnmeasuredPods("a")), ElementsAre("second"));
  EXPECT_EQ(table.num_recent_pods(), 2u);
  table.RemovePlaced(MakePod().Name("second").Obj());
  EXPECT_THAT(measured.UnmeasuredPods("a"), IsEmpty());
  table.RemovePlaced(MakePod().Name("second").Obj());
  Take(seconds(90), {Busy("a", 10)});
  EXPECT_EQ(table.num_recent_pods(), 0u);
}

TEST_F(NodeMetricsTableTest, APodThatMovesCountsOnItsNodeAlone) {
  const MeasuredNodes& measured = Watch();
  Take({}, {Busy("a", 10)});
  Place("pod", "a", seconds(10));
  Place("pod", "b", seconds(20));
  EXPECT_THAT(measured.UnmeasuredPods("a"), IsEmpty());
  EXPECT_THAT(Names(measured.UnmeasuredPods("b")), ElementsAre("pod"));
}

TEST_F(NodeMetricsTableTest, APodThatRunsCountsFromItsStartOn) {
  const auto started = [&](std::string_view name, Duration at) {
    return MakePod().Name(name).StartedAt(kStart + at).Ptr();
  };
  const MeasuredNodes& measured = Watch();
  Take({}, {Busy("a", 10)});
  table.SetPlaced(started("young", -seconds(30)), "a", kStart + seconds(10));
  table.SetPlaced(started("old", -seconds(90)), "a", kStart + seconds(10));
  table.SetPlaced(started("younger", -seconds(40)), "a", kStart + seconds(10));
  table.SetPlaced(started("ancient", -minutes(100)), "a", kStart + seconds(10));
  // A clock that is ahead.
  table.SetPlaced(started("tomorrow", minutes(1440)), "a", kStart + seconds(10));
  EXPECT_THAT(Names(measured.UnmeasuredPods("a")), ElementsAre("younger", "young", "tomorrow"));
  EXPECT_EQ(table.num_recent_pods(), 4u);
}

TEST_F(NodeMetricsTableTest, WithoutNewsPodsAreForgottenAfterTenMinutes) {
  Watch();
  Place("first", "a", {});
  Place("second", "a", minutes(9));
  EXPECT_EQ(table.num_recent_pods(), 2u);
  Place("third", "a", minutes(10));
  EXPECT_EQ(table.num_recent_pods(), 2u);
}

TEST_F(NodeMetricsTableTest, TheSlowestSourceSaysHowLongPodsAreKept) {
  const MeasuredNodes& first = Watch();
  const NodeMetricsSource other{NodeMetricsSource::Type::kLoadWatcher, "http://watcher"};
  const MeasuredNodes& second = table.Watch(other, kStart);
  Place("pod", "a", seconds(10));
  Take(seconds(20), {Busy("a", 10)});
  table.Take({other.Name(), At(seconds(100)), false, {Busy("a", 10)}});
  EXPECT_THAT(Names(first.UnmeasuredPods("a")), ElementsAre("pod"));
  EXPECT_THAT(second.UnmeasuredPods("a"), IsEmpty());
  Take(seconds(100), {Busy("a", 10)});
  EXPECT_EQ(table.num_recent_pods(), 0u);
}

TEST_F(NodeMetricsTableTest, PodsThatAreThereWhenTheFirstSourceIsWatchedCount) {
  ASSERT_TRUE(cache.AddPod(cache.MakePodInfo(MakePod().Name("new").OnNode("a").Ptr())));
  ASSERT_TRUE(cache.AddPod(
      cache.MakePodInfo(MakePod().Name("old").OnNode("a").StartedAt(kStart - minutes(60)).Ptr())));
  const MeasuredNodes& measured = Watch();
  EXPECT_THAT(Names(measured.UnmeasuredPods("a")), ElementsAre("new"));
  EXPECT_EQ(&Watch(), &measured);
}

}  // namespace
}  // namespace berth::cache
