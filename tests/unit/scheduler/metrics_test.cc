// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <memory>
#include <string>
#include <utility>

#include "src/metrics/local_metrics.h"
#include "tests/unit/scheduler/scheduler_fixture.h"

namespace berth::test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class MetricsTest : public SchedulerFixture {};

TEST_F(MetricsTest, EveryChangeOfTheClusterIsTimedUnderItsEvent) {
  Synced();
  const auto node = MakeNode("a").Allocatable({{"cpu", "4"}}).Ptr();
  AddNode(node);
  UpdateNode(node, MakeNode("a").Allocatable({{"cpu", "8"}}).Ptr());
  const auto pod = MakePod().Name("p").Ptr();
  AddPod(pod);
  AddPod(MakePod().Name("q").OnNode("a"));
  DeletePod(pod);
  Turn();
  const std::string text = Metrics();
  const auto once = [](const std::string& event) {
    return "scheduler_event_handling_duration_seconds_count{event=\"" + event + "\"} 1\n";
  };
  for (const char* event : {"NodeAdd", "NodeUpdateNodeAllocatable", "UnscheduledPodAdd",
                            "AssignedPodAdd", "UnscheduledPodDelete"}) {
    EXPECT_THAT(text, HasSubstr(once(event)));
  }
  EXPECT_THAT(text, HasSubstr("informer_processing_latency_seconds_count{group=\"\",name=\"kube-"
                              "scheduler\",resource=\"nodes\",version=\"v1\"} 2\n"));
}

TEST_F(MetricsTest, ChangesThatNoPluginRegisteredForAreNotTimed) {
  Synced();
  auto fast = std::make_shared<api::StorageClass>();
  fast->metadata.name = "fast";
  auto shop = std::make_shared<api::Namespace>();
  shop->metadata.name = "shop";
  using informers::EventType;
  PostEvent(EventType::kAdded, informers::Kind::kStorageClass, {}, fast);
  PostEvent(EventType::kDeleted, informers::Kind::kStorageClass, fast, {});
  PostEvent(EventType::kAdded, informers::Kind::kNamespace, {}, shop);
  Turn();
  const std::string text = Metrics();
  EXPECT_THAT(text, HasSubstr("scheduler_event_handling_duration_seconds_count{event=\"storage.k8s."
                              "io/StorageClassAdd\"} 1\n"));
  EXPECT_THAT(text, Not(HasSubstr("event=\"storage.k8s.io/StorageClassDelete\"")));
  EXPECT_THAT(text, Not(HasSubstr("event=\"NamespaceAdd\"")));
}

TEST_F(MetricsTest, EachInformerHasItsTimesFromTheStart) {
  const std::string text = Metrics();
  const std::pair<const char*, const char*> expected[] = {{"", "pods"},
                                                          {"apps", "statefulsets"},
                                                          {"storage.k8s.io", "storageclasss"},
                                                          {"storage.k8s.io", "csistoragecapacitys"},
                                                          {"storage.k8s.io", "csinodes"},
                                                          {"resource.k8s.io", "deviceclasss"}};
  for (const auto& [group, resource] : expected) {
    EXPECT_THAT(text, HasSubstr("informer_processing_latency_seconds_count{group=\"" +
                                std::string(group) + "\",name=\"kube-scheduler\",resource=\"" +
                                resource + "\",version=\"v1\"} 0\n"));
  }
}

TEST_F(MetricsTest, WithoutTheGateOfPodLevelResizesTheSpecAloneTellsOfThem) {
  options_.features.in_place_pod_level_resources_vertical_scaling = false;
  Restart();
  Synced();
  api::Pod before = MakePod().Name("p").OnNode("a");
  before.spec.resources.emplace().requests = MakeResources({{"cpu", "2"}});
  before.status.resources.emplace().requests = MakeResources({{"cpu", "2"}});
  before.status.allocated_resources = MakeResources({{"cpu", "2"}});
  api::Pod wished = before;
  wished.spec.resources->requests = MakeResources({{"cpu", "1"}});
  wished.metadata.resource_version = "2";
  const auto old_pod = std::make_shared<const api::Pod>(before);
  AddPod(old_pod);
  UpdatePod(old_pod, std::make_shared<const api::Pod>(wished));
  Turn();
  EXPECT_THAT(Metrics(), HasSubstr("scheduler_event_handling_duration_seconds_count{event=\""
                                   "AssignedPodUpdatePodScaleDown\"} 1\n"));
}

TEST_F(MetricsTest, AChangeOfAPodWithoutANodeIsTimedUnderEachOfItsEvents) {
  Synced();
  const auto gated = MakePod().Name("p").Gate("g").Ptr();
  AddPod(gated);
  api::Pod open = *gated;
  open.spec.scheduling_gates.clear();
  open.metadata.labels.emplace_back("a", "b");
  open.metadata.resource_version = "later";
  UpdatePod(gated, std::make_shared<const api::Pod>(open));
  const auto old_pod = std::make_shared<const api::Pod>(open);
  open.metadata.resource_version = "latest";
  UpdatePod(old_pod, std::make_shared<const api::Pod>(open));
  Turn();
  const std::string text = Metrics();
  const auto times = [](const std::string& event, int count) {
    return HasSubstr("scheduler_event_handling_duration_seconds_count{event=\"" + event + "\"} " +
                     std::to_string(count) + "\n");
  };
  EXPECT_THAT(text, times("UnscheduledPodUpdate", 2));
  EXPECT_THAT(text, times("UnscheduledPodUpdatePodSchedulingGatesEliminated", 1));
  EXPECT_THAT(text, times("UnscheduledPodUpdatePodLabel", 1));
}

TEST_F(MetricsTest, WhatPluginsEvaluateIsThereFromTheStartAtZero) {
  Synced();
  Turn();
  const std::string text = Metrics();
  for (const char* point : {"PreFilter", "Filter", "PreScore", "Score"}) {
    EXPECT_THAT(text, HasSubstr("scheduler_plugin_evaluation_total{extension_point=\"" +
                                std::string(point) +
                                "\",plugin=\"NodeResourcesFit\",profile=\"default-scheduler\"} "
                                "0\n"));
  }
}

TEST(MetricsObserverTest, EveryTenthRunOfPreEnqueueIsMeasured) {
  metrics::Registry registry;
  metrics::LocalMetrics local(registry);
  base::VirtualClock clock;
  scheduler::MetricsObserver observer(local, clock);
  int sampled = 0;
  for (int i = 0; i < 30; ++i) sampled += observer.SamplesPreEnqueue() ? 1 : 0;
  EXPECT_EQ(sampled, 3);
}

TEST_F(MetricsTest, ATurnEndsWhereTheLoopLooksForMessagesAgain) {
  // Each pod takes 15 ms: no look at the inbox waits for both.
  options_.on_cycle = [this](const scheduler::CycleOutcome&) {
    clock().Advance(std::chrono::milliseconds(15));
  };
  Restart();
  Synced();
  AddNode(MakeNode("a").Allocatable({{"cpu", "4"}}));
  AddPod(MakePod().Name("p"));
  AddPod(MakePod().Name("q"));
  scheduler().Turn(Now());
  const std::string text = Metrics();
  const auto value = [&text](const std::string& series) {
    const size_t at = text.find("\n" + series + " ");
    return at == std::string::npos ? -1 : std::stoi(text.substr(at + 2 + series.size()));
  };
  const int turns = value("berth_turn_duration_seconds_count");
  EXPECT_EQ(value("berth_loop_turns_total"), turns);
  EXPECT_EQ(value("berth_turn_duration_seconds_bucket{le=\"0.01\"}"), turns - 2);
  EXPECT_EQ(value("berth_turn_duration_seconds_bucket{le=\"0.02\"}"), turns);
}

TEST_F(MetricsTest, ObjectsThatCannotBeReadCountUnderTheirResource) {
  Synced();
  PostUndecodable("ns/p", "");
  Turn();
  EXPECT_THAT(Metrics(), HasSubstr("berth_undecodable_objects_total{resource=\"pods\"} 1\n"));
}

TEST_F(MetricsTest, ANodeThatOnlyPodsNameIsOneOfTheCachesNodes) {
  Synced();
  AddNode(MakeNode("a"));
  AddPod(MakePod().Name("p").OnNode("gone"));
  Turn();
  const std::string text = Metrics();
  EXPECT_THAT(text, HasSubstr("scheduler_cache_size{type=\"nodes\"} 2\n"));
  EXPECT_THAT(text, HasSubstr("scheduler_cache_size{type=\"pods\"} 1\n"));
}

TEST_F(MetricsTest, ABoundPodCountsByItsAttempts) {
  Synced();
  AddNode(MakeNode("a").Allocatable({{"cpu", "4"}}));
  AddPod(MakePod().Name("p"));
  Turn();
  const std::string text = Metrics();
  EXPECT_THAT(text, HasSubstr("scheduler_pod_scheduling_sli_duration_seconds_count"
                              "{attempts=\"1\"} 1\n"));
  EXPECT_THAT(text, Not(HasSubstr("attempts=\"2\"")));
  EXPECT_THAT(text, HasSubstr("scheduler_goroutines{operation=\"binding\"} 0\n"));
  EXPECT_THAT(text, HasSubstr("scheduler_pod_scheduling_attempts_sum 1\n"));
}

TEST(MetricsObserverTest, FifteenAttemptsAndMoreCountTogether) {
  metrics::Registry registry;
  metrics::LocalMetrics local(registry);
  base::VirtualClock clock;
  scheduler::MetricsObserver observer(local, clock);
  for (const int attempts : {14, 15, 40}) {
    observer.ObservePodScheduled(attempts, std::chrono::seconds(1));
  }
  local.Publish();
  const std::string text = registry.Exposition();
  EXPECT_THAT(text, HasSubstr("_sli_duration_seconds_count{attempts=\"14\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("_sli_duration_seconds_count{attempts=\"15+\"} 2\n"));
}

}  // namespace
}  // namespace berth::test
