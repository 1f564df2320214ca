// SPDX-License-Identifier: Apache-2.0
#include "plugins/capacity_scheduling/capacity_scheduling.h"

#include <gmock/gmock.h>

#include <chrono>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "src/cache/cache.h"
#include "tests/unit/plugins/plugin_fixture.h"

namespace berth::plugins {
namespace {

using std::chrono::seconds;
using testing::ElementsAre;
using testing::UnorderedElementsAre;
using Amounts = std::vector<std::pair<std::string, std::string>>;

api::ResourceList QuotaList(const Amounts& amounts) {
  api::ResourceList list;
  for (const auto& [name, amount] : amounts) list.emplace_back(name, *api::Quantity::Parse(amount));
  return list;
}

api::ElasticQuota Quota(std::string_view namespace_, const Amounts& min, const Amounts& max) {
  api::ElasticQuota quota;
  quota.metadata.name = "quota";
  quota.metadata.namespace_ = namespace_;
  quota.spec = {.min = QuotaList(min), .max = QuotaList(max)};
  return quota;
}

class AllUnschedulable final : public NodeToStatus {
 public:
  Status Get(NodeRow) const override { return Status(Code::kUnschedulable); }
};

class CapacitySchedulingTest : public testing::Test, protected test::PluginFixture {
 protected:
  using PlainSnapshot = test::PlainSnapshot;

  static test::PodBuilder Pod(std::string_view namespace_, std::string_view name,
                              std::string_view cpu, int32_t priority = 0) {
    return test::MakePod().Name(name).Namespace(namespace_).Req({{"cpu", cpu}}).Priority(priority);
  }
  static test::PodBuilder On(std::string_view node, std::string_view namespace_,
                             std::string_view name, std::string_view cpu, int32_t priority = 0) {
    return Pod(namespace_, name, cpu, priority).OnNode(node).StartedAt(Time(seconds(1)));
  }
  static api::Node Node(std::string_view name, std::string_view cpu) {
    return test::MakeNode(name).Allocatable({{"cpu", cpu}});
  }

  std::string PreFilter(const test::PodBuilder& builder, const PlainSnapshot& snapshot) {
    state = CycleState();
    const Status status = plugin_.PreFilter(state, *Info(builder), snapshot).status;
    return status.skip() ? "skip" : status.ok() ? "ok" : status.message();
  }

  // Who would go, on the best node.
  std::vector<std::string> Victims(const test::PodBuilder& builder, const PlainSnapshot& snapshot) {
    state = CycleState();
    handle.current_snapshot = &snapshot;
    handle.make_dry_run = [&snapshot](CycleState& cycle_state, const PodInfo& pod) {
      return std::make_unique<test::RoomDryRun>(
          snapshot, pod, cycle_state.reasons().Make(Code::kUnschedulable, "Insufficient cpu"));
    };
    const PodInfoPtr pod = Info(builder);
    handle.pending_pods = {pod->pod};
    const PreemptionPreview preview = plugin_.Preview(state, *pod, snapshot, AllUnschedulable());
    message_ = preview.message;
    std::vector<std::string> names;
    if (preview.candidates.empty()) return names;
    for (const PodInfo* victim : preview.candidates[preview.best.front()].victims) {
      names.push_back(victim->pod->metadata.Key());
    }
    return names;
  }

  CapacityScheduling plugin_{handle};
  std::string message_;
};

TEST_F(CapacitySchedulingTest, LeavesPodsAloneWhoseNamespaceHasNoQuota) {
  const PlainSnapshot cluster = Cluster({Node("a", "4")});
  EXPECT_EQ(PreFilter(Pod("one", "p", "2"), cluster), "skip");
  handle.plain_listers.Set(Quota("two", {{"cpu", "1"}}, {{"cpu", "1"}}));
  EXPECT_EQ(PreFilter(Pod("one", "p", "2"), cluster), "skip");
  EXPECT_EQ(PreFilter(Pod("two", "p", "1"), cluster), "ok");
}

TEST_F(CapacitySchedulingTest, RefusesWhatWouldExceedMaxOrTheSumOfMins) {
  handle.plain_listers.Set(Quota("one", {{"cpu", "2"}}, {{"cpu", "3"}}));
  handle.plain_listers.Set(Quota("two", {{"cpu", "2"}}, {{"cpu", "9"}}));
  const PlainSnapshot cluster =
      Cluster({Node("a", "9"), Node("b", "9")},
              {On("a", "one", "x", "1"), On("b", "one", "y", "1"), On("a", "other", "z", "5")});
  EXPECT_EQ(PreFilter(Pod("one", "p", "1"), cluster), "ok");
  EXPECT_EQ(PreFilter(Pod("one", "p", "1001m"), cluster),
            "Pod one/p is rejected in PreFilter because ElasticQuota one is more than Max");
  EXPECT_EQ(PreFilter(Pod("two", "p", "2"), cluster), "ok");
  EXPECT_EQ(PreFilter(Pod("two", "p", "2001m"), cluster),
            "Pod two/p is rejected in PreFilter because total ElasticQuota used is more than min");
}

TEST_F(CapacitySchedulingTest, WhatAQuotaDoesNotNameIsNothingButScalarsHaveNoLimit) {
  const PlainSnapshot cluster = Cluster({Node("a", "9")});
  const auto pod = [](test::ResourceText requests) {
    return test::MakePod().Name("p").Namespace("one").Req(requests);
  };
  handle.plain_listers.Set(
      Quota("one", {{"cpu", "2"}, {"example.com/gpu", "4"}, {"memory", "1Gi"}}, {{"cpu", "2"}}));
  EXPECT_EQ(PreFilter(pod({{"cpu", "1"}, {"example.com/gpu", "4"}}), cluster), "ok");
  EXPECT_NE(PreFilter(pod({{"cpu", "1"}, {"memory", "1"}}), cluster), "ok");
  EXPECT_NE(PreFilter(pod({{"cpu", "1"}, {"example.com/gpu", "5"}}), cluster), "ok")
      << "more than all mins";
  EXPECT_NE(PreFilter(pod({{"cpu", "1"}, {"example.com/fpga", "1"}}), cluster), "ok")
      << "no min names it";
  handle.plain_listers.Set(Quota("one", {{"cpu", "2"}, {"memory", "1Gi"}}, {}));
  EXPECT_EQ(PreFilter(pod({{"cpu", "2"}, {"memory", "1Gi"}}), cluster), "ok") << "no max";
}

TEST_F(CapacitySchedulingTest, NominatedPodsCountAsIfTheyWereThere) {
  handle.plain_listers.Set(Quota("one", {{"cpu", "4"}}, {{"cpu", "4"}}));
  handle.plain_listers.Set(Quota("two", {{"cpu", "4"}}, {{"cpu", "9"}}));
  const PlainSnapshot cluster = Cluster({Node("a", "9")}, {On("a", "one", "x", "1")});
  EXPECT_EQ(PreFilter(Pod("one", "p", "3", 5), cluster), "ok");
  handle.nominated_pods.emplace_back("a", Info(Pod("one", "less", "1", 4)));
  EXPECT_EQ(PreFilter(Pod("one", "p", "3", 5), cluster), "ok");
  handle.nominated_pods.emplace_back("a", Info(Pod("one", "same", "1", 5)));
  EXPECT_NE(PreFilter(Pod("one", "p", "3", 5), cluster), "ok");
  // Of the other namespace's pods all count, while it has not more than its min.
  EXPECT_NE(PreFilter(Pod("two", "p", "7"), cluster), "ok");
  EXPECT_EQ(PreFilter(Pod("two", "p", "5"), cluster), "ok");
}

TEST_F(CapacitySchedulingTest, OfBorrowedRoomNoMoreIsTakenThanWasBorrowed) {
  handle.plain_listers.Set(Quota("one", {{"cpu", "2"}}, {{"cpu", "9"}}));
  handle.plain_listers.Set(Quota("two", {{"cpu", "4"}}, {{"cpu", "9"}}));
  const PlainSnapshot cluster =
      Cluster({Node("a", "4")}, {On("a", "one", "x", "1", 100), On("a", "one", "y", "1", 99),
                                 On("a", "one", "z", "1", 98), On("a", "one", "w", "1", 97)});
  EXPECT_THAT(Victims(Pod("two", "p", "2"), cluster), UnorderedElementsAre("one/z", "one/w"));
  EXPECT_THAT(Victims(Pod("two", "p", "3"), cluster), ElementsAre());
  EXPECT_NE(message_.find("1 Insufficient cpu"), std::string::npos) << message_;
}

TEST_F(CapacitySchedulingTest, ANamespaceThatHasItsMinEvictsItsOwn) {
  handle.plain_listers.Set(Quota("one", {{"cpu", "2"}}, {{"cpu", "2"}}));
  handle.plain_listers.Set(Quota("two", {{"cpu", "1"}}, {{"cpu", "9"}}));
  const PlainSnapshot cluster =
      Cluster({Node("a", "5")}, {On("a", "one", "x", "2", 1), On("a", "two", "y", "2", 0)});
  EXPECT_THAT(Victims(Pod("one", "p", "1", 5), cluster), ElementsAre("one/x"));
  EXPECT_THAT(Victims(Pod("one", "p", "1", 1), cluster), ElementsAre()) << "no lower priority";
  EXPECT_THAT(Victims(Pod("one", "p", "3", 5), cluster), ElementsAre());
  EXPECT_NE(message_.find("1 global quota max exceeded"), std::string::npos) << message_;
}

TEST_F(CapacitySchedulingTest, PodsWithoutAQuotaAndThoseWithOneLeaveEachOtherAlone) {
  handle.plain_listers.Set(Quota("one", {{"cpu", "1"}}, {{"cpu", "9"}}));
  const PlainSnapshot cluster =
      Cluster({Node("a", "2")}, {On("a", "one", "x", "1", 1), On("a", "other", "y", "1", 1)});
  EXPECT_THAT(Victims(Pod("other", "p", "1", 5), cluster), ElementsAre("other/y"));
  EXPECT_THAT(Victims(Pod("other", "p", "2", 5), cluster), ElementsAre());
}

// The slow twin: what is used is the sum over all pods on nodes that are there, whatever changed
// since the last look.
TEST(ElasticQuotasTest, WhatIsUsedIsTheSumOverAllPods) {
  const std::vector<std::string> namespaces = {"one", "two", "three"};
  const std::vector<std::string> nodes = {"a", "b", "c"};
  std::mt19937 random(7);
  test::FakeHandle handle;
  cache::Cache cache;
  ElasticQuotas quotas;
  size_t compared = 0;
  for (int step = 0; step < 2000; ++step) {
    const std::string& namespace_ = namespaces[random() % 3];
    const std::string& node = nodes[random() % 3];
    switch (random() % 8) {
      case 0:
        if (random() % 2 == 0) {
          handle.plain_listers.Set(Quota(namespace_, {{"cpu", std::to_string(random() % 9)}}, {}));
        } else {
          handle.plain_listers.Remove<api::ElasticQuota>(namespace_, "quota");
        }
        break;
      case 1:
        if (random() % 3 == 0) cache.RemoveNode(node);
        break;
      case 2:
      case 3:
        cache.SetNode(test::MakeNode(node).Allocatable({{"cpu", "99"}}).Ptr());
        break;
      case 4:
        cache.RemovePod("uid-" + std::to_string(random() % 40));
        break;
      default: {
        const std::string uid = "uid-" + std::to_string(random() % 40);
        const auto pod = test::MakePod()
                             .Name(uid)
                             .Namespace(namespace_)
                             .Uid(uid)
                             .OnNode(node)
                             .Req({{"cpu", std::to_string(1 + random() % 4)}});
        ASSERT_TRUE(cache.AddPod(cache.MakePodInfo(pod.Ptr())));
      }
    }
    if (random() % 3 == 0) continue;
    quotas.Update(cache, handle.listers(), handle.names);
    std::map<std::string, int64_t> used;
    cache.nodes().ForEach([&](NodeRow row) {
      for (const PodInfo* pod : cache.pods(row)) {
        used[pod->pod->metadata.namespace_] += pod->requests.milli_cpu;
      }
    });
    for (const std::string& each : namespaces) {
      const NamespaceQuota* quota = quotas.table().Find(each);
      if (quota == nullptr) continue;
      ASSERT_EQ(static_cast<int64_t>(quota->used.milli_cpu), used[each]) << step;
      ++compared;
    }
  }
  EXPECT_GT(compared, 1000u);
}

}  // namespace
}  // namespace berth::plugins
