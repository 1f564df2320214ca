// SPDX-License-Identifier: Apache-2.0
#include "src/binding/event_recorder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "src/base/virtual_time.h"
#include "tests/support/builders.h"
#include "tests/support/fake_api.h"

namespace berth::binding {
namespace {

using client::Verb;
using std::chrono::minutes;
using std::chrono::seconds;
using test::NeverSent;
using test::NoAnswer;
using test::Rejection;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr std::string_view kEvents = "/apis/events.k8s.io/v1/namespaces/default/events";

EventRecord Failed(const std::string& pod = "web", const std::string& version = "1") {
  EventRecord record;
  record.regarding = ReferenceTo(test::PodBuilder().Name(pod).ResourceVersion(version).Obj());
  record.controller = "default-scheduler";
  record.warning = true;
  record.reason = "FailedScheduling";
  record.action = "Scheduling";
  record.note = "0/1 nodes are available";
  return record;
}

class EventRecorderTest : public testing::Test {
 protected:
  void Record(EventRecord record) {
    recorder_->Record(std::move(record));
    executor_.RunDue();
  }
  void Reply(int code) {
    api_.last().Reply(code);
    executor_.RunDue();
  }
  void Fail(client::ApiError error) {
    api_.last().Fail(std::move(error));
    executor_.RunDue();
  }
  const client::Request& Last() { return api_.last().request; }
  nlohmann::json Body() { return nlohmann::json::parse(Last().body); }
  int SeriesCount() { return Body().at("series").at("count").get<int>(); }

  base::VirtualClock clock_;
  base::VirtualExecutor executor_{clock_};
  test::FakeApi api_{executor_};
  std::unique_ptr<EventRecorder> recorder_ =
      std::make_unique<EventRecorder>(api_, clock_, 1, "host-1");
};

TEST_F(EventRecorderTest, AServerThatReadsProtobufGetsItButForPatches) {
  api_.reads_protobuf = true;
  Record(Failed());
  EXPECT_EQ(Last().content_type, "application/vnd.kubernetes.protobuf");
  EXPECT_EQ(Last().accept, "application/vnd.kubernetes.protobuf,application/json");
  EXPECT_THAT(Last().body, StartsWith("k8s"));
  EXPECT_THAT(Last().body, HasSubstr("0/1 nodes are available"));
  Reply(201);
  Record(Failed());
  EXPECT_EQ(Last().verb, Verb::kPatch);
  EXPECT_EQ(Last().content_type, "application/strategic-merge-patch+json");
  EXPECT_EQ(SeriesCount(), 2);
}

TEST_F(EventRecorderTest, AnEventIsCreatedAsKubeSchedulerDoes) {
  Record(Failed());
  ASSERT_EQ(api_.size(), 1u);
  EXPECT_EQ(Last().verb, Verb::kCreate);
  EXPECT_EQ(Last().priority, client::Priority::kEvent);
  EXPECT_EQ(Last().path, kEvents);
  const auto body = Body();
  EXPECT_EQ(body["metadata"]["namespace"], "default");
  // 2026-01-01T00:00:00Z in nanoseconds.
  EXPECT_EQ(body["metadata"]["name"], "web.18867251edfa0000");
  EXPECT_EQ(body["reportingController"], "default-scheduler");
  EXPECT_EQ(body["reportingInstance"], "default-scheduler-host-1");
  EXPECT_EQ(body["type"], "Warning");
  EXPECT_EQ(body["reason"], "FailedScheduling");
  EXPECT_EQ(body["action"], "Scheduling");
  EXPECT_EQ(body["note"], "0/1 nodes are available");
  EXPECT_EQ(body["eventTime"], "2026-01-01T00:00:00.000000Z");
  EXPECT_EQ(body["regarding"]["kind"], "Pod");
  EXPECT_EQ(body["regarding"]["name"], "web");
  EXPECT_FALSE(body.contains("related"));
  EXPECT_FALSE(body.contains("series"));
}

TEST_F(EventRecorderTest, AnObjectWithoutNamespaceHasItsEventsInDefault) {
  EventRecord record = Failed();
  record.regarding.namespace_.clear();
  Record(record);
  EXPECT_EQ(Last().path, kEvents);
}

TEST_F(EventRecorderTest, EventsOfOneMomentHaveDifferentNames) {
  std::set<std::string> names;
  for (int i = 0; i < 5; ++i) {
    Record(Failed("web", std::to_string(i)));
    names.insert(Body()["metadata"]["name"].get<std::string>());
  }
  EXPECT_EQ(names.size(), 5u);
}

TEST(EventSeriesTest, ANameThatIsNoDnsSubdomainBecomesAUuid) {
  const struct {
    const char* name;
    std::string object;
    bool kept;
  } cases[] = {
      {"plain", "web-0.example", true},
      {"too long", std::string(240, 'a'), false},
      {"upper case", "Web", false},
      {"underscore", "a_b", false},
      {"two hyphens", "a--b", true},
      {"label begins with a hyphen", "a.-b", false},
      {"ends in a hyphen", "a-", false},
      {"empty label", "a..b", false},
      {"empty", "", false},
  };
  Random random(1);
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    EventRecord record;
    record.regarding.name = c.object;
    const Time when{seconds(1'700'000'000)};
    const api::Event event = MakeEvent(EventRecord(record), when, when, "host", random);
    if (c.kept) {
      EXPECT_THAT(event.name, StartsWith(c.object + "."));
    } else {
      ASSERT_EQ(event.name.size(), 36u);
      EXPECT_EQ(event.name[14], '4');
      EXPECT_THAT("89ab", HasSubstr(event.name.substr(19, 1)));
    }
  }
}

TEST(EventSeriesTest, ANoteIsCutWithoutBreakingACharacter) {
  EXPECT_EQ(TruncateNote(std::string(1024, 'x')), std::string(1024, 'x'));
  EXPECT_EQ(TruncateNote(std::string(1025, 'x')), std::string(1020, 'x') + " ...");
  std::string umlauts = "x";
  for (int i = 0; i < 600; ++i) umlauts += "\xc3\xa4";
  const std::string cut = TruncateNote(umlauts);
  EXPECT_EQ(cut.size(), 1023u);
  EXPECT_EQ(cut, umlauts.substr(0, 1019) + " ...");
}

TEST(EventSeriesTest, TheReportingInstanceFitsTheApisLimit) {
  Random random(1);
  const api::Event event = MakeEvent(EventRecord{}, Time{}, Time{}, std::string(300, 'h'), random);
  EXPECT_EQ(event.reporting_instance.size(), 128u);
}

TEST_F(EventRecorderTest, TheSecondOfAKindPatchesASeriesAndLaterOnesAreCounted) {
  Record(Failed());
  const std::string name = Body()["metadata"]["name"];
  Reply(201);
  EventRecord again = Failed();
  again.note = "another note";
  clock_.Advance(seconds(1));
  Record(again);
  ASSERT_EQ(api_.size(), 2u);
  EXPECT_EQ(Last().verb, Verb::kPatch);
  EXPECT_EQ(Last().path, std::string(kEvents) + "/" + name);
  EXPECT_EQ(Last().content_type, "application/strategic-merge-patch+json");
  EXPECT_EQ(SeriesCount(), 2);
  EXPECT_EQ(Body()["series"]["lastObservedTime"], "2026-01-01T00:00:01.000000Z");
  Reply(200);
  for (int i = 0; i < 3; ++i) Record(Failed());
  EXPECT_EQ(api_.size(), 2u);
}

TEST_F(EventRecorderTest, EventsAreStampedByTheMachinesClockAndForgottenByAges) {
  clock_.Correct(std::chrono::hours(5));
  Record(Failed());
  EXPECT_EQ(Body()["eventTime"], "2026-01-01T05:00:00.000000Z");
  Reply(201);
  clock_.Correct({});
  Record(Failed());
  EXPECT_EQ(Body()["series"]["lastObservedTime"], "2026-01-01T00:00:00.000000Z");
  Reply(200);
  // The first stamp lies ahead now; the series ends all the same, and the next event is a new one.
  const size_t before = api_.size();
  executor_.Advance(std::chrono::minutes(18));
  ASSERT_EQ(api_.size(), before + 1);
  Reply(200);
  Record(Failed());
  EXPECT_EQ(Last().verb, Verb::kCreate);
}

TEST_F(EventRecorderTest, WhatDiffersMakesAnEventOfItsOwn) {
  Record(Failed());
  const std::function<void(EventRecord&)> changes[] = {
      [](EventRecord& r) { r.regarding.resource_version = "2"; },
      [](EventRecord& r) { r.regarding.uid = "other"; },
      [](EventRecord& r) { r.reason = "Other"; },
      [](EventRecord& r) { r.action = "Other"; },
      [](EventRecord& r) { r.warning = false; },
      [](EventRecord& r) { r.controller = "other"; },
      [](EventRecord& r) { r.related = r.regarding; },
  };
  for (const auto& change : changes) {
    EventRecord record = Failed();
    change(record);
    const size_t before = api_.size();
    Record(record);
    ASSERT_EQ(api_.size(), before + 1);
    EXPECT_EQ(Last().verb, Verb::kCreate);
  }
}

TEST_F(EventRecorderTest, WhatCannotRepeatIsCreatedEachTime) {
  EventRecord record = Failed();
  record.may_repeat = false;
  Record(record);
  Record(record);
  EXPECT_EQ(api_.Count(Verb::kCreate), 2u);
}

TEST_F(EventRecorderTest, ARepeatDuringTheFirstWriteIsPatchedAfterIt) {
  Record(Failed());
  Record(Failed());
  Record(Failed());
  ASSERT_EQ(api_.size(), 1u);
  Reply(201);
  ASSERT_EQ(api_.size(), 2u);
  EXPECT_EQ(Last().verb, Verb::kPatch);
  EXPECT_EQ(SeriesCount(), 3);
}

TEST_F(EventRecorderTest, ASeriesWhoseEventIsGoneIsCreated) {
  Record(Failed());
  Reply(201);
  Record(Failed());
  Reply(404);
  ASSERT_EQ(api_.size(), 3u);
  EXPECT_EQ(Last().verb, Verb::kCreate);
  EXPECT_EQ(SeriesCount(), 2);
  Reply(201);
  EXPECT_EQ(recorder_->counts().failed, 0u);
}

TEST_F(EventRecorderTest, ASeriesIsSentAgainEveryHalfHourAndFinishedWhenIdle) {
  Record(Failed());
  Reply(201);
  Record(Failed());
  Reply(200);
  // Repeats every five minutes keep it alive.
  for (int i = 0; i < 6; ++i) {
    executor_.Advance(minutes(5));
    if (api_.last().open()) Reply(200);
    Record(Failed());
  }
  ASSERT_EQ(api_.size(), 3u);
  EXPECT_EQ(Last().verb, Verb::kPatch);
  EXPECT_EQ(SeriesCount(), 7);
  executor_.Advance(minutes(13));
  ASSERT_EQ(api_.size(), 4u);
  EXPECT_EQ(SeriesCount(), 8);
  Reply(200);
  executor_.Advance(minutes(60));
  EXPECT_EQ(api_.size(), 4u);
  Record(Failed());
  EXPECT_EQ(Last().verb, Verb::kCreate) << "a new series";
}

TEST_F(EventRecorderTest, ASingleEventIsForgottenWithoutAWrite) {
  Record(Failed());
  Reply(201);
  executor_.Advance(minutes(13));
  Record(Failed());
  EXPECT_EQ(api_.Count(Verb::kCreate), 2u);
  EXPECT_EQ(api_.Count(Verb::kPatch), 0u);
}

TEST_F(EventRecorderTest, ARejectionIsFinal) {
  for (const int code : {400, 403, 404, 422, 500, 503}) {
    SCOPED_TRACE(code);
    const size_t before = api_.size();
    Record(Failed("web", std::to_string(code)));
    Reply(code);
    executor_.Advance(seconds(60));
    EXPECT_EQ(api_.size(), before + 1);
  }
  EXPECT_EQ(recorder_->counts().failed, 6u);
}

TEST_F(EventRecorderTest, TheClientWaitsWhereTheServerAsksForIt) {
  Record(Failed());
  EXPECT_TRUE(Last().repeats_5xx);
  Reply(201);
}

TEST_F(EventRecorderTest, AnEventThatExistsAlreadyIsNoFailure) {
  Record(Failed());
  Fail(NoAnswer());
  executor_.Advance(seconds(13));
  ASSERT_EQ(api_.size(), 2u);
  Reply(409);
  executor_.Advance(seconds(60));
  EXPECT_EQ(api_.size(), 2u);
  EXPECT_EQ(recorder_->counts().failed, 0u);
}

TEST_F(EventRecorderTest, AWriteWithoutAnswerIsTriedTwelveTimes) {
  Record(Failed());
  const std::string body = Last().body;
  for (size_t i = 1; i <= 12; ++i) {
    ASSERT_EQ(api_.size(), i);
    EXPECT_EQ(Last().body, body);
    Fail(i % 2 == 0 ? NoAnswer() : NeverSent());
    const size_t before = api_.size();
    executor_.Advance(seconds(10) - std::chrono::milliseconds(1));
    EXPECT_EQ(api_.size(), before) << "tried again too early";
    executor_.Advance(std::chrono::milliseconds(2501));
  }
  EXPECT_EQ(api_.size(), 12u);
  EXPECT_EQ(recorder_->counts().failed, 1u);
}

TEST_F(EventRecorderTest, AtMostTwentyThousandAwaitTheirAnswer) {
  for (int i = 0; i < 20'200; ++i) recorder_->Record(Failed("web-" + std::to_string(i)));
  executor_.RunDue();
  EXPECT_EQ(api_.size(), 20'000u);
  EXPECT_EQ(recorder_->counts().recorded, 20'200u);
  EXPECT_EQ(recorder_->counts().dropped, 200u);
  for (size_t i = 0; i < 10; ++i) api_.at(i).Reply(201);
  executor_.RunDue();
  for (int i = 0; i < 20; ++i) recorder_->Record(Failed("more-" + std::to_string(i)));
  executor_.RunDue();
  EXPECT_EQ(api_.size(), 20'010u);
  EXPECT_EQ(recorder_->counts().dropped, 210u);
}

TEST_F(EventRecorderTest, AFlushWaitsForTheAnswersButNotForEver) {
  const struct {
    const char* name;
    int events;
    int answered;
    std::optional<size_t> at_once;
    size_t unsent;
  } cases[] = {
      {"nothing to send", 0, 0, 0, 0},
      {"all answered", 3, 3, std::nullopt, 0},
      {"some not answered", 3, 2, std::nullopt, 1},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    recorder_ = std::make_unique<EventRecorder>(api_, clock_, 1, "host-1");
    const size_t first = api_.size();
    for (int i = 0; i < c.events; ++i) recorder_->Record(Failed("web-" + std::to_string(i)));
    std::optional<size_t> unsent;
    recorder_->Flush(seconds(20), [&](size_t count) {
      EXPECT_FALSE(unsent.has_value()) << "told twice";
      unsent = count;
    });
    executor_.RunDue();
    EXPECT_EQ(unsent, c.at_once);
    EXPECT_EQ(api_.size() - first, static_cast<size_t>(c.events))
        << "what had been recorded is sent";
    for (int i = 0; i < c.answered; ++i) api_.at(first + static_cast<size_t>(i)).Reply(201);
    executor_.RunDue();
    if (c.unsent > 0) {
      executor_.Advance(seconds(20) - std::chrono::milliseconds(1));
      EXPECT_FALSE(unsent.has_value());
      executor_.Advance(seconds(1));
    }
    EXPECT_EQ(unsent, c.unsent);
    executor_.Advance(minutes(1));
  }
}

TEST_F(EventRecorderTest, AFlushTriesAgainSoonWhatWaitsForItsRetry) {
  Record(Failed());
  Fail(NoAnswer());
  std::optional<size_t> unsent;
  recorder_->Flush(seconds(20), [&](size_t count) { unsent = count; });
  executor_.RunDue();
  ASSERT_EQ(api_.size(), 2u) << "the retry is sent at once";
  Fail(NeverSent());
  executor_.Advance(seconds(1));
  ASSERT_EQ(api_.size(), 3u) << "nor is there a long wait before the next";
  EXPECT_FALSE(unsent.has_value());
  Reply(201);
  EXPECT_EQ(unsent, 0u);
  executor_.Advance(minutes(1));
  EXPECT_EQ(api_.size(), 3u) << "a retry that was brought forward is not sent once more";
}

TEST_F(EventRecorderTest, AFlushDoesNotWaitWithoutPatience) {
  Record(Failed());
  std::optional<size_t> unsent;
  recorder_->Flush(-seconds(1), [&](size_t count) { unsent = count; });
  executor_.RunDue();
  EXPECT_EQ(unsent, 1u);
}

TEST_F(EventRecorderTest, ARecorderThatIsGoneWritesNothing) {
  Record(Failed());
  recorder_->Record(Failed("late"));
  recorder_.reset();
  Fail(NoAnswer());
  executor_.Advance(minutes(60));
  EXPECT_EQ(api_.size(), 1u);
}

}  // namespace
}  // namespace berth::binding
