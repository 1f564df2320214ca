// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include "src/queue/queue_state.h"
#include "tests/unit/queue/queue_fixture.h"

namespace berth::queue {
namespace {

TEST(BackoffTest, DoublesFromTheInitialToTheMaximumAndEndsOnAWholeSecond) {
  const Time start = std::chrono::sys_days(std::chrono::year(2026) / 1 / 1);
  const struct {
    const char* name;
    QueueOptions options;
    int unschedulable;
    int errors;
    Duration want;  // after `start`; zero for no backoff at all
  } cases[] = {
      {"no failure", {}, 0, 0, Duration::zero()},
      {"first", {}, 1, 0, seconds(1)},
      {"second", {}, 2, 0, seconds(2)},
      {"fourth", {}, 4, 0, seconds(8)},
      {"fifth reaches the maximum", {}, 5, 0, seconds(10)},
      {"hundredth", {}, 100, 0, seconds(10)},
      {"errors win over rejections", {}, 5, 1, seconds(1)},
      {"rounded down", {.pod_initial_backoff = milliseconds(1900)}, 1, 0, seconds(1)},
      {"not rounded without windows",
       {.pod_initial_backoff = milliseconds(1900), .pop_from_backoff_q = false},
       1,
       0,
       milliseconds(1900)},
      {"switched off", {.pod_max_backoff = Duration::zero()}, 3, 0, Duration::zero()},
      {"initial above the maximum", {.pod_initial_backoff = seconds(20)}, 1, 0, seconds(10)},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    QueuedPod pod;
    pod.timestamp = start;
    pod.unschedulable_count = c.unschedulable;
    pod.consecutive_errors_count = c.errors;
    const Backoff backoff(c.options);
    EXPECT_EQ(backoff.Expiration(pod), c.want.count() == 0 ? Time::min() : start + c.want);
    EXPECT_EQ(backoff.IsBackingOff(pod, start), c.want.count() != 0);
  }
}

TEST(BackoffTest, APodStillBacksOffInTheSecondOfItsExpiry) {
  const Time start = std::chrono::sys_days(std::chrono::year(2026) / 1 / 1);
  QueuedPod pod;
  pod.timestamp = start + milliseconds(300);
  pod.unschedulable_count = 1;
  const Backoff backoff(QueueOptions{});
  EXPECT_TRUE(backoff.IsBackingOff(pod, start + milliseconds(1999)));
  EXPECT_FALSE(backoff.IsBackingOff(pod, start + seconds(2)));
}

TEST_F(QueueTest, BackoffQIsFlushedOnWholeSeconds) {
  clock.Advance(milliseconds(300));
  Make({});
  Park("error", {});
  EXPECT_EQ(queue->NextWakeup(), now() + milliseconds(1700));
  EXPECT_EQ(Pop(), "") << "an error backs off to the end";
  clock.Advance(milliseconds(1699));
  queue->Tick(now());
  EXPECT_EQ(Pop(), "");
  clock.Advance(milliseconds(1));
  queue->Tick(now());
  EXPECT_EQ(Pop(), "error");
}

TEST_F(QueueTest, AnEmptyActiveQTakesRejectedPodsFromBackoffQByPriorityWithinASecond) {
  Park("low", {"Fit"}, {}, 1);
  Park("high", {"Fit"}, {}, 2);
  Park("error", {}, {}, 3);
  Move(kNodeAdd);
  Add("new", 0);
  EXPECT_EQ(Pop(), "new");
  EXPECT_TRUE(queue->HasReady());
  EXPECT_EQ(Pop(), "high");
  EXPECT_EQ(Pop(), "low");
  EXPECT_FALSE(queue->HasReady());
  EXPECT_EQ(Pop(), "");
}

TEST_F(QueueTest, PodsAreTakenEarlyOneAfterTheOtherAsTheirConditionsAreShown) {
  const auto fail = [this](const char* name) {
    popped[name]->condition_unshown = true;
    Reject(name, {"Fit"});
  };
  const auto show = [this](const char* name) {
    Update(NamedPod(name), NamedPod(name).Condition("PodScheduled", "False"));
  };
  for (const char* name : {"first", "second", "third"}) {
    Add(name);
    ASSERT_EQ(Pop(), name);
    fail(name);
  }
  Move(kNodeAdd);
  EXPECT_FALSE(queue->HasReady()) << "the condition of the first is not shown";
  show("first");
  EXPECT_EQ(Pop(), "first");
  EXPECT_EQ(Pop(), "") << "that of the second is not";
  show("second");
  show("third");
  EXPECT_EQ(Pop(), "second") << "the first may have found its node";
  fail("second");
  EXPECT_EQ(Pop(), "") << "the second was taken early, and what it learned is not written";
  Advance(seconds(2));
  EXPECT_EQ(Pop(), "third") << "its backoff is over, whatever becomes of conditions";
}

TEST_F(QueueTest, AConditionThatIsNeverShownHoldsUpNoPodForMoreThanASecond) {
  Park("refused", {"Fit"});
  Move(kNodeAdd);
  ASSERT_EQ(Pop(), "refused") << "taken early";
  popped["refused"]->condition_unshown = true;
  Reject("refused", {"Fit"});
  for (const char* name : {"first", "second"}) {
    Add(name);
    ASSERT_EQ(Pop(), name);
    popped[name]->unschedulable_count = 3;
    popped[name]->condition_unshown = name == std::string("second");
    Reject(name, {"Taint"});
  }
  Move(kNodeTaint);
  EXPECT_EQ(queue->BackoffEnds(Key("first")), now() + seconds(8));
  EXPECT_EQ(Pop(), "");
  EXPECT_EQ(queue->NextWakeup(), now() + seconds(1));
  Advance(seconds(1));
  EXPECT_EQ(Pop(), "first");
  EXPECT_EQ(Pop(), "second");
}

TEST_F(QueueTest, AnEarlierSecondOfBackoffQGoesBeforeAHigherPriority) {
  Park("early", {"Fit"}, {}, 1);
  Advance(seconds(1));
  Park("late", {"Fit"}, {}, 9);
  Move(kNodeAdd);
  EXPECT_EQ(Pop(), "early");
  EXPECT_EQ(Pop(), "late");
}

TEST_F(QueueTest, WithoutTheGateNothingLeavesBackoffQEarlyAndFlushesRunFromTheStart) {
  clock.Advance(milliseconds(300));
  Make({.pop_from_backoff_q = false});
  clock.Advance(milliseconds(200));
  Park("a", {"Fit"});
  pre_enqueue_calls = 0;
  Move(kNodeAdd);
  EXPECT_EQ(pre_enqueue_calls, 0);
  EXPECT_EQ(Where("a"), Place::kBackoff);
  EXPECT_FALSE(queue->HasReady());
  EXPECT_EQ(queue->NextWakeup(), now() + milliseconds(1800));
  clock.Advance(milliseconds(1800));
  queue->Tick(now());
  EXPECT_EQ(pre_enqueue_calls, 1) << "asked on the way to activeQ instead";
  EXPECT_EQ(Pop(), "a");
}

TEST_F(QueueTest, PreEnqueueRunsOnceForAPodThatPassesThroughBackoffQ) {
  Park("a", {"Fit"});
  pre_enqueue_calls = 0;
  Move(kNodeAdd);
  EXPECT_EQ(pre_enqueue_calls, 1);
  Advance(seconds(5));
  EXPECT_EQ(Where("a"), Place::kActive);
  EXPECT_EQ(pre_enqueue_calls, 1);
}

TEST_F(QueueTest, AGateClosedMeanwhileKeepsAPodFromBackoffQ) {
  Park("a", {"Fit"});
  gated_by["a"] = "Gate";
  Move(kNodeAdd);
  EXPECT_EQ(queue->counts().gated, 1u);
  EXPECT_EQ(queue->counts().backoff, 0u);
}

TEST_F(QueueTest, APodParkedForMoreThanFiveMinutesIsTriedAgain) {
  Park("a", {"Mute"});
  Advance(minutes(5));
  EXPECT_EQ(Where("a"), Place::kUnschedulable) << "exactly five minutes are not enough";
  Advance(seconds(30));
  ASSERT_EQ(Pop(), "a");
  EXPECT_TRUE(popped["a"]->was_flushed_from_unschedulable);
  Reject("a", {"Mute"});
  EXPECT_FALSE(queue->Find(Key("a"))->was_flushed_from_unschedulable);
}

TEST_F(QueueTest, AFlushedPodThatIsGatedWaitsAnotherFiveMinutes) {
  gated_by["a"] = "Mute";
  Add("a");
  pre_enqueue_calls = 0;
  Advance(minutes(5) + seconds(30));
  EXPECT_EQ(pre_enqueue_calls, 1);
  EXPECT_FALSE(queue->Find(Key("a"))->was_flushed_from_unschedulable);
  Advance(minutes(5));
  EXPECT_EQ(pre_enqueue_calls, 1);
  Advance(seconds(30));
  EXPECT_EQ(pre_enqueue_calls, 2);
}

TEST_F(QueueTest, AFlushCountsAsAnEventForPodsInFlight) {
  Park("parked", {"Mute"});
  Add("flying");
  ASSERT_EQ(Pop(), "flying");
  Advance(minutes(6));
  EXPECT_EQ(Reject("flying", {"Mute"}), Place::kBackoff);
}

TEST_F(QueueTest, NextWakeupNamesTheFirstTimerWithWork) {
  EXPECT_EQ(queue->NextWakeup(), std::nullopt);
  Add("active");
  EXPECT_EQ(queue->NextWakeup(), std::nullopt) << "HasReady() tells of those";
  const Time start = now();
  Park("parked", {"Fit"});
  EXPECT_EQ(queue->NextWakeup(), start + seconds(30));
  Park("error", {});
  EXPECT_EQ(queue->NextWakeup(), start + seconds(2));
  // Long idle: the next tick is after the last, not one for each period missed.
  clock.Advance(seconds(100));
  queue->Tick(now());
  EXPECT_EQ(queue->NextWakeup(), start + seconds(120));
}

}  // namespace
}  // namespace berth::queue
