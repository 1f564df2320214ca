// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "src/base/thread.h"
#include "src/metrics/local_metrics.h"
#include "src/metrics/process_metrics.h"
#include "src/metrics/registry.h"

namespace berth::metrics {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

// The lines of the exposition that speak of `name`.
std::string Lines(Registry& registry, std::string_view name) {
  const std::string text = registry.Exposition();
  std::string found;
  for (size_t at = 0; at < text.size();) {
    const size_t end = text.find('\n', at);
    const std::string line = text.substr(at, end - at + 1);
    if (line.find(name) != std::string::npos) found += line;
    at = end + 1;
  }
  return found;
}

TEST(MetricTableTest, EveryMetricIsNamedOnceAPageAndWellFormed) {
  std::set<std::pair<Page, std::string_view>> names;
  for (const MetricSpec& spec : MetricTable()) {
    SCOPED_TRACE(spec.name);
    EXPECT_TRUE(names.insert({spec.page, spec.name}).second);
    EXPECT_EQ(spec.type == MetricType::kHistogram, !spec.buckets.empty());
    EXPECT_TRUE(std::is_sorted(spec.buckets.begin(), spec.buckets.end()));
    EXPECT_FALSE(spec.help.empty());
    // Two names that kube-scheduler has are counters without saying so.
    if (!spec.name.starts_with("authenticat")) {
      EXPECT_EQ(spec.type == MetricType::kCounter, spec.name.ends_with("_total"));
    }
  }
}

TEST(MetricTableTest, BucketsAreKubeSchedulers) {
  const struct {
    Metric metric;
    size_t count;
    double first;
    double last;
  } cases[] = {
      {Metric::kSchedulingAttemptDuration, 15, 0.001, 16.384},
      {Metric::kFrameworkExtensionPointDuration, 12, 0.0001, 0.2048},
      {Metric::kPluginExecutionDuration, 20, 0.00001, 0.022168},
      {Metric::kPodSchedulingSliDuration, 20, 0.01, 5242.88},
      {Metric::kPodSchedulingAttempts, 5, 1, 16},
      {Metric::kRestClientRequestDuration, 12, 0.005, 60},
  };
  for (const auto& c : cases) {
    const MetricSpec& spec = SpecOf(c.metric);
    SCOPED_TRACE(spec.name);
    ASSERT_EQ(spec.buckets.size(), c.count);
    EXPECT_DOUBLE_EQ(spec.buckets.front(), c.first);
    EXPECT_NEAR(spec.buckets.back(), c.last, c.last * 1e-4);
  }
}

TEST(RegistryTest, ExposesCountersWithHelpTypeAndSortedSeries) {
  Registry registry;
  registry.Add(registry.Intern(Metric::kScheduleAttempts, {"scheduled", "b"}), 3);
  registry.Add(registry.Intern(Metric::kScheduleAttempts, {"error", "default-scheduler"}));
  registry.Add(registry.Intern(Metric::kScheduleAttempts, {"scheduled", "a\"\\"}));
  EXPECT_EQ(
      Lines(registry, "scheduler_schedule_attempts_total"),
      "# HELP scheduler_schedule_attempts_total [STABLE] Number of attempts to schedule pods, by "
      "the result. 'unschedulable' means a pod could not be scheduled, while 'error' means an "
      "internal scheduler problem.\n"
      "# TYPE scheduler_schedule_attempts_total counter\n"
      "scheduler_schedule_attempts_total{profile=\"a\\\"\\\\\",result=\"scheduled\"} 1\n"
      "scheduler_schedule_attempts_total{profile=\"b\",result=\"scheduled\"} 3\n"
      "scheduler_schedule_attempts_total{profile=\"default-scheduler\",result=\"error\"} 1\n");
}

TEST(RegistryTest, ExposesHistogramsCumulativelyWithABoundPastAll) {
  Registry registry;
  const SeriesId series = registry.Intern(Metric::kPodSchedulingAttempts);
  for (const double value : {1.0, 2.0, 3.0, 100.0}) registry.Observe(series, value);
  EXPECT_EQ(Lines(registry, "scheduler_pod_scheduling_attempts"),
            "# HELP scheduler_pod_scheduling_attempts [STABLE] Number of attempts to successfully "
            "schedule a pod.\n"
            "# TYPE scheduler_pod_scheduling_attempts histogram\n"
            "scheduler_pod_scheduling_attempts_bucket{le=\"1\"} 1\n"
            "scheduler_pod_scheduling_attempts_bucket{le=\"2\"} 2\n"
            "scheduler_pod_scheduling_attempts_bucket{le=\"4\"} 3\n"
            "scheduler_pod_scheduling_attempts_bucket{le=\"8\"} 3\n"
            "scheduler_pod_scheduling_attempts_bucket{le=\"16\"} 3\n"
            "scheduler_pod_scheduling_attempts_bucket{le=\"+Inf\"} 4\n"
            "scheduler_pod_scheduling_attempts_sum 106\n"
            "scheduler_pod_scheduling_attempts_count 4\n");
}

TEST(RegistryTest, MetricsWithoutLabelsAreThereFromTheStartAndOthersFromTheirFirstUse) {
  Registry registry;
  EXPECT_THAT(registry.Exposition(), HasSubstr("scheduler_preemption_attempts_total 0\n"));
  EXPECT_THAT(registry.Exposition(), Not(HasSubstr("scheduler_pending_pods")));
  registry.Intern(Metric::kPendingPods, {"gated"});
  EXPECT_THAT(registry.Exposition(), HasSubstr("scheduler_pending_pods{queue=\"gated\"} 0\n"));
}

TEST(RegistryTest, InternGivesOneSeriesForEachSetOfLabels) {
  Registry registry;
  const SeriesId a = registry.Intern(Metric::kCacheSize, {"nodes"});
  EXPECT_EQ(registry.Intern(Metric::kCacheSize, {"nodes"}), a);
  EXPECT_NE(registry.Intern(Metric::kCacheSize, {"pods"}), a);
  EXPECT_NE(registry.Intern(Metric::kUnschedulablePods, {"ab", "c"}),
            registry.Intern(Metric::kUnschedulablePods, {"a", "bc"}));
}

TEST(RegistryTest, BoundsReadAsKubeSchedulersDo) {
  Registry registry;
  registry.Intern(Metric::kFrameworkExtensionPointDuration, {"Filter", "Success", "p"});
  registry.Intern(Metric::kRestClientRequestSize, {"GET", "h"});
  const std::string text = registry.Exposition();
  EXPECT_THAT(text, HasSubstr("status=\"Success\",le=\"0.0032\"} 0\n"));
  EXPECT_THAT(text, HasSubstr("verb=\"GET\",le=\"262144\"} 0\n"));
  EXPECT_THAT(text, HasSubstr("verb=\"GET\",le=\"1.048576e+06\"} 0\n"));
}

TEST(RegistryTest, HidesWhatIsDisabledOrDeprecatedAndCountsIt) {
  Registry plain;
  plain.Intern(Metric::kPreemptionGoroutinesDuration, {"success"});
  EXPECT_EQ(Lines(plain, "preemption_goroutines_duration_seconds"), "");
  EXPECT_THAT(plain.Exposition(), HasSubstr("\nhidden_metrics_total 1\n"));
  EXPECT_THAT(plain.Exposition(), HasSubstr("\ndisabled_metrics_total 0\n"));

  Registry registry({.show_hidden = true,
                     .disabled = {"scheduler_preemption_attempts_total", "kubernetes_healthcheck",
                                  "kube_pod_resource_limit", "no_such_metric"},
                     .allowed_values = {}});
  registry.Intern(Metric::kPreemptionGoroutinesDuration, {"success"});
  EXPECT_THAT(registry.Exposition(),
              HasSubstr("# HELP scheduler_preemption_goroutines_duration_seconds [ALPHA] "
                        "(Deprecated since 1.37.0) Duration in seconds"));
  EXPECT_THAT(registry.Exposition(), HasSubstr("stability_level=\"ALPHA\"} "));
  EXPECT_EQ(Lines(registry, "scheduler_preemption_attempts_total"), "");
  // What is disabled is hidden, too.
  EXPECT_THAT(registry.Exposition(), HasSubstr("\nhidden_metrics_total 2\n"));
  EXPECT_THAT(registry.Exposition(), HasSubstr("\ndisabled_metrics_total 4\n"));
  const auto stable = [](Registry& of) {
    return of.Read(of.Intern(Metric::kRegisteredMetrics, {"STABLE", ""})).value;
  };
  EXPECT_EQ(stable(registry), stable(plain) - 2);
  Registry both({.disabled = {"scheduler_preemption_goroutines_duration_seconds"}});
  EXPECT_THAT(both.Exposition(), HasSubstr("\nhidden_metrics_total 1\n"));
}

TEST(RegistryTest, WhatGatesLeaveOutIsNotThere) {
  const auto registered = [](Registry& registry) {
    return registry.Read(registry.Intern(Metric::kRegisteredMetrics, {"ALPHA", ""})).value;
  };
  Registry all;
  Registry some(
      {.disabled = {},
       .absent = {Metric::kWorkloadPreemptionVictims, Metric::kPreemptionGoroutinesExecution},
       .allowed_values = {}});
  some.Add(some.Intern(Metric::kPreemptionGoroutinesExecution, {"success"}));
  EXPECT_NE(Lines(all, "scheduler_workload_preemption_victims"), "");
  EXPECT_EQ(Lines(some, "scheduler_workload_preemption_victims"), "");
  EXPECT_EQ(Lines(some, "scheduler_preemption_goroutines_execution_total"), "");
  EXPECT_EQ(registered(some), registered(all) - 2);
  EXPECT_THAT(some.Exposition(), HasSubstr("\nhidden_metrics_total 1\n"));
}

TEST(RegistryTest, LabelValuesThatAreNotAllowedCountTogether) {
  Registry registry(
      {.show_hidden = false,
       .disabled = {},
       .allowed_values = {{{"scheduler_schedule_attempts_total", "profile"}, {"known"}}}});
  registry.Add(registry.Intern(Metric::kScheduleAttempts, {"error", "known"}));
  registry.Add(registry.Intern(Metric::kScheduleAttempts, {"error", "one"}));
  registry.Add(registry.Intern(Metric::kScheduleAttempts, {"error", "two"}));
  const std::string text = registry.Exposition();
  EXPECT_THAT(text, HasSubstr("_attempts_total{profile=\"known\",result=\"error\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("_attempts_total{profile=\"unexpected\",result=\"error\"} 2\n"));
  EXPECT_THAT(text, HasSubstr("unexpected_categorizations_total 2\n"));
}

TEST(RegistryTest, EachUseOfALabelValueThatIsNotAllowedCounts) {
  Registry registry(
      {.allowed_values = {{{"scheduler_schedule_attempts_total", "profile"}, {"known"}},
                          {{"scheduler_permit_wait_duration_seconds", "result"}, {"Success"}},
                          {{"scheduler_cache_size", "type"}, {"pods"}}}});
  const auto unexpected = [&registry] {
    return registry.Read(registry.Intern(Metric::kUnexpectedLabels)).value;
  };
  LocalMetrics local(registry);
  const SeriesId attempts = local.Series(Metric::kScheduleAttempts, {"error", "one"});
  const SeriesId known = local.Series(Metric::kScheduleAttempts, {"error", "known"});
  const SeriesId waits = local.Series(Metric::kPermitWaitDuration, {"Unschedulable"});
  const SeriesId nodes = local.Series(Metric::kCacheSize, {"nodes"});
  EXPECT_EQ(unexpected(), 0);
  for (int i = 0; i < 3; ++i) local.Add(attempts);
  local.Add(known);
  for (int i = 0; i < 2; ++i) local.Observe(waits, 0.5);
  local.Set(nodes, 7);
  local.Publish();
  EXPECT_EQ(unexpected(), 6);
  registry.Observe(waits, 1);
  registry.Set(nodes, 8);
  EXPECT_EQ(unexpected(), 8);
}

TEST(RegistryTest, AGaugeThatIsReplacedHasNoOtherSeries) {
  Registry registry(
      {.show_hidden = false,
       .disabled = {},
       .allowed_values = {{{"berth_packing_largest_gang", "node_pool"}, {"a", "b"}}}});
  registry.Replace(Metric::kPackingLargestGang, {{{"a"}, 1}, {{"b"}, 2}});
  EXPECT_EQ(Lines(registry, "berth_packing_largest_gang{"),
            "berth_packing_largest_gang{node_pool=\"a\"} 1\n"
            "berth_packing_largest_gang{node_pool=\"b\"} 2\n");
  registry.Replace(Metric::kPackingLargestGang, {{{"b"}, 3}, {{"c"}, 4}, {{"d"}, 5}});
  EXPECT_EQ(Lines(registry, "berth_packing_largest_gang{"),
            "berth_packing_largest_gang{node_pool=\"b\"} 3\n"
            "berth_packing_largest_gang{node_pool=\"unexpected\"} 9\n");
  EXPECT_THAT(registry.Exposition(), HasSubstr("unexpected_categorizations_total 2\n"));
}

TEST(RegistryTest, EachPageShowsItsOwnAndResetsItsCountersOnly) {
  Registry registry;
  registry.Add(registry.Intern(Metric::kHealthchecks, {"ping", "livez", "success"}), 2);
  registry.Set(registry.Intern(Metric::kHealthcheck, {"ping", "livez"}), 1);
  registry.Add(registry.Intern(Metric::kPreemptionAttempts), 3);
  EXPECT_EQ(Lines(registry, "kubernetes_healthcheck"), "");
  registry.Reset(Page::kSlis);
  const std::string slis = registry.Exposition(Page::kSlis);
  EXPECT_THAT(slis, HasSubstr("kubernetes_healthcheck{name=\"ping\",type=\"livez\"} 1\n"));
  EXPECT_THAT(slis, HasSubstr("{name=\"ping\",status=\"success\",type=\"livez\"} 0\n"));
  EXPECT_THAT(slis, Not(HasSubstr("scheduler_")));
  EXPECT_THAT(registry.Exposition(), HasSubstr("scheduler_preemption_attempts_total 3\n"));
}

TEST(RegistryTest, WhatIsReadRatherThanCountedIsReadForEachExposition) {
  Registry registry;
  double temperature = 0;
  registry.BeforeExposition([&temperature](Registry& target) {
    target.Set(target.Intern(Metric::kInboxDepth), ++temperature);
  });
  EXPECT_THAT(registry.Exposition(), HasSubstr("berth_inbox_depth 1\n"));
  EXPECT_THAT(registry.Exposition(), HasSubstr("berth_inbox_depth 2\n"));
}

TEST(ProcessMetricsTest, TellsWhatLinuxTells) {
  Registry registry;
  ReadProcess(registry);
  const auto value = [&](Metric metric) { return registry.Read(registry.Intern(metric)).value; };
  EXPECT_GT(value(Metric::kProcessCpu), 0);
  EXPECT_GT(value(Metric::kProcessResidentMemory), 1e6);
  EXPECT_GT(value(Metric::kProcessVirtualMemory), value(Metric::kProcessResidentMemory));
  EXPECT_GE(value(Metric::kProcessOpenFds), 3);
  EXPECT_GT(value(Metric::kProcessMaxFds), value(Metric::kProcessOpenFds));
  EXPECT_GT(value(Metric::kProcessStartTime), 1.6e9) << "seconds since 1970";
  EXPECT_EQ(value(Metric::kProcessStartTime), value(Metric::kSlisProcessStartTime));
}

// The allocator of a sanitizer, which takes jemalloc's place, does not say.
#ifdef BERTH_JEMALLOC
TEST(ProcessMetricsTest, TheHeapIsThatOfTheAllocatorInUse) {
  Registry registry;
  const auto heap = [&registry](const char* state) {
    ReadProcess(registry);
    return registry.Read(registry.Intern(Metric::kHeapBytes, {state})).value;
  };
  const double before = heap("used");
  EXPECT_GT(before, 0);
  constexpr size_t kBlock = 1024;
  std::vector<std::unique_ptr<char[]>> blocks;
  for (int i = 0; i < 32 * 1024; ++i) blocks.push_back(std::make_unique<char[]>(kBlock));
  EXPECT_GE(heap("used"), before + 32e6);
  blocks.clear();
  EXPECT_LT(heap("used"), before + 8e6);
  EXPECT_GE(heap("free"), 24e6) << "kept for a while";
}
#endif

TEST(RegistryTest, ThreadsMayCountAtOnce) {
  Registry registry;
  const SeriesId series = registry.Intern(Metric::kDroppedEvents);
  constexpr int kTimes = 2000;
  const auto count = [&] {
    for (int i = 0; i < kTimes; ++i) {
      registry.Add(series);
      registry.Observe(registry.Intern(Metric::kRestClientRequestDuration, {"GET", "host"}), 1);
    }
  };
  base::NamedThread a("metrics-a", count);
  base::NamedThread b("metrics-b", count);
  for (int i = 0; i < 20; ++i) EXPECT_FALSE(registry.Exposition().empty());
  a.Join();
  b.Join();
  EXPECT_EQ(registry.Read(series).value, 2 * kTimes);
}

TEST(LocalMetricsTest, PublishHandsOverWhatChangedOnce) {
  Registry registry;
  LocalMetrics local(registry);
  const SeriesId counter = local.Series(Metric::kLoopTurns);
  const SeriesId histogram = local.Series(Metric::kPodSchedulingAttempts);
  local.Add(counter, 2);
  local.Observe(histogram, 3.0);
  EXPECT_EQ(registry.Read(counter).value, 0);
  local.Publish();
  local.Publish();
  EXPECT_EQ(registry.Read(counter).value, 2);
  EXPECT_EQ(registry.Read(histogram).sum, 3);
  EXPECT_THAT(registry.Read(histogram).buckets, ElementsAre(0, 0, 1, 0, 0, 0));
  local.Add(counter);
  local.Observe(histogram, 17.0);
  local.Publish();
  EXPECT_EQ(registry.Read(counter).value, 3);
  EXPECT_THAT(registry.Read(histogram).buckets, ElementsAre(0, 0, 1, 0, 0, 1));
}

TEST(LocalMetricsTest, AGaugeKeepsItsValueAcrossPublish) {
  Registry registry;
  LocalMetrics local(registry);
  const SeriesId gauge =
      local.Series(Metric::kUnschedulablePods, {"NodeName", "default-scheduler"});
  local.Add(gauge, 3);
  local.Publish();
  local.Add(gauge, -1);
  local.Publish();
  EXPECT_EQ(registry.Read(gauge).value, 2);
  local.Set(gauge, 0);
  local.Publish();
  EXPECT_EQ(registry.Read(gauge).value, 0);
}

TEST(LocalMetricsTest, TwoOwnersAddUpTheirCounters) {
  Registry registry;
  LocalMetrics one(registry);
  LocalMetrics two(registry);
  one.Add(one.Series(Metric::kLoopTurns));
  two.Add(two.Series(Metric::kLoopTurns));
  two.Publish();
  one.Publish();
  EXPECT_EQ(registry.Read(registry.Intern(Metric::kLoopTurns)).value, 2);
}

TEST(LocalMetricsTest, DurationsCountInSeconds) {
  Registry registry;
  LocalMetrics local(registry);
  const SeriesId series = local.Series(Metric::kSchedulingAlgorithmDuration);
  local.Observe(series, std::chrono::milliseconds(1));
  local.Publish();
  EXPECT_DOUBLE_EQ(registry.Read(series).sum, 0.001);
  EXPECT_EQ(registry.Read(series).buckets[0], 1u) << "a bound belongs to its bucket";
}

}  // namespace
}  // namespace berth::metrics
