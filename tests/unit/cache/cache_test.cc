// SPDX-License-Identifier: Apache-2.0
#include "src/cache/cache.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <string>

#include "tests/support/builders.h"

namespace berth::cache {
namespace {

using test::MakeNode;
using test::MakePod;
using testing::ElementsAre;

TEST(CacheTest, APodMayComeBeforeItsNode) {
  Cache cache;
  ASSERT_TRUE(cache.AddPod(
      cache.MakePodInfo(MakePod().OnNode("a").Req({{"cpu", "2"}}).HostPort(80).Ptr())));
  EXPECT_EQ(cache.num_rows(), 1u);
  EXPECT_EQ(cache.num_nodes(), 0u);
  EXPECT_EQ(cache.FindNode("a"), kNoRow);
  EXPECT_TRUE(cache.nodes_with_host_ports().Empty());

  const NodeRow row = cache.SetNode(MakeNode("a").Ptr());
  EXPECT_EQ(cache.FindNode("a"), row);
  EXPECT_EQ(cache.requested(kCpu)[row], 2000);
  EXPECT_EQ(cache.pod_count()[row], 1);
  EXPECT_TRUE(cache.nodes_with_host_ports().Test(row));
}

TEST(CacheTest, ARowStaysAGhostUntilItsLastPodIsGoneAndTheLowestFreeRowIsUsedNext) {
  Cache cache;
  const NodeRow a = cache.SetNode(MakeNode("a").Ptr());
  const NodeRow b = cache.SetNode(MakeNode("b").Ptr());
  const NodeRow c = cache.SetNode(MakeNode("c").Ptr());
  EXPECT_THAT((std::vector<NodeRow>{a, b, c}), ElementsAre(0, 1, 2));
  ASSERT_TRUE(cache.AddPod(cache.MakePodInfo(MakePod().Uid("u").OnNode("a").Ptr())));
  cache.RemoveNode("c");
  cache.RemoveNode("a");
  EXPECT_EQ(cache.num_nodes(), 1u);
  EXPECT_EQ(cache.num_node_names(), 2u);
  EXPECT_EQ(cache.node_name(a), "a");
  EXPECT_EQ(cache.SetNode(MakeNode("d").Ptr()), c);
  EXPECT_TRUE(cache.RemovePod("u"));
  EXPECT_EQ(cache.num_node_names(), 2u);
  EXPECT_EQ(cache.node_name(a), "");
  EXPECT_EQ(cache.SetNode(MakeNode("e").Ptr()), a);
  EXPECT_EQ(cache.num_rows(), 3u);
}

TEST(CacheTest, AssumeAndAddRefuseWhatCannotBe) {
  Cache cache;
  const NodeRow row = cache.SetNode(MakeNode("a").Ptr());
  ASSERT_TRUE(cache.AssumePod(cache.MakePodInfo(MakePod().Uid("known").Ptr()), row));
  ASSERT_TRUE(cache.AddPod(cache.MakePodInfo(MakePod().Uid("ghost").OnNode("b").Ptr())));
  const auto assume = [&](const test::PodBuilder& pod, NodeRow on) {
    return cache.AssumePod(cache.MakePodInfo(pod.Ptr()), on);
  };
  const auto add = [&](const test::PodBuilder& pod) {
    return cache.AddPod(cache.MakePodInfo(pod.Ptr()));
  };
  api::Pod nameless = MakePod().OnNode("a");
  nameless.metadata.uid.clear();
  const PodInfoPtr no_uid = cache.MakePodInfo(std::make_shared<const api::Pod>(nameless));

  const struct {
    const char* name;
    Result<void> got;
    const char* want;
  } cases[] = {
      {"known UID", assume(MakePod().Uid("known"), row),
       "pod default/pod (UID known) is in the cache, so it can't be assumed"},
      {"ghost row", assume(MakePod().Uid("new"), 1),
       "pod default/pod can't be assumed: its node is gone"},
      {"no such row", assume(MakePod().Uid("new"), 7),
       "pod default/pod can't be assumed: its node is gone"},
      {"assume without UID", cache.AssumePod(no_uid, row), "pod default/pod has no UID"},
      {"add without UID", cache.AddPod(no_uid), "pod default/pod has no UID"},
      {"add without node", add(MakePod().Uid("new")), "pod default/pod names no node"},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    ASSERT_FALSE(c.got.has_value());
    EXPECT_EQ(c.got.error().message, c.want);
  }
  EXPECT_EQ(cache.num_pods(), 2u);
}

TEST(CacheTest, AnAssumptionIsConfirmedWithoutCountingAsAChange) {
  Cache cache;
  const NodeRow row = cache.SetNode(MakeNode("a").Ptr());
  auto pod = MakePod().Uid("u").Req({{"cpu", "1"}});
  const PodInfoPtr assumed = cache.MakePodInfo(pod.Ptr());
  ASSERT_TRUE(cache.AssumePod(assumed, row));
  EXPECT_TRUE(cache.IsAssumed("u"));
  EXPECT_EQ(cache.num_assumed(), 1u);
  const uint64_t generation = cache.generation();

  const PodInfoPtr bound =
      cache.MakePodInfo(pod.OnNode("a").ResourceVersion("9").Phase("Running").Ptr());
  ASSERT_TRUE(cache.AddPod(bound));
  EXPECT_FALSE(cache.IsAssumed("u"));
  EXPECT_EQ(cache.num_assumed(), 0u);
  EXPECT_EQ(cache.FindPod("u")->info, bound);
  EXPECT_THAT(cache.pods(row), ElementsAre(bound.get()));
  EXPECT_EQ(cache.generation(), generation);
}

TEST(CacheTest, AnAssumptionOnAnotherNodeIsMoved) {
  Cache cache;
  const NodeRow a = cache.SetNode(MakeNode("a").Ptr());
  const NodeRow b = cache.SetNode(MakeNode("b").Ptr());
  auto pod = MakePod().Uid("u").Req({{"cpu", "1"}});
  ASSERT_TRUE(cache.AssumePod(cache.MakePodInfo(pod.Ptr()), a));
  ASSERT_TRUE(cache.AddPod(cache.MakePodInfo(pod.OnNode("b").Ptr())));
  EXPECT_EQ(cache.requested(kCpu)[a], 0);
  EXPECT_EQ(cache.requested(kCpu)[b], 1000);
  EXPECT_EQ(cache.FindPod("u")->row, b);
  EXPECT_FALSE(cache.IsAssumed("u"));
}

TEST(CacheTest, ForgetTakesOnlyAssumedPodsAway) {
  Cache cache;
  const NodeRow row = cache.SetNode(MakeNode("a").Ptr());
  ASSERT_TRUE(cache.AssumePod(cache.MakePodInfo(MakePod().Uid("assumed").Ptr()), row));
  ASSERT_TRUE(cache.AddPod(cache.MakePodInfo(MakePod().Uid("bound").OnNode("a").Ptr())));
  EXPECT_FALSE(cache.ForgetPod("unknown"));
  EXPECT_FALSE(cache.ForgetPod("bound"));
  EXPECT_TRUE(cache.ForgetPod("assumed"));
  EXPECT_EQ(cache.pod_count()[row], 1);
  EXPECT_TRUE(cache.FindPod("bound").has_value());
}

TEST(CacheTest, APodVersionCountsWhenSomebodyCouldTellItFromTheOldOne) {
  const auto base = [] { return MakePod().Uid("u").OnNode("a").Req({{"cpu", "1"}}); };
  const struct {
    const char* name;
    std::function<void(api::Pod&)> change;
    bool counts;
  } cases[] = {
      {"resourceVersion", [](auto& p) { p.metadata.resource_version = "2"; }, false},
      {"phase", [](auto& p) { p.status.phase = "Running"; }, false},
      {"condition", [](auto& p) { p.status.conditions = {{"Ready", "True", "", "", 0, {}}}; },
       false},
      {"label", [](auto& p) { p.metadata.labels = {{"a", "b"}}; }, true},
      {"annotation", [](auto& p) { p.metadata.annotations = {{"a", "b"}}; }, true},
      {"deletion", [](auto& p) { p.metadata.deletion_timestamp = Time(); }, true},
      {"owner", [](auto& p) { p.metadata.owner_references.resize(1); }, true},
      {"priority", [](auto& p) { p.spec.priority = 1; }, true},
      {"preemption", [](auto& p) { p.spec.preemption_policy = "Never"; }, true},
      {"scheduler", [](auto& p) { p.spec.scheduler_name = "other"; }, true},
      {"node selector", [](auto& p) { p.spec.node_selector = {{"a", "b"}}; }, true},
      {"affinity", [](auto& p) { p.spec.affinity.emplace(); }, true},
      {"tolerations", [](auto& p) { p.spec.tolerations.resize(1); }, true},
      {"spread", [](auto& p) { p.spec.topology_spread_constraints.resize(1); }, true},
      {"init container", [](auto& p) { p.spec.init_containers.resize(1); }, true},
      {"image", [](auto& p) { p.spec.containers[0].image = "nginx"; }, true},
      {"overhead", [](auto& p) { p.spec.overhead = {{"cpu", api::Quantity::FromUnits(1)}}; }, true},
      {"pod-level resources", [](auto& p) { p.spec.resources.emplace(); }, true},
      {"gate", [](auto& p) { p.spec.scheduling_gates.resize(1); }, true},
      {"volume", [](auto& p) { p.spec.volumes.resize(1); }, true},
      {"host network", [](auto& p) { p.spec.host_network = true; }, true},
      {"actuated resources",
       [](auto& p) {
         p.status.container_statuses.resize(1);
         p.status.container_statuses[0].name = p.spec.containers[0].name;
         p.status.container_statuses[0].allocated_resources = {
             {"cpu", api::Quantity::FromUnits(3)}};
       },
       true},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    Cache cache;
    const NodeRow row = cache.SetNode(MakeNode("a").Ptr());
    ASSERT_TRUE(cache.AddPod(cache.MakePodInfo(base().Ptr())));
    const uint64_t before = cache.generation();
    api::Pod changed = base();
    c.change(changed);
    const PodInfoPtr now = cache.MakePodInfo(std::make_shared<const api::Pod>(changed));
    ASSERT_TRUE(cache.AddPod(now));
    EXPECT_EQ(cache.generation() > before, c.counts);
    EXPECT_THAT(cache.pods(row), ElementsAre(now.get()));
    EXPECT_EQ(cache.requested(kCpu)[row], now->placed.milli_cpu);
  }
}

TEST(CacheTest, ANodeVersionCountsUnlessOnlyItsResourceVersionMoved) {
  const struct {
    const char* name;
    std::function<void(api::Node&)> change;
    bool counts;
  } cases[] = {
      {"resourceVersion", [](auto& n) { n.metadata.resource_version = "2"; }, false},
      {"generation", [](auto& n) { n.metadata.generation = 2; }, false},
      {"label", [](auto& n) { n.metadata.labels = {{"a", "b"}}; }, true},
      {"annotation", [](auto& n) { n.metadata.annotations = {{"a", "b"}}; }, true},
      {"unschedulable", [](auto& n) { n.spec.unschedulable = true; }, true},
      {"taint", [](auto& n) { n.spec.taints.resize(1); }, true},
      {"preemption policy", [](auto& n) { n.spec.pod_preemption_policy.emplace(); }, true},
      {"condition", [](auto& n) { n.status.conditions.resize(1); }, true},
      {"image", [](auto& n) { n.status.images.resize(1); }, true},
      {"feature", [](auto& n) { n.status.declared_features = {"x"}; }, true},
      {"allocatable", [](auto& n) { n.status.allocatable.clear(); }, true},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    Cache cache;
    const NodeRow row = cache.SetNode(MakeNode("a").Ptr());
    const uint64_t before = cache.generation();
    api::Node changed = MakeNode("a");
    c.change(changed);
    cache.SetNode(std::make_shared<const api::Node>(changed));
    EXPECT_EQ(cache.generation() > before, c.counts);
    EXPECT_EQ(cache.node(row), changed);
  }
}

TEST(CacheTest, ClosedNodesAreRememberedByNameUntilTheLastPodCanBeRead) {
  Cache cache;
  cache.CloseNode("a", "default/x");
  const NodeRow a = cache.SetNode(MakeNode("a").Ptr());
  const NodeRow b = cache.SetNode(MakeNode("b").Ptr());
  EXPECT_TRUE(cache.closed_nodes().Test(a));
  cache.CloseNode("a", "default/y");
  cache.CloseNode("a", "default/y");
  cache.OpenNode("default/x");
  EXPECT_TRUE(cache.closed_nodes().Test(a));
  cache.CloseNode("b", "default/y");
  EXPECT_FALSE(cache.closed_nodes().Test(a));
  EXPECT_TRUE(cache.closed_nodes().Test(b));
  cache.OpenNode("default/y");
  cache.OpenNode("default/unknown");
  EXPECT_TRUE(cache.closed_nodes().Empty());
}

TEST(CacheTest, AHostPortStaysInUseWhileOnePodUsesIt) {
  Cache cache;
  const NodeRow row = cache.SetNode(MakeNode("a").Ptr());
  for (const char* uid : {"1", "2"}) {
    ASSERT_TRUE(cache.AddPod(cache.MakePodInfo(MakePod().Uid(uid).OnNode("a").HostPort(80).Ptr())));
  }
  cache.RemovePod("1");
  EXPECT_THAT(cache.host_ports(row), ElementsAre(HostPort{"0.0.0.0", "TCP", 80}));
  cache.RemovePod("2");
  EXPECT_TRUE(cache.host_ports(row).empty());
  EXPECT_TRUE(cache.nodes_with_host_ports().Empty());
}

TEST(CacheTest, SumsBeyond64BitsAreUndoneExactly) {
  Cache cache;
  const NodeRow row = cache.SetNode(MakeNode("a").Ptr());
  for (const char* uid : {"1", "2", "3"}) {
    auto pod = MakePod().Uid(uid).OnNode("a").Req({{"memory", "9223372036854775807"}});
    ASSERT_TRUE(cache.AddPod(cache.MakePodInfo(pod.Ptr())));
  }
  cache.RemovePod("1");
  cache.RemovePod("3");
  EXPECT_EQ(cache.requested(kMemory)[row], std::numeric_limits<int64_t>::max());
}

TEST(CacheTest, AResourceNobodyNamedHasNoColumn) {
  Cache cache;
  const ResourceId gpu = cache.mutable_resource_names().Intern("nvidia.com/gpu");
  const NodeRow row = cache.SetNode(MakeNode("a").Ptr());
  EXPECT_TRUE(cache.allocatable(gpu).zero());
  EXPECT_EQ(cache.allocatable(gpu)[row], 0);
  cache.SetNode(MakeNode("a").Allocatable({{"nvidia.com/gpu", "2"}}).Ptr());
  EXPECT_EQ(cache.allocatable(gpu)[row], 2);
  EXPECT_EQ(cache.allocatable(gpu).values.size(), cache.num_rows());
  EXPECT_TRUE(cache.requested(gpu).zero());
  EXPECT_EQ(cache.resource_names().Name(gpu), "nvidia.com/gpu");
}

TEST(CacheTest, ATaintListIsForgottenWithTheLastNodeThatHasIt) {
  Cache cache;
  for (int i = 0; i < 10; ++i)
    cache.SetNode(MakeNode("a").Taint("round", std::to_string(i), "NoSchedule").Ptr());
  // The new list was acquired before the old one was given back.
  EXPECT_LE(cache.num_taint_sets(), 3u);
  cache.RemoveNode("a");
  for (TaintSetId id = 0; id < cache.num_taint_sets(); ++id) EXPECT_TRUE(cache.taints(id).empty());
}

TEST(CacheTest, ChangesAreForgottenBeyondTheCapacityOfTheLog) {
  Cache cache(Cache::Options{.change_log_capacity = 4});
  std::vector<Change> changes;
  EXPECT_TRUE(cache.ChangesSince(0, changes));
  EXPECT_TRUE(changes.empty());
  cache.SetNode(MakeNode("a").Ptr());
  cache.SetNode(MakeNode("b").Ptr());
  cache.CloseNode("b", "default/x");
  cache.RemoveNode("a");
  ASSERT_TRUE(cache.ChangesSince(0, changes));
  EXPECT_THAT(
      changes,
      ElementsAre(Change{1, 0, ChangeKind::kNodeAdded}, Change{2, 1, ChangeKind::kNodeAdded},
                  Change{3, 1, ChangeKind::kClosed}, Change{4, 0, ChangeKind::kNodeRemoved}));
  cache.SetNode(MakeNode("b").Unschedulable().Ptr());
  EXPECT_FALSE(cache.ChangesSince(0, changes));
  ASSERT_TRUE(cache.ChangesSince(4, changes));
  EXPECT_THAT(changes, ElementsAre(Change{5, 1, ChangeKind::kNodeUpdated}));
  EXPECT_FALSE(cache.ChangesSince(6, changes)) << "a number not given out yet";
}

TEST(CacheTest, PodsChangeNoNode) {
  Cache cache;
  cache.SetNode(MakeNode("a").Ptr());
  cache.SetNode(MakeNode("b").Ptr());
  const uint64_t before = cache.generation();
  ASSERT_TRUE(cache.AddPod(cache.MakePodInfo(MakePod().Name("p").Uid("p").OnNode("a").Ptr())));
  cache.CloseNode("a", "default/x");
  cache.NoteMeasured(0);
  std::vector<NodeRow> rows;
  ASSERT_TRUE(cache.NodesChangedSince(before, rows));
  EXPECT_TRUE(rows.empty());
  cache.SetNode(MakeNode("b").Unschedulable().Ptr());
  cache.RemoveNode("a");
  cache.SetNode(MakeNode("c").Ptr());
  ASSERT_TRUE(cache.NodesChangedSince(before, rows));
  EXPECT_THAT(rows, ElementsAre(1, 0, 2));
  EXPECT_FALSE(cache.NodesChangedSince(cache.generation() + 1, rows));
}

TEST(CacheDeathTest, NoForeignThreadMayChangeTheCache) {
#ifdef NDEBUG
  GTEST_SKIP() << "checked in debug builds only";
#endif
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  Cache cache;
  cache.SetNode(MakeNode("a").Ptr());
  EXPECT_DEATH(base::NamedThread("foreign", [&] { cache.RemoveNode("a"); }).Join(),
               "foreign thread");
}

}  // namespace
}  // namespace berth::cache
