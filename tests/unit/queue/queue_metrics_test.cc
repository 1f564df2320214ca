// SPDX-License-Identifier: Apache-2.0
#include "src/queue/queue_metrics.h"

#include <gmock/gmock.h>

#include "tests/unit/queue/queue_fixture.h"

namespace berth::queue {
namespace {

using metrics::Metric;

class QueueMetricsTest : public QueueTest {
 protected:
  QueueMetricsTest() { Make({}, QueueMetrics(&local, &clock)); }

  double Value(Metric metric, std::initializer_list<std::string_view> labels) {
    queue->UpdateGauges();
    local.Publish();
    return registry.Read(registry.Intern(metric, labels)).value;
  }

  metrics::Registry registry;
  metrics::LocalMetrics local{registry};
};

TEST_F(QueueMetricsTest, IncomingPodsAreCountedByQueueAndEvent) {
  Park("a", {"Fit"});
  Move(kNodeAdd);
  Pop();
  Reject("a", {});
  Advance(seconds(10));
  Park("b", {"Fit"});
  Advance(seconds(30));
  Move(kNodeAdd);
  const struct {
    std::string_view queue;
    std::string_view event;
    double pods;
    double entities;  // those whose way the strategy alone does not tell
  } cases[] = {
      {"active", "UnscheduledPodAdd", 2, 2}, {"unschedulable", "ScheduleAttemptFailure", 2, 0},
      {"backoff", "NodeAdd", 1, 0},          {"active", "NodeAdd", 1, 1},
      {"active", "PopFromBackoffQ", 1, 1},   {"backoff", "ScheduleAttemptFailure", 1, 0},
      {"active", "BackoffComplete", 1, 1},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(std::string(c.queue) + " " + std::string(c.event));
    EXPECT_EQ(Value(Metric::kQueueIncomingPods, {c.queue, c.event}), c.pods);
    EXPECT_EQ(Value(Metric::kQueueIncomingEntities, {c.queue, c.event, "pod"}), c.entities);
  }
}

TEST_F(QueueMetricsTest, PendingPodsFollowTheQueuesAndShowFromTheStart) {
  local.Publish();
  for (const char* name :
       {"active", "backoff", "unschedulable", "gated", "incomplete", "pending"}) {
    EXPECT_THAT(registry.Exposition(), ::testing::HasSubstr("scheduler_pending_pods{queue=\"" +
                                                            std::string(name) + "\"} 0"));
  }
  Park("parked", {"Fit"});
  Park("error", {});
  gated_by["gated"] = "Gate";
  Add("gated");
  Add("one");
  Add("two");
  EXPECT_EQ(Value(Metric::kPendingPods, {"active"}), 2);
  EXPECT_EQ(Value(Metric::kPendingPods, {"backoff"}), 1);
  EXPECT_EQ(Value(Metric::kPendingPods, {"unschedulable"}), 1);
  EXPECT_EQ(Value(Metric::kPendingPods, {"gated"}), 1);
  EXPECT_EQ(Value(Metric::kQueuedEntities, {"active", "pod"}), 2);
}

TEST_F(QueueMetricsTest, UnschedulablePodsCountEachRejectorFromReturnToPopOrDelete) {
  Park("a", {"Fit", "Taint"}, {"Fit"});
  EXPECT_EQ(Value(Metric::kUnschedulablePods, {"Fit", "default-scheduler"}), 1);
  EXPECT_EQ(Value(Metric::kUnschedulablePods, {"Taint", "default-scheduler"}), 1);
  Move(kNodeAdd);
  EXPECT_EQ(Value(Metric::kUnschedulablePods, {"Fit", "default-scheduler"}), 1);
  ASSERT_EQ(Pop(), "a");
  EXPECT_EQ(Value(Metric::kUnschedulablePods, {"Fit", "default-scheduler"}), 0);
  EXPECT_EQ(Value(Metric::kUnschedulablePods, {"Taint", "default-scheduler"}), 0);

  gated_by["b"] = "Gate";
  Add("b");
  Move(kNodeTaint);
  EXPECT_EQ(Value(Metric::kUnschedulablePods, {"Gate", "default-scheduler"}), 1)
      << "once, however often the gate holds";
  EXPECT_EQ(Value(Metric::kQueueIncomingPods, {"unschedulable", "NodeUpdateNodeTaint"}), 1);
  queue->Delete(NamedPod("b"), now());
  EXPECT_EQ(Value(Metric::kUnschedulablePods, {"Gate", "default-scheduler"}), 0);
}

TEST_F(QueueMetricsTest, OfACrowdAtOneGateOnlyThoseThatItTellsOfAreAskedAboutAndAllAreCounted) {
  for (const char* name : {"a", "b", "c"}) {
    gated_by[name] = "Warden";
    class_of[name] = 1;
    Add(name);
  }
  Move(kNodeTaint);
  const int asked = pre_enqueue_calls;
  Move(kNodeTaint);
  EXPECT_EQ(pre_enqueue_calls, asked);
  EXPECT_EQ(Value(Metric::kQueueIncomingPods, {"unschedulable", "NodeUpdateNodeTaint"}), 6);
  EXPECT_EQ(Value(Metric::kQueueIncomingEntities, {"unschedulable", "NodeUpdateNodeTaint", "pod"}),
            6);

  // Told of two, of which one is held back still; and once more of another one.
  moved_gates = {"a", "b"};
  gated_by.erase("b");
  Move(kNodeTaint);
  EXPECT_EQ(Where("b"), Place::kActive);
  EXPECT_EQ(Where("a"), Place::kUnschedulable);
  EXPECT_EQ(Where("c"), Place::kUnschedulable);
  EXPECT_EQ(Value(Metric::kQueueIncomingPods, {"unschedulable", "NodeUpdateNodeTaint"}), 8);
  gated_by.clear();
  moved_gates = {"c"};
  Move(kNodeAdd);
  EXPECT_EQ(Where("c"), Place::kUnschedulable) << "the plugin did not register for it";
  queue->Regroup();
  Move(kNodeTaint);
  EXPECT_EQ(Where("c"), Place::kActive) << "told of earlier, and parked again meanwhile";
  EXPECT_EQ(Where("a"), Place::kUnschedulable) << "not told of";
}

TEST_F(QueueMetricsTest, InFlightEventsAreCountedUntilNoPodNeedsThem) {
  Move(kNodeAdd);
  Add("a", 2);
  Add("b", 1);
  Pop();
  Move(kNodeAdd);
  Pop();
  Move(kNodeAdd);
  EXPECT_EQ(Value(Metric::kInFlightEvents, {"NodeAdd"}), 2);
  EXPECT_EQ(Value(Metric::kInFlightEvents, {"PodPopped"}), 2);
  queue->Done("uid-a");
  EXPECT_EQ(Value(Metric::kInFlightEvents, {"NodeAdd"}), 1);
  queue->Done("uid-b");
  EXPECT_EQ(Value(Metric::kInFlightEvents, {"NodeAdd"}), 0);
  EXPECT_EQ(Value(Metric::kInFlightEvents, {"PodPopped"}), 0);
}

TEST_F(QueueMetricsTest, HintsAreTimedByPluginEventAndVerdict) {
  Park("a", {"Taint"});
  taint_hint = QueueingHint::kQueueSkip;
  Move(kNodeAdd);
  taint_hint = Fail("no idea");
  Move(kNodeAdd);
  local.Publish();
  for (const char* verdict : {"QueueSkip", "Error"}) {
    const auto series =
        registry.Intern(Metric::kQueueingHintExecutionDuration, {"Taint", "NodeAdd", verdict});
    EXPECT_EQ(registry.Read(series).buckets[0], 1u) << verdict;
  }
}

}  // namespace
}  // namespace berth::queue
