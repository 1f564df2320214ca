// SPDX-License-Identifier: Apache-2.0
#include "src/queue/scheduling_queue.h"

#include <gmock/gmock.h>

#include "src/base/logging.h"
#include "tests/unit/queue/queue_fixture.h"

namespace berth::queue {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST_F(QueueTest, PopTakesTheHighestPriorityThenTheOldestThenTheFirstToCome) {
  Add("late-a");
  Add("late-b");
  Add("high", 10);
  clock.Advance(-seconds(5));
  Add("early");
  EXPECT_EQ(Pop(), "high");
  EXPECT_EQ(Pop(), "early");
  EXPECT_EQ(Pop(), "late-a");
  EXPECT_EQ(Pop(), "late-b");
  EXPECT_EQ(Pop(), "");
}

TEST_F(QueueTest, PopCountsAnAttemptAndMarksThePodInFlight) {
  Add("a");
  EXPECT_FALSE(queue->IsInFlight("uid-a"));
  EXPECT_EQ(Pop(), "a");
  EXPECT_EQ(popped["a"]->attempts, 1);
  EXPECT_TRUE(queue->IsInFlight("uid-a"));
  EXPECT_EQ(Where("a"), Place::kNowhere);
  EXPECT_EQ(queue->counts().in_flight, 1u);
  queue->Done("uid-a");
  queue->Done("uid-a");
  EXPECT_EQ(queue->counts().in_flight, 0u);
}

TEST_F(QueueTest, AGatedPodIsParkedWithoutAnAttemptButKeepsItsNomination) {
  gated_by["a"] = "Gate";
  queue->Add(MakeInfo(NamedPod("a").NominatedNode("n1").Ptr()), now());
  EXPECT_EQ(queue->counts().gated, 1u);
  EXPECT_EQ(queue->counts().unschedulable, 0u);
  EXPECT_EQ(Pop(), "");
  const QueuedPod* pod = queue->Find(Key("a"));
  EXPECT_EQ(pod->gating_plugin, "Gate");
  EXPECT_THAT(pod->unschedulable_plugins, ElementsAre("Gate"));
  EXPECT_FALSE(pod->initial_attempt_timestamp.has_value());
  EXPECT_EQ(nominator.NominatedNode("uid-a"), "n1");
}

TEST_F(QueueTest, APodsOwnUpdateOpensItsGateAndStartsItsClock) {
  gated_by["a"] = "Gate";
  Add("a");
  const Time added = now();
  clock.Advance(seconds(7));
  Update(NamedPod("a"), NamedPod("a").Label("x", "1"));
  EXPECT_EQ(last_gating_seen, "Gate") << "the plugin that gated last is asked first";
  EXPECT_EQ(Where("a"), Place::kUnschedulable);
  gated_by.clear();
  Update(NamedPod("a"), NamedPod("a").Label("x", "2"));
  ASSERT_EQ(Pop(), "a");
  EXPECT_EQ(popped["a"]->timestamp, added);
  EXPECT_EQ(popped["a"]->initial_attempt_timestamp, now());
  EXPECT_FALSE(popped["a"]->gated());
  EXPECT_EQ(queue->counts().gated, 0u);
}

TEST_F(QueueTest, AGatedPodHearsOnlyEventsThatItsGatingPluginRegistered) {
  Park("a", {"Taint"});
  gated_by["a"] = "Gate";
  Advance(seconds(5));
  Move(kNodeAdd);
  ASSERT_EQ(queue->counts().gated, 1u);
  gated_by.clear();
  hint_calls.clear();
  Move(kNodeAdd);
  EXPECT_THAT(hint_calls, IsEmpty()) << "Taint rejected it, but Gate does not know NodeAdd";
  EXPECT_EQ(queue->counts().gated, 1u);
  Move(kNodeTaint);
  EXPECT_EQ(Where("a"), Place::kActive);
}

TEST_F(QueueTest, AWildcardEventReachesGatedPodsToo) {
  gated_by["a"] = "Mute";
  Add("a");
  gated_by.clear();
  Move(kNodeAdd);
  EXPECT_EQ(Where("a"), Place::kUnschedulable);
  Move(kWildcard);
  EXPECT_EQ(Where("a"), Place::kActive);
}

TEST_F(QueueTest, ARejectedPodIsParkedUntilAnEventItsRejectorRegistered) {
  EXPECT_EQ(Park("a", {"Fit"}), Place::kUnschedulable);
  Advance(seconds(60));
  EXPECT_EQ(Where("a"), Place::kUnschedulable);
  Move(kNodeTaint);
  EXPECT_EQ(Where("a"), Place::kUnschedulable);
  Move(kAssignedPodDelete);
  EXPECT_EQ(Where("a"), Place::kActive) << "its backoff is long over";
}

TEST_F(QueueTest, TheLogTellsWhereAPodGoesAndWhy) {
  base::SetLogVerbosity(3);
  testing::internal::CaptureStderr();
  Park("a", {"Taint", "Fit"}, {"Gate"});
  Park("b", {});
  base::FlushLogs();
  const std::string log = testing::internal::GetCapturedStderr();
  base::SetLogVerbosity(0);
  EXPECT_THAT(log,
              testing::HasSubstr("\"Pod moved to an internal scheduling queue\" pod=\"default/a\" "
                                 "event=\"ScheduleAttemptFailure\" queue=\"Unschedulable\" "
                                 "schedulingCycle=1 hint=0 "
                                 "unschedulable plugins={\"Fit\":{},\"Gate\":{},\"Taint\":{}}\n"));
  EXPECT_THAT(log, testing::HasSubstr("queue=\"Backoff\" schedulingCycle=2 hint=1 "
                                      "unschedulable plugins={}\n"));
}

TEST_F(QueueTest, ItIsKnownWhichEventWokeAPodLastAndUntilWhenItBacksOff) {
  ASSERT_EQ(Park("a", {"Fit"}), Place::kUnschedulable);
  EXPECT_EQ(queue->Find(Key("a"))->woken_by, "");
  EXPECT_EQ(queue->BackoffEnds(Key("a")), std::nullopt);
  Move(kNodeTaint);
  EXPECT_EQ(queue->Find(Key("a"))->woken_by, "") << "it did not wake";
  Move(kAssignedPodDelete);
  ASSERT_EQ(Where("a"), Place::kBackoff);
  EXPECT_EQ(queue->Find(Key("a"))->woken_by, "AssignedPodDelete");
  EXPECT_EQ(queue->Find(Key("a"))->woken_at, now());
  const auto ends = queue->BackoffEnds(Key("a"));
  ASSERT_TRUE(ends);
  EXPECT_GT(*ends, now());
  const Time woken = now();
  clock.Set(now() + seconds(10));
  queue->Tick(now());
  ASSERT_EQ(Where("a"), Place::kActive);
  EXPECT_EQ(queue->Find(Key("a"))->woken_by, "AssignedPodDelete")
      << "the end of a wait is no event";
  EXPECT_EQ(queue->Find(Key("a"))->woken_at, woken);
  EXPECT_EQ(queue->BackoffEnds(Key("a")), std::nullopt);
  EXPECT_EQ(queue->BackoffEnds(Key("nope")), std::nullopt);
}

TEST_F(QueueTest, AnEventSendsAPodThatStillBacksOffToBackoffQ) {
  Park("a", {"Fit"});
  Move(kNodeAdd);
  EXPECT_EQ(Where("a"), Place::kBackoff);
}

TEST_F(QueueTest, ASkippingHintLeavesThePodParkedAndAFailingOneDoesNot) {
  const struct {
    const char* name;
    Result<QueueingHint> hint;
    Place want;
  } cases[] = {{"skip", QueueingHint::kQueueSkip, Place::kUnschedulable},
               {"queue", QueueingHint::kQueue, Place::kBackoff},
               {"failure", Fail("no idea"), Place::kBackoff}};
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    taint_hint = c.hint;
    Park(c.name, {"Taint"});
    Move(kNodeTaint);
    EXPECT_EQ(Where(c.name), c.want);
  }
}

TEST_F(QueueTest, AnEventAsksOnlyHintsOfPluginsThatRejectedThePod) {
  Park("fit", {"Fit"});
  Park("mute", {"Mute"});
  Park("taint", {"Taint"});
  Move(kNodeAdd);
  EXPECT_THAT(hint_calls, ElementsAre("taint"));
  EXPECT_EQ(Where("mute"), Place::kUnschedulable);
}

TEST_F(QueueTest, APendingPluginsYesSkipsTheBackoff) {
  Park("pending", {"Fit"}, {"Taint"});
  Park("plain", {"Fit", "Taint"});
  Move(kNodeAdd);
  EXPECT_EQ(Where("pending"), Place::kActive);
  EXPECT_EQ(Where("plain"), Place::kBackoff);

  taint_hint = QueueingHint::kQueueSkip;
  Park("unlucky", {"Fit"}, {"Taint"});
  Move(kNodeAdd);
  EXPECT_EQ(Where("unlucky"), Place::kBackoff) << "only Fit said yes";
}

TEST_F(QueueTest, ThePredicateLimitsWhomAnEventMoves) {
  Park("low", {"Fit"}, {}, 1);
  Park("high", {"Fit"}, {}, 9);
  queue->MoveAllToActiveOrBackoffQueue(kNodeAdd, {}, {}, now(),
                                       [](const api::Pod& pod) { return pod.priority() <= 5; });
  EXPECT_EQ(Where("low"), Place::kBackoff);
  EXPECT_EQ(Where("high"), Place::kUnschedulable);
}

TEST_F(QueueTest, AWildcardEventWithAPodConcernsThatPodAlone) {
  Park("a", {"Fit"});
  Park("b", {"Fit"});
  queue->MoveAllToActiveOrBackoffQueue(kWildcard, {}, NamedPod("b").Ptr(), now());
  EXPECT_EQ(Where("a"), Place::kUnschedulable);
  EXPECT_EQ(Where("b"), Place::kBackoff);
}

TEST_F(QueueTest, EventsDuringAnAttemptDecideWhereThePodReturns) {
  const struct {
    const char* name;
    std::vector<ClusterEvent> events;
    std::vector<std::string> unschedulable;
    std::vector<std::string> pending;
    Place want;
  } cases[] = {
      {"nothing", {}, {"Fit"}, {}, Place::kUnschedulable},
      {"unrelated", {kNodeTaint}, {"Fit"}, {}, Place::kUnschedulable},
      {"related", {kNodeTaint, kNodeAdd}, {"Fit"}, {}, Place::kBackoff},
      {"pending", {kAssignedPodDelete, kNodeTaint}, {"Fit"}, {"Taint"}, Place::kActive},
      {"wildcard", {kWildcard}, {"Mute"}, {}, Place::kBackoff},
      {"error", {}, {}, {}, Place::kBackoff},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    Add(c.name, 1000);
    Move(kNodeAdd);  // before the attempt: does not count
    ASSERT_EQ(Pop(), c.name);
    for (const ClusterEvent& event : c.events) Move(event);
    EXPECT_EQ(Reject(c.name, c.unschedulable, c.pending), c.want);
    EXPECT_FALSE(queue->IsInFlight(std::string("uid-") + c.name));
    queue->Delete(NamedPod(c.name), now());
  }
}

TEST_F(QueueTest, EachPodInFlightSeesTheEventsSinceItsOwnPop) {
  Add("a", 2);
  Add("b", 1);
  ASSERT_EQ(Pop(), "a");
  Move(kNodeAdd);
  ASSERT_EQ(Pop(), "b");
  queue->Done("uid-none");
  EXPECT_EQ(Reject("a", {"Fit"}), Place::kBackoff);
  EXPECT_EQ(Reject("b", {"Fit"}), Place::kUnschedulable);
}

TEST_F(QueueTest, AnUpdateInFlightIsAnEventForThatPodAloneAndTheNewestVersionReturns) {
  Add("a", 2);
  Add("b", 1);
  ASSERT_EQ(Pop(), "a");
  ASSERT_EQ(Pop(), "b");
  Update(NamedPod("a"), NamedPod("a", 7).Label("x", "1"));
  EXPECT_EQ(Reject("b", {"Gate"}), Place::kUnschedulable);
  EXPECT_EQ(Reject("a", {"Gate"}), Place::kBackoff);
  EXPECT_EQ(queue->Find(Key("a"))->pod().priority(), 7);
}

TEST_F(QueueTest, AVersionSetByTheCallerStays) {
  Add("a");
  ASSERT_EQ(Pop(), "a");
  Update(NamedPod("a"), NamedPod("a", 7));
  popped["a"]->info = MakeInfo(NamedPod("a", 8).Ptr());
  Reject("a", {"Fit"});
  EXPECT_EQ(queue->Find(Key("a"))->pod().priority(), 8);
}

TEST_F(QueueTest, APodMayReturnAfterDone) {
  Add("a");
  ASSERT_EQ(Pop(), "a");
  queue->Done("uid-a");
  EXPECT_EQ(Reject("a", {}), Place::kBackoff);
  EXPECT_EQ(queue->Find(Key("a"))->consecutive_errors_count, 1);
}

TEST_F(QueueTest, AReturningPodCountsItsFailureAndStartsAfresh) {
  Park("a", {"Fit"});
  const QueuedPod* pod = queue->Find(Key("a"));
  EXPECT_EQ(pod->unschedulable_count, 1);
  EXPECT_EQ(pod->consecutive_errors_count, 0);
  const Time added = now();
  Advance(seconds(30));
  Move(kNodeAdd);
  ASSERT_EQ(Pop(), "a");
  EXPECT_EQ(popped["a"]->initial_attempt_timestamp, added);
  Reject("a", {});
  pod = queue->Find(Key("a"));
  EXPECT_EQ(pod->unschedulable_count, 1);
  EXPECT_EQ(pod->consecutive_errors_count, 1);
  EXPECT_EQ(pod->timestamp, now());
  EXPECT_THAT(pod->unschedulable_plugins, IsEmpty());
  Advance(seconds(30));
  ASSERT_EQ(Pop(), "a");
  Reject("a", {"Fit"});
  EXPECT_EQ(queue->Find(Key("a"))->unschedulable_count, 2);
  EXPECT_EQ(queue->Find(Key("a"))->consecutive_errors_count, 0);
  EXPECT_EQ(queue->Find(Key("a"))->attempts, 3);
}

TEST_F(QueueTest, UpdateReordersActiveQ) {
  Add("a", 1);
  Add("b", 2);
  Update(NamedPod("a", 1), NamedPod("a", 3));
  EXPECT_EQ(Pop(), "a");
}

TEST_F(QueueTest, UpdateReordersAWindowOfBackoffQ) {
  Park("a", {"Fit"}, {}, 100);
  Park("b", {"Fit"}, {}, 200);
  Move(kNodeAdd);
  Update(NamedPod("a", 100), NamedPod("a", 300));
  EXPECT_EQ(Where("a"), Place::kBackoff);
  EXPECT_EQ(Pop(), "a");
}

TEST_F(QueueTest, AParkedPodsUpdateMovesItWhenItsRejectorRegisteredForIt) {
  Park("taint", {"Taint"});
  Park("fit", {"Fit"});
  Update(NamedPod("taint", 1000), NamedPod("taint", 1000).Label("x", "1"));
  Update(NamedPod("fit", 1000), NamedPod("fit", 1000).Label("x", "1"));
  EXPECT_EQ(Where("taint"), Place::kBackoff);
  EXPECT_EQ(Where("fit"), Place::kUnschedulable);
  EXPECT_EQ(queue->Find(Key("fit"))->pod().metadata.labels.size(), 1u);
}

TEST_F(QueueTest, AnUpdateOfAnUnknownPodAddsIt) {
  Update(NamedPod("a"), NamedPod("a", 5));
  EXPECT_EQ(Pop(), "a");
}

TEST_F(QueueTest, APodOfTheSameNameWithAnotherUidTakesItsPlace) {
  Add("a");
  queue->Add(MakeInfo(NamedPod("a").Uid("second").NominatedNode("n1").Ptr()), now());
  queue->Delete(NamedPod("a"), now());
  EXPECT_EQ(queue->counts().active, 1u);
  ASSERT_EQ(Pop(), "a");
  EXPECT_EQ(popped["a"]->pod().metadata.uid, "second");
  EXPECT_EQ(nominator.NominatedNode("second"), "n1");
}

TEST_F(QueueTest, AddOfAQueuedPodUpdatesItAndKeepsItsPast) {
  Park("a", {"Fit"});
  queue->Add(MakeInfo(NamedPod("a", 5).Ptr()), now());
  EXPECT_EQ(Where("a"), Place::kUnschedulable);
  EXPECT_EQ(queue->Find(Key("a"))->attempts, 1);
  EXPECT_EQ(queue->Find(Key("a"))->pod().priority(), 5);
}

TEST_F(QueueTest, AddOfAPodInFlightOnlyBringsItsNewestVersion) {
  Add("a");
  ASSERT_EQ(Pop(), "a");
  Add("a", 4);
  EXPECT_EQ(queue->counts().active, 0u);
  Reject("a", {"Fit"});
  EXPECT_EQ(queue->Find(Key("a"))->pod().priority(), 4);
}

TEST_F(QueueTest, DeleteTakesAPodOutOfEveryPlaceWithItsNomination) {
  queue->Add(MakeInfo(NamedPod("active").NominatedNode("n1").Ptr()), now());
  Park("parked", {"Fit"});
  Park("error", {});
  Park("backoff", {"Taint"});
  Move(kNodeTaint);
  gated_by["gated"] = "Gate";
  Add("gated");
  ASSERT_EQ(queue->PendingPods().size(), 5u);
  for (const char* name : {"active", "parked", "error", "backoff", "gated"}) {
    queue->Delete(NamedPod(name), now());
    EXPECT_EQ(Where(name), Place::kNowhere) << name;
  }
  EXPECT_THAT(queue->PendingPods(), IsEmpty());
  EXPECT_TRUE(nominator.empty());
  EXPECT_EQ(queue->NextWakeup(), std::nullopt);
  Move(kWildcard);
  EXPECT_FALSE(queue->HasReady());
}

TEST_F(QueueTest, APodDeletedInFlightDoesNotReturn) {
  Add("a");
  ASSERT_EQ(Pop(), "a");
  queue->Delete(NamedPod("a"), now());
  EXPECT_EQ(Reject("a", {"Fit"}), Place::kNowhere);
  EXPECT_THAT(queue->PendingPods(), IsEmpty());
  EXPECT_FALSE(queue->IsInFlight("uid-a"));
}

TEST_F(QueueTest, APodThatIsQueuedAlreadyIsNotPutBack) {
  Add("a");
  ASSERT_EQ(Pop(), "a");
  queue->Done("uid-a");
  Add("a");
  EXPECT_EQ(Reject("a", {"Fit"}), Place::kNowhere);
  EXPECT_EQ(Where("a"), Place::kActive);
}

TEST_F(QueueTest, ActivateMovesParkedAndBackingOffPodsAndNoOthers) {
  Park("parked", {"Fit"});
  Park("error", {});
  Park("other", {"Fit"});
  const std::vector<std::string> keys = {Key("parked"), Key("error"), Key("unknown")};
  queue->Activate(keys, now());
  EXPECT_EQ(Where("parked"), Place::kActive);
  EXPECT_EQ(Where("error"), Place::kActive);
  EXPECT_EQ(Where("other"), Place::kUnschedulable);
}

TEST_F(QueueTest, ActivateOfAPodInFlightBringsItBackAfterItsBackoff) {
  Add("a", 2);
  Add("b", 1);
  ASSERT_EQ(Pop(), "a");
  ASSERT_EQ(Pop(), "b");
  const std::vector<std::string> keys = {Key("a")};
  queue->Activate(keys, now());
  EXPECT_EQ(Reject("b", {"Mute"}), Place::kUnschedulable);
  EXPECT_EQ(Reject("a", {"Mute"}), Place::kBackoff);
}

TEST_F(QueueTest, ActivateRespectsTheGate) {
  Park("a", {"Fit"});
  gated_by["a"] = "Gate";
  const std::vector<std::string> keys = {Key("a")};
  queue->Activate(keys, now());
  EXPECT_EQ(queue->counts().gated, 1u);
}

TEST_F(QueueTest, PendingPodsListsThemInTheOrderInWhichTheyWillLeave) {
  Park("parked", {"Mute"});
  Park("backoff", {"Fit"});
  Move(kNodeAdd);
  Add("low", 1);
  Add("high", 2);
  std::vector<std::string> names;
  for (const auto& pending : queue->PendingPods())
    names.push_back(pending.pod->pod().metadata.name);
  EXPECT_THAT(names, ElementsAre("high", "low", "backoff", "parked"));
}

TEST_F(QueueTest, AHintIsAskedOnceForTheParkedPodsOfOneClassOfNow) {
  taint_hint = QueueingHint::kQueueSkip;
  class_of = {{"a", 7}, {"b", 7}, {"c", 7}};
  Park("a", {"Taint"});
  Park("b", {"Taint"});
  Move(kNodeTaint);
  EXPECT_THAT(hint_calls, ElementsAre("a"));

  // A label tells b apart that no selector tested before.
  class_of["b"] = 8;
  queue->Regroup();
  Park("c", {"Taint"});
  hint_calls.clear();
  Move(kNodeTaint);
  EXPECT_THAT(hint_calls, ElementsAre("a", "b"));

  taint_hint = QueueingHint::kQueue;
  Move(kNodeTaint);
  for (const char* name : {"a", "b", "c"}) EXPECT_EQ(Where(name), Place::kBackoff) << name;
}

TEST_F(QueueTest, AParkedPodOfTwoRejectorsIsAskedAboutOnceAndInItsTurn) {
  taint_hint = QueueingHint::kQueueSkip;
  Park("a", {"Taint"});
  Park("b", {"Gate", "Taint"});
  Park("c", {"Taint"});
  Move(kNodeTaint);
  EXPECT_THAT(hint_calls, ElementsAre("a", "b", "c"));
  EXPECT_EQ(Where("a"), Place::kUnschedulable);
  EXPECT_EQ(Where("b"), Place::kBackoff);
  EXPECT_EQ(Where("c"), Place::kUnschedulable);
}

}  // namespace
}  // namespace berth::queue
