// SPDX-License-Identifier: Apache-2.0
#include "src/informers/reflector.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "src/base/virtual_time.h"
#include "src/client/retry.h"
#include "src/informers/informers.h"
#include "tests/support/fake_api.h"
#include "tests/unit/informers/wire.h"

namespace berth::informers {
namespace {

using client::Verb;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;
using test::NeverSent;
using test::NoAnswer;
using test::Rejection;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

class ReflectorTest : public testing::Test {
 protected:
  void Start() {
    reflector_->Start();
    executor_.RunDue();
  }
  // Another reflector, which knows nothing yet.
  void Restart() {
    versions_ = std::make_shared<ServerVersions>();
    reflector_ = Make();
  }
  // Starts and hands over the pods as a streaming list in version 10, as they come in JSON.
  void StartSynced(const std::vector<std::string>& pods = {}) {
    Start();
    api_.last().Begin();
    for (const std::string& pod : pods) api_.last().Push(Frame("ADDED", pod));
    Push(BookmarkFrame(10, true));
  }
  void Push(const std::string& data) {
    api_.last().Push(data);
    executor_.RunDue();
  }
  void End() {
    api_.last().End();
    executor_.RunDue();
  }
  void Fail(client::ApiError error) {
    api_.last().Fail(std::move(error));
    executor_.RunDue();
  }
  // A page of a list, complete.
  void ReplyList(const std::string& json) {
    api_.last().Begin();
    api_.last().Push(json);
    End();
  }
  // How long it takes until the next request goes out.
  Duration AwaitRequest() {
    const size_t before = api_.size();
    const Time since = clock_.Now();
    while (api_.size() == before && clock_.Now() - since < minutes(10)) {
      executor_.Advance(milliseconds(10));
    }
    EXPECT_EQ(api_.size(), before + 1);
    return clock_.Now() - since;
  }
  std::vector<std::string> Sent() {
    std::vector<std::string> lines;
    for (const InformerEvent& event : std::exchange(events_, {})) lines.push_back(Describe(event));
    return lines;
  }
  std::shared_ptr<Reflector> Make(Kind kind = Kind::kPod) {
    return std::make_shared<Reflector>(
        api_, clock_, 1, InfoOf(kind),
        [this](InformerEvent event) { events_.push_back(std::move(event)); },
        InformerOptions{.json = json_}, versions_);
  }
  const std::string& Path() { return api_.last().request.path; }
  void ExpectWatchFrom(int version) {
    EXPECT_EQ(api_.last().request.verb, Verb::kWatch);
    EXPECT_THAT(Path(), AllOf(HasSubstr("resourceVersion=" + std::to_string(version) + "&"),
                              Not(HasSubstr("sendInitialEvents"))));
  }
  void ExpectStreamingList() {
    EXPECT_EQ(api_.last().request.verb, Verb::kWatch);
    EXPECT_THAT(Path(), HasSubstr("sendInitialEvents=true&resourceVersionMatch=NotOlderThan"));
  }
  void ExpectPage(const std::string& token) {
    EXPECT_EQ(api_.last().request.verb, Verb::kList);
    EXPECT_THAT(Path(), token.empty()
                            ? Not(HasSubstr("continue"))
                            : testing::Matcher<std::string>(HasSubstr("continue=" + token)));
  }

  bool json_ = true;
  base::VirtualClock clock_;
  base::VirtualExecutor executor_{clock_};
  test::FakeApi api_{executor_};
  std::vector<InformerEvent> events_;
  std::shared_ptr<ServerVersions> versions_ = std::make_shared<ServerVersions>();
  std::shared_ptr<Reflector> reflector_ = Make();
};

TEST_F(ReflectorTest, TheInitialListIsAWatchThatSendsWhatIsThere) {
  Start();
  ASSERT_EQ(api_.size(), 1u);
  const client::Request& request = api_.last().request;
  ExpectStreamingList();
  EXPECT_THAT(request.path,
              AllOf(StartsWith("/api/v1/pods?"), HasSubstr("&watch=1"),
                    HasSubstr("&allowWatchBookmarks=true"),
                    HasSubstr("&fieldSelector=status.phase%21%3DSucceeded%2Cstatus.phase%21%3D"
                              "Failed"),
                    Not(HasSubstr("resourceVersion="))));
  EXPECT_EQ(request.priority, client::Priority::kUnlimited);
  EXPECT_EQ(request.timeout, Duration{});
  EXPECT_EQ(api_.last().silence, seconds(150));
  EXPECT_EQ(request.accept, "application/json;stream=watch");
}

// In protobuf, which is what is asked for unless JSON is wanted.
class WholeListTest : public ReflectorTest {
 protected:
  WholeListTest() {
    json_ = false;
    Restart();
  }
  void ExpectWholeList() {
    EXPECT_EQ(api_.last().request.verb, Verb::kList);
    EXPECT_THAT(Path(), AllOf(StartsWith("/api/v1/pods?resourceVersion=&"), Not(HasSubstr("limit")),
                              Not(HasSubstr("continue"))));
  }
};

TEST_F(WholeListTest, AProtobufListComesInOnePieceAndAWatchFollows) {
  Start();
  ExpectWholeList();
  EXPECT_EQ(api_.last().request.accept, "application/vnd.kubernetes.protobuf,application/json");
  EXPECT_THAT(Path(), HasSubstr("&fieldSelector=status.phase%21%3DSucceeded"));
  api_.last().Begin("application/vnd.kubernetes.protobuf");
  const std::string list = ProtoList({ProtoMeta("a", 7), ProtoMeta("b", 3)}, 10);
  Push(list.substr(0, list.size() - 1));
  EXPECT_THAT(Sent(), ElementsAre("+a7")) << "it is told while the list arrives";
  Push(list.substr(list.size() - 1));
  End();
  EXPECT_THAT(Sent(), ElementsAre("+b3", "synced"));
  EXPECT_EQ(reflector_->stats().lists, 1u);
  ExpectWatchFrom(10);
  EXPECT_EQ(api_.last().request.accept,
            "application/vnd.kubernetes.protobuf;stream=watch,application/json");
}

TEST_F(WholeListTest, AListThatBreaksOffBeginsAnewAndAfterTheSecondTimeComesInPages) {
  Start();
  for (int i = 0; i < 2; ++i) {
    ExpectWholeList();
    api_.last().Begin("application/vnd.kubernetes.protobuf");
    Push(ProtoList({ProtoMeta("a", 7), ProtoMeta("b", 3)}, 10).substr(0, 40));
    if (i == 0) {
      Fail(NoAnswer());
    } else {
      End();  // in good order, but too early
    }
    AwaitRequest();
  }
  ExpectPage("");
  EXPECT_THAT(Path(), HasSubstr("limit=500"));
  Sent();
  ReplyList(ListJson({PodJson("b", 4)}, 11));
  EXPECT_THAT(Sent(), testing::Contains("synced"));
  EXPECT_EQ(reflector_->stats().objects, 1u);
  ExpectWatchFrom(11);
}

TEST_F(WholeListTest, AServerThatIsDownIsAskedForAWholeListUntilItIsThere) {
  Start();
  for (int i = 0; i < 5; ++i) {
    Fail(NeverSent());
    AwaitRequest();
    ExpectWholeList();
  }
  ReplyList(ListJson({PodJson("a", 7)}, 10));
  EXPECT_THAT(Sent(), ElementsAre("+a7", "synced"));
}

TEST_F(WholeListTest, AWatchThatIsTooOldIsFollowedByAWholeList) {
  Start();
  ReplyList(ListJson({PodJson("a", 7), PodJson("b", 8)}, 10));
  api_.last().Begin();
  Push(ErrorFrame(410));
  AwaitRequest();
  ExpectWholeList();
  ReplyList(ListJson({PodJson("b", 8)}, 20));
  EXPECT_THAT(Sent(), ElementsAre("+a7", "+b8", "synced", "-a7"));
  ExpectWatchFrom(20);
}

TEST_F(WholeListTest, WhatTheServerCutsIntoPagesIsReadToItsEnd) {
  Start();
  ReplyList(ListJson({PodJson("a", 7)}, 10, "more"));
  ExpectPage("more");
  ReplyList(ListJson({PodJson("b", 8)}, 10));
  EXPECT_THAT(Sent(), ElementsAre("+a7", "+b8", "synced"));
}

TEST_F(ReflectorTest, WatchesAskForATimeoutOfFiveToTenMinutesAndNotAlwaysTheSame) {
  std::vector<int> timeouts;
  StartSynced();
  for (int i = 0; i < 20; ++i) {
    const std::string key = "timeoutSeconds=";
    timeouts.push_back(std::stoi(Path().substr(Path().find(key) + key.size())));
    if (i > 0) api_.last().Begin();
    Push(BookmarkFrame(20));
    executor_.Advance(minutes(5));
    End();
  }
  EXPECT_THAT(timeouts, testing::Each(AllOf(testing::Ge(300), testing::Le(600))));
  EXPECT_THAT(timeouts, testing::Contains(testing::Ne(timeouts[0])));
}

TEST_F(ReflectorTest, TheBookmarkEndsTheInitialListAndTheStreamGoesOn) {
  StartSynced({PodJson("a", 7), PodJson("b", 3)});
  EXPECT_THAT(Sent(), ElementsAre("+a7", "+b3", "synced"));
  Push(Frame("MODIFIED", PodJson("a", 11)));
  Push(Frame("DELETED", PodJson("b", 12)));
  Push(Frame("ADDED", PodJson("c", 13)));
  EXPECT_THAT(Sent(), ElementsAre("~a7>11", "-b3", "+c13"));
  EXPECT_EQ(api_.size(), 1u);
  const InformerStats stats = reflector_->stats();
  EXPECT_TRUE(stats.synced);
  EXPECT_EQ(stats.objects, 2u);
  EXPECT_EQ(stats.lists, 1u);
  EXPECT_EQ(stats.errors, 0u);
}

TEST_F(ReflectorTest, FramesMayArriveInAnyPieces) {
  Start();
  api_.last().Begin();
  std::string all =
      Frame("ADDED", PodJson("a", 7)) + Frame("ADDED", PodJson("b", 8)) + BookmarkFrame(10, true);
  for (const char c : all) api_.last().Push(std::string(1, c));
  executor_.RunDue();
  EXPECT_THAT(Sent(), ElementsAre("+a7", "+b8", "synced"));
}

TEST_F(ReflectorTest, TheServersContentTypeDecidesHowItIsRead) {
  Start();
  api_.last().Begin("application/vnd.kubernetes.protobuf;stream=watch");
  Push(ProtoFrame("ADDED", ProtoMeta("a", 7)));
  Push(ProtoBookmarkFrame(10));
  Push(ProtoFrame("DELETED", ProtoMeta("a", 12)));
  EXPECT_THAT(Sent(), ElementsAre("+a7", "synced", "-a7"));
  executor_.Advance(minutes(5));
  End();
  ExpectWatchFrom(12);
}

TEST_F(ReflectorTest, AnOrderlyEndResumesAtOnceFromTheLastVersion) {
  const struct {
    const char* name;
    std::string frame;
    int want;
  } cases[] = {
      {"the list's own version", "", 10},
      {"an event", Frame("ADDED", PodJson("a", 20)), 20},
      {"a deletion", Frame("DELETED", PodJson("a", 30)), 30},
      {"a bookmark", BookmarkFrame(40), 40},
      {"an undecodable event", Frame("ADDED", BadPodJson("b", 50)), 50},
  };
  StartSynced();
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    if (!c.frame.empty()) Push(c.frame);
    executor_.Advance(minutes(5));
    End();
    ExpectWatchFrom(c.want);
    api_.last().Begin();
  }
}

TEST_F(ReflectorTest, WhoAsksIsToldOfFailuresAndOfTheirEndInPlaceOfTheLog) {
  std::vector<std::string> told;
  InformerOptions options{.json = true};
  options.on_watch = [&told](Kind kind, const client::ApiError* error) {
    EXPECT_EQ(kind, Kind::kPersistentVolume);
    told.push_back(error == nullptr ? "answers" : std::to_string(error->code));
  };
  reflector_ = std::make_shared<Reflector>(
      api_, clock_, 1, InfoOf(Kind::kPersistentVolume), [](InformerEvent) {}, options, versions_);
  testing::internal::CaptureStderr();
  Start();
  Fail(NeverSent());
  AwaitRequest();
  Fail(Rejection(503));
  AwaitRequest();
  // A kind that counts as empty has its answer.
  Fail(Rejection(404));
  AwaitRequest();
  api_.last().Begin();
  Push(BookmarkFrame(10, true));
  EXPECT_THAT(std::exchange(told, {}), ElementsAre("0", "503", "answers"));
  End();
  EXPECT_THAT(told, IsEmpty()) << "an orderly end";
  api_.last().Begin();
  Fail(NoAnswer());
  AwaitRequest();
  Fail(Rejection(429));
  AwaitRequest();
  api_.last().Begin();
  Push(BookmarkFrame(20));
  EXPECT_THAT(told, ElementsAre("0", "429", "answers"));
  EXPECT_THAT(testing::internal::GetCapturedStderr(), Not(HasSubstr("trying again")));
}

TEST_F(ReflectorTest, SilenceAndErrorsResumeAfterAGrowingWait) {
  StartSynced({PodJson("a", 1)});
  Sent();
  Fail(NoAnswer());
  Duration floor = milliseconds(800);
  for (int i = 0; i < 8; ++i) {
    const Duration wait = AwaitRequest();
    EXPECT_GE(wait, floor);
    EXPECT_LE(wait, 2 * floor + milliseconds(20));
    ExpectWatchFrom(10);
    floor = std::min<Duration>(2 * floor, seconds(30));
    Fail(i % 2 == 0 ? NeverSent() : Rejection(429));
  }
  AwaitRequest();
  api_.last().Begin();
  Push(BookmarkFrame(60));
  Fail(NoAnswer());
  EXPECT_LE(AwaitRequest(), milliseconds(1610)) << "success begins the wait again";
  ExpectWatchFrom(60);
  EXPECT_THAT(Sent(), IsEmpty());
}

TEST_F(ReflectorTest, RetryAfterIsHonoured) {
  StartSynced();
  client::ApiError busy = Rejection(429);
  busy.retry_after = seconds(17);
  Fail(busy);
  EXPECT_GE(AwaitRequest(), seconds(17));
  ExpectWatchFrom(10);
}

TEST_F(ReflectorTest, RetryAfterHasABoundAndIsNotTheSameForAll) {
  std::vector<Duration> waits;
  StartSynced();
  for (int i = 0; i < 6; ++i) {
    client::ApiError busy = Rejection(429);
    busy.retry_after = std::chrono::hours(100);
    Fail(busy);
    waits.push_back(AwaitRequest());
    ExpectWatchFrom(10);
  }
  EXPECT_THAT(waits, testing::Each(
                         AllOf(testing::Ge(client::kMostRetryAfter),
                               testing::Le(client::kMostRetryAfter * 11 / 10 + milliseconds(10)))));
  EXPECT_THAT(waits, testing::Contains(testing::Ne(waits[0])));
}

TEST_F(ReflectorTest, AWatchThatEndsAtOnceIsAnError) {
  StartSynced();
  executor_.Advance(minutes(5));
  End();
  api_.last().Begin();
  End();
  EXPECT_GE(AwaitRequest(), milliseconds(800));
  ExpectWatchFrom(10);
}

// What a watch from a version that the server has not reached yet looks like.
TEST_F(ReflectorTest, TwoWatchesInARowThatBringNothingListAgain) {
  const struct {
    const char* name;
    Duration lasts;
    std::optional<client::ApiError> end;
  } cases[] = {
      {"orderly ends", minutes(6), std::nullopt},
      {"ends at once", {}, std::nullopt},
      {"silence", seconds(150), NoAnswer()},
      {"refusals", {}, Rejection(500)},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    Restart();
    StartSynced({PodJson("a", 1)});
    Sent();
    Push(BookmarkFrame(500));
    End();
    for (int i = 0; i < 2; ++i) {
      ExpectWatchFrom(500);
      if (!c.end || c.end->code == 0) api_.last().Begin();
      const size_t before = api_.size();
      executor_.Advance(c.lasts);
      if (c.end) {
        Fail(*c.end);
      } else {
        End();
      }
      if (api_.size() == before) AwaitRequest();
    }
    ExpectStreamingList();
    api_.last().Begin();
    Push(Frame("ADDED", PodJson("b", 3)));
    Push(BookmarkFrame(5, true));
    EXPECT_THAT(Sent(), ElementsAre("+b3", "-a1"));
    executor_.Advance(minutes(5));
    End();
    ExpectWatchFrom(5);
    reflector_->Stop();
  }
}

TEST_F(ReflectorTest, AWatchThatBroughtSomethingBeginsTheCountAnew) {
  StartSynced();
  for (int i = 0; i < 3; ++i) {
    Push(BookmarkFrame(20 + i));
    executor_.Advance(minutes(5));
    End();
    ExpectWatchFrom(20 + i);
    api_.last().Begin();
    executor_.Advance(minutes(5));
    End();
    ExpectWatchFrom(20 + i);
    api_.last().Begin();
  }
}

TEST_F(ReflectorTest, AVersionThatGoesBackwardsListsAgain) {
  for (const std::string& frame :
       {BookmarkFrame(99), Frame("MODIFIED", PodJson("a", 99)), Frame("DELETED", PodJson("b", 99)),
        Frame("ADDED", PodJson("c", 9))}) {
    SCOPED_TRACE(frame);
    Restart();
    StartSynced({PodJson("a", 1), PodJson("b", 2)});
    Push(BookmarkFrame(100));
    Push(BookmarkFrame(100));
    EXPECT_EQ(reflector_->stats().errors, 0u) << "the same version is none that goes backwards";
    Push(frame);
    AwaitRequest();
    ExpectStreamingList();
    Sent();
    api_.last().Begin();
    Push(Frame("ADDED", PodJson("a", 1)));
    Push(BookmarkFrame(40, true));
    Push(BookmarkFrame(41));
    executor_.Advance(minutes(5));
    End();
    ExpectWatchFrom(41);
    reflector_->Stop();
  }
}

TEST_F(ReflectorTest, VersionsThatAreNoNumbersAreNotCompared) {
  StartSynced();
  const auto bookmark = [](const std::string& version) {
    return Frame("BOOKMARK", R"({"apiVersion":"v1","kind":"Pod","metadata":{"resourceVersion":")" +
                                 version + "\"}}");
  };
  Push(bookmark("b-2"));
  Push(bookmark("a-1"));
  EXPECT_EQ(reflector_->stats().errors, 0u);
}

// The restored server counts on from an earlier version, so it gives versions out a second time.
TEST_F(ReflectorTest, ListedAgainAVersionIsNotTakenForItsContent) {
  StartSynced({PodJson("a", 8), PodJson("b", 9)});
  Sent();
  Push(ErrorFrame(500));
  AwaitRequest();
  api_.last().Begin();
  Push(Frame("ADDED", PodJson("a", 8, "uid-a", "node-1")));
  Push(Frame("ADDED", PodJson("b", 9)));
  Push(BookmarkFrame(9, true));
  EXPECT_THAT(Sent(), ElementsAre("~a8>8"));
}

TEST_F(ReflectorTest, GoneListsAgainAndReportsOnlyTheDifferences) {
  for (const bool as_event : {true, false}) {
    SCOPED_TRACE(as_event ? "ERROR event" : "HTTP answer");
    Restart();
    StartSynced({PodJson("a", 1), PodJson("b", 2), PodJson("c", 3)});
    Sent();
    executor_.Advance(minutes(1));
    if (as_event) {
      Push(ErrorFrame(410));
    } else {
      Fail(Rejection(410));
    }
    ExpectStreamingList();
    EXPECT_THAT(Sent(), IsEmpty()) << "the state was dropped";
    api_.last().Begin();
    Push(Frame("ADDED", PodJson("a", 1)));
    Push(Frame("ADDED", PodJson("b", 22)));
    Push(Frame("ADDED", PodJson("d", 23)));
    Push(BookmarkFrame(30, true));
    EXPECT_THAT(Sent(), ElementsAre("~b2>22", "+d23", "-c3"));
    executor_.Advance(minutes(5));
    End();
    ExpectWatchFrom(30);
    reflector_->Stop();
  }
}

TEST_F(ReflectorTest, GoneAgainRightAfterAListWaitsABit) {
  StartSynced();
  Push(BookmarkFrame(11));
  End();
  Fail(Rejection(410));
  EXPECT_GE(AwaitRequest(), milliseconds(800));
  ExpectStreamingList();
}

TEST_F(ReflectorTest, ErrorEventsListAgainButForTooManyRequests) {
  for (const int code : {0, 400, 403, 404, 410, 429, 500, 503, 504}) {
    SCOPED_TRACE(code);
    Restart();
    StartSynced();
    Push(BookmarkFrame(12));
    Push(ErrorFrame(code));
    if (code != 410) AwaitRequest();
    if (code == 429) {
      ExpectWatchFrom(12);
    } else {
      ExpectStreamingList();
    }
    reflector_->Stop();
  }
}

TEST_F(ReflectorTest, AnErrorEventThatCannotBeReadListsAgain) {
  StartSynced();
  Push(Frame("ERROR", "[]"));
  AwaitRequest();
  ExpectStreamingList();
}

TEST_F(ReflectorTest, ListsThatFollowEachOtherGrowApart) {
  StartSynced();
  const auto list_again = [this] {
    Push(ErrorFrame(500));
    const Duration wait = AwaitRequest();
    ExpectStreamingList();
    api_.last().Begin();
    Push(BookmarkFrame(10, true));
    return wait;
  };
  Duration floor = milliseconds(800);
  for (int i = 0; i < 6; ++i) {
    EXPECT_GE(list_again(), floor);
    floor *= 2;
  }
  executor_.Advance(minutes(2));
  EXPECT_LE(list_again(), milliseconds(1610));
}

TEST_F(ReflectorTest, AServerThatWentBackInTimeIsListedAgain) {
  StartSynced();
  Fail(Rejection(504, "Too large resource version: 10, current: 3"));
  AwaitRequest();
  ExpectStreamingList();
}

TEST_F(ReflectorTest, ARestoreThatAnotherKindHasNoticedIsNotResumedOver) {
  for (const bool under_way : {true, false}) {
    SCOPED_TRACE(under_way);
    Restart();
    StartSynced({PodJson("a", 1)});
    // Another kind is listed again, from an older state than this one has seen.
    versions_->Saw(Kind::kNode, "9");
    versions_->Listed(Kind::kNode, "8", versions_->newest());
    versions_->Saw(Kind::kNode, "20");
    if (under_way) {
      Push(Frame("MODIFIED", PodJson("a", 14)));
      AwaitRequest();
    } else {
      Fail(NoAnswer());
      AwaitRequest();
    }
    ExpectStreamingList();
    api_.last().Begin();
    Push(BookmarkFrame(22, true));
    Fail(NoAnswer());
    AwaitRequest();
    ExpectWatchFrom(22);
    reflector_->Stop();
  }
}

TEST_F(ReflectorTest, AListOlderThanWhatItsKindHasSeenTellsOfARestore) {
  StartSynced();
  Push(BookmarkFrame(16));
  Push(ErrorFrame(410));
  ExpectStreamingList();
  api_.last().Begin();
  Push(BookmarkFrame(16, true));
  EXPECT_EQ(versions_->times_gone_back(), 0u);
  Push(ErrorFrame(410));
  api_.last().Begin();
  Push(BookmarkFrame(12, true));
  EXPECT_EQ(versions_->times_gone_back(), 1u);
}

TEST_F(ReflectorTest, AListOlderThanWhatAnotherKindHasSeenIsFollowedByOneListOfThatKind) {
  for (const bool restored : {false, true}) {
    SCOPED_TRACE(restored);
    Restart();
    StartSynced();
    Push(BookmarkFrame(1000));
    // A kind that has been listed before, so that it may share pods' etcd.
    versions_->Saw(Kind::kNode, "10");
    versions_->Listed(Kind::kNode, "12", versions_->newest());
    Push(BookmarkFrame(1001));
    AwaitRequest();
    ExpectStreamingList();
    api_.last().Begin();
    Push(BookmarkFrame(restored ? 13 : 1002, true));
    EXPECT_EQ(versions_->times_gone_back(), restored ? 1u : 0u);
    // Where it stands, the two are known to count apart.
    versions_->Listed(Kind::kNode, "14", versions_->newest());
    const size_t asked = api_.size();
    const uint64_t errors = reflector_->stats().errors;
    Push(BookmarkFrame(1003));
    EXPECT_EQ(api_.size(), asked);
    EXPECT_EQ(reflector_->stats().errors, errors);
    reflector_->Stop();
  }
}

TEST_F(ReflectorTest, GarbageResumesTheWatch) {
  for (const std::string& garbage :
       {std::string("no json\n"), Frame("NONSENSE", "{}"), Frame("BOOKMARK", "[]")}) {
    SCOPED_TRACE(garbage);
    Restart();
    StartSynced({PodJson("a", 1)});
    Sent();
    Push(Frame("MODIFIED", PodJson("a", 14)));
    Push(garbage);
    AwaitRequest();
    ExpectWatchFrom(14);
    EXPECT_THAT(Sent(), ElementsAre("~a1>14"));
    reflector_->Stop();
  }
}

TEST_F(ReflectorTest, AnInitialListThatBreaksOffBeginsAnew) {
  Start();
  api_.last().Begin();
  Push(Frame("ADDED", PodJson("a", 1)));
  Push(Frame("ADDED", PodJson("b", 1)));
  Fail(NoAnswer());
  AwaitRequest();
  ExpectStreamingList();
  api_.last().Begin();
  Push(Frame("ADDED", PodJson("b", 2)));
  Push(BookmarkFrame(10, true));
  EXPECT_THAT(Sent(), ElementsAre("+a1", "+b1", "~b1>2", "-a1", "synced"));
}

TEST_F(ReflectorTest, AServerThatIsDownIsTriedUntilItIsThere) {
  Start();
  for (int i = 0; i < 20; ++i) {
    Fail(NeverSent());
    AwaitRequest();
    ExpectStreamingList();
  }
  EXPECT_THAT(Sent(), IsEmpty());
  api_.last().Begin();
  Push(BookmarkFrame(10, true));
  EXPECT_THAT(Sent(), ElementsAre("synced"));
  EXPECT_EQ(reflector_->stats().errors, 20u);
}

TEST_F(ReflectorTest, ARefusedStreamingListFallsBackToPages) {
  for (const int code : {400, 405, 406, 422, 501}) {
    SCOPED_TRACE(code);
    Restart();
    Start();
    Fail(Rejection(code));
    ExpectPage("");
    EXPECT_THAT(Path(), AllOf(HasSubstr("limit=500"), HasSubstr("fieldSelector="),
                              Not(HasSubstr("watch=1"))));
    ReplyList(ListJson({PodJson("a", 1)}, 10, "next/1"));
    ExpectPage("next%2F1");
    EXPECT_THAT(Sent(), ElementsAre("+a1"));
    ReplyList(ListJson({PodJson("b", 2)}, 10));
    EXPECT_THAT(Sent(), ElementsAre("+b2", "synced"));
    ExpectWatchFrom(10);
    api_.last().Begin();
    Push(ErrorFrame(410));
    AwaitRequest();
    ExpectPage("");
    reflector_->Stop();
  }
}

TEST_F(ReflectorTest, StreamingListsThatBreakOffTwiceFallBackToPagesForOnce) {
  Start();
  for (int i = 0; i < 2; ++i) {
    ExpectStreamingList();
    api_.last().Begin();
    End();
    AwaitRequest();
  }
  ExpectPage("");
  ReplyList(ListJson({}, 10));
  ExpectWatchFrom(10);
  executor_.Advance(minutes(1));
  Fail(Rejection(410));
  ExpectStreamingList();
}

TEST_F(ReflectorTest, APageThatFailsIsAskedForAgain) {
  Start();
  Fail(Rejection(400));
  ReplyList(ListJson({PodJson("a", 1)}, 10, "p2"));
  ExpectPage("p2");
  Fail(NoAnswer());
  AwaitRequest();
  ExpectPage("p2");
  ReplyList("half a li");
  AwaitRequest();
  ExpectPage("p2");
  ReplyList(ListJson({PodJson("b", 2)}, 10));
  EXPECT_THAT(Sent(), ElementsAre("+a1", "+b2", "synced"));
}

TEST_F(ReflectorTest, AnExpiredContinueTokenBeginsTheListAnew) {
  Start();
  Fail(Rejection(400));
  ReplyList(ListJson({PodJson("a", 1), PodJson("b", 1)}, 10, "p2"));
  Fail(Rejection(410));
  AwaitRequest();
  ExpectPage("");
  ReplyList(ListJson({PodJson("b", 1)}, 20));
  EXPECT_THAT(Sent(), ElementsAre("+a1", "+b1", "-a1", "synced"));
  ExpectWatchFrom(20);
}

TEST_F(ReflectorTest, AKindThatIsNotServedCountsAsEmptyAndIsAskedForAgain) {
  Start();
  Fail(Rejection(404));
  EXPECT_THAT(Sent(), ElementsAre("synced"));
  for (int i = 0; i < 2; ++i) {
    EXPECT_THAT(AwaitRequest(), AllOf(testing::Ge(minutes(5)), testing::Le(seconds(331))));
    Fail(Rejection(404));
  }
  AwaitRequest();
  api_.last().Begin();
  Push(Frame("ADDED", PodJson("a", 1)));
  Push(BookmarkFrame(10, true));
  EXPECT_THAT(Sent(), ElementsAre("+a1")) << "synced only once";
}

TEST_F(ReflectorTest, AKindThatIsNotServedIsToldOnce) {
  testing::internal::CaptureStderr();
  Start();
  for (int i = 0; i < 3; ++i) {
    Fail(Rejection(404));
    AwaitRequest();
  }
  const std::string told = testing::internal::GetCapturedStderr();
  const std::string_view line = "The server does not serve this kind; it counts as empty";
  const size_t first = told.find(line);
  ASSERT_NE(first, std::string::npos) << told;
  EXPECT_EQ(told.find(line, first + 1), std::string::npos) << told;
}

TEST_F(ReflectorTest, AServedKindDoesNotVanishBecauseOfA404) {
  StartSynced({PodJson("a", 1)});
  Sent();
  for (int i = 0; i < 3; ++i) {
    Fail(Rejection(404));
    EXPECT_LT(AwaitRequest(), minutes(1));
  }
  EXPECT_THAT(Sent(), IsEmpty());
  EXPECT_EQ(reflector_->stats().objects, 1u);
}

TEST_F(ReflectorTest, AnOptionalKindThatIsForbiddenCountsAsEmptyAndIsAskedForAgain) {
  reflector_ = Make(Kind::kPersistentVolume);
  Start();
  for (int i = 0; i < 3; ++i) {
    Fail(Rejection(403, "persistentvolumes is forbidden"));
    EXPECT_LT(AwaitRequest(), minutes(1));
  }
  EXPECT_THAT(Sent(), ElementsAre("synced"));
  api_.last().Begin();
  Push(Frame("ADDED", R"({"metadata":{"name":"a"}})"));
  Push(BookmarkFrame(10, true));
  EXPECT_EQ(reflector_->stats().objects, 1u);
}

TEST_F(ReflectorTest, AForbiddenListIsTriedAgain) {
  Start();
  for (int i = 0; i < 3; ++i) {
    Fail(Rejection(403, "pods is forbidden"));
    AwaitRequest();
    ExpectStreamingList();
  }
  EXPECT_THAT(Sent(), IsEmpty());
}

TEST_F(ReflectorTest, StopEndsTheStreamAndSilencesTheReflector) {
  StartSynced({PodJson("a", 1)});
  Sent();
  api_.last().Push(Frame("MODIFIED", PodJson("a", 2)));
  reflector_->Stop();
  executor_.Advance(minutes(10));
  EXPECT_TRUE(api_.last().cancelled());
  EXPECT_THAT(Sent(), IsEmpty());
  EXPECT_EQ(api_.size(), 1u);
}

TEST_F(ReflectorTest, CatchingUpWaitsForNoBackoffAndForTheServersAnswer) {
  StartSynced({PodJson("a", 1)});
  Fail(NeverSent());
  ASSERT_EQ(api_.size(), 1u) << "it waits before it tries again";
  int done = 0;
  reflector_->CatchUp([&done] { ++done; });
  ASSERT_EQ(api_.size(), 2u);
  ExpectWatchFrom(10);
  Fail(NeverSent());
  EXPECT_EQ(done, 0) << "that was no answer";
  AwaitRequest();
  api_.last().Begin();
  executor_.RunDue();
  EXPECT_EQ(done, 1);
  Push(Frame("MODIFIED", PodJson("a", 11)));
  executor_.Advance(seconds(30));
  EXPECT_EQ(api_.size(), 3u) << "nothing is left of the timer";
}

TEST_F(ReflectorTest, CatchingUpResumesAWatchThatMayBeDead) {
  StartSynced({PodJson("a", 1)});
  int done = 0;
  reflector_->CatchUp([&done] { ++done; });
  ASSERT_EQ(api_.size(), 2u);
  ExpectWatchFrom(10);
  EXPECT_TRUE(api_.at(0).cancelled());
  EXPECT_EQ(done, 0);
  api_.last().Begin();
  executor_.RunDue();
  EXPECT_EQ(done, 1);
}

TEST_F(ReflectorTest, CatchingUpWhileAListIsDueIsOverWithTheList) {
  StartSynced({PodJson("a", 1)});
  api_.last().Push(Frame("ERROR", R"({"kind": "Status", "code": 500})"));
  executor_.RunDue();
  int done = 0;
  reflector_->CatchUp([&done] { ++done; });
  ExpectStreamingList();
  api_.last().Begin();
  executor_.RunDue();
  EXPECT_EQ(done, 0);
  Push(BookmarkFrame(12, true));
  EXPECT_EQ(done, 1);
}

TEST_F(ReflectorTest, WhatHasNothingYetIsNotWaitedFor) {
  Start();
  int done = 0;
  reflector_->CatchUp([&done] { ++done; });
  EXPECT_EQ(done, 1);
  EXPECT_EQ(api_.size(), 1u);
}

TEST_F(ReflectorTest, StopDuringABackoffAsksForNothingMore) {
  Start();
  Fail(NeverSent());
  reflector_->Stop();
  executor_.Advance(minutes(10));
  EXPECT_EQ(api_.size(), 1u);
}

TEST_F(ReflectorTest, ALateAnswerToAnEarlierStreamIsIgnored) {
  StartSynced({PodJson("a", 1)});
  Sent();
  reflector_.reset();
  Push(Frame("MODIFIED", PodJson("a", 2)));
  EXPECT_THAT(Sent(), IsEmpty());
}

TEST(InformersTest, EveryKindAskedForIsWatchedOnce) {
  base::VirtualClock clock;
  base::VirtualExecutor executor(clock);
  test::FakeApi api(executor);
  std::vector<InformerEvent> events;
  Informers informers(
      api, clock, 1, [&](InformerEvent event) { events.push_back(std::move(event)); },
      InformerOptions{/*json=*/true});
  informers.Start({Kind::kPod, Kind::kNode});
  informers.Start({Kind::kNode, Kind::kNamespace});
  executor.RunDue();
  ASSERT_EQ(api.size(), 3u);
  EXPECT_THAT(api.at(0).request.path, StartsWith("/api/v1/pods?"));
  EXPECT_THAT(api.at(1).request.path, StartsWith("/api/v1/nodes?"));
  EXPECT_THAT(api.at(2).request.path, StartsWith("/api/v1/namespaces?"));
  EXPECT_THAT(api.at(0).request.accept, Not(HasSubstr("protobuf")));

  api.at(1).Begin();
  api.at(1).Push(Frame("ADDED", R"({"apiVersion":"v1","kind":"Node","metadata":{"name":"n1"}})"));
  api.at(1).Push(BookmarkFrame(10, true));
  executor.RunDue();
  ASSERT_EQ(events.size(), 2u);
  EXPECT_EQ(events[0].kind, Kind::kNode);
  EXPECT_NE(api::As<api::Node>(events[0].new_object), nullptr);
  EXPECT_EQ(events[1].type, EventType::kSynced);
  EXPECT_EQ(events[1].kind, Kind::kNode);
  EXPECT_TRUE(informers.Stats(Kind::kNode).synced);
  EXPECT_FALSE(informers.Stats(Kind::kPod).synced);
  std::vector<std::string> known;
  informers.CollectObjects(Kind::kNode, [&known](std::vector<api::ObjectPtr> objects) {
    for (const auto& object : objects) known.push_back(MetaOf(object)->name);
  });
  executor.RunDue();
  EXPECT_THAT(known, ElementsAre("n1"));

  informers.Stop();
  informers.Start({Kind::kPod});
  executor.Advance(minutes(10));
  EXPECT_EQ(api.size(), 3u);
  for (size_t i = 0; i < 3; ++i) EXPECT_TRUE(api.at(i).cancelled());
}

TEST(InformersTest, AFollowerBeginsWithWhatIsThereAndSeesEachChange) {
  base::VirtualClock clock;
  base::VirtualExecutor executor(clock);
  test::FakeApi api(executor);
  std::vector<std::string> seen;
  std::vector<std::string> followed;
  Informers informers(
      api, clock, 1,
      [&seen](const InformerEvent& event) {
        if (event.kind == Kind::kPod) seen.push_back(Describe(event));
      },
      InformerOptions{.json = true});
  informers.Start({Kind::kPod});
  executor.RunDue();
  api.last().Begin();
  api.last().Push(Frame("ADDED", PodJson("a", 5)));
  api.last().Push(BookmarkFrame(10, true));
  executor.RunDue();
  const auto follow = [&followed](const InformerEvent& event) {
    followed.push_back(Describe(event));
  };
  informers.Follow({Kind::kPod, Kind::kNode}, follow);
  executor.RunDue();
  ASSERT_EQ(followed.size(), 3u);
  EXPECT_EQ(followed[0], seen[0]) << "the pod, as the sink saw it";
  EXPECT_EQ(followed[1], "synced");
  api.last().Push(Frame("MODIFIED", PodJson("a", 11, "", "n1")));
  executor.RunDue();
  ASSERT_EQ(followed.size(), 4u);
  EXPECT_EQ(followed[3], seen.back());
  informers.Unfollow();
  api.last().Push(Frame("DELETED", PodJson("a", 12)));
  executor.RunDue();
  EXPECT_EQ(followed.size(), 4u);
  EXPECT_NE(followed[3], seen.back());
  // The watch of a kind that was not asked for yet is followed from its first event on.
  size_t nodes = 0;
  informers.Follow({Kind::kNode}, [&nodes](const InformerEvent& event) {
    if (event.kind == Kind::kNode && event.type == EventType::kAdded) ++nodes;
  });
  informers.Start({Kind::kNode});
  executor.RunDue();
  api.last().Begin();
  api.last().Push(
      Frame("ADDED",
            R"({"apiVersion":"v1","kind":"Node","metadata":{"name":"n1","resourceVersion":"7"}})"));
  api.last().Push(BookmarkFrame(10, true));
  executor.RunDue();
  EXPECT_EQ(nodes, 1u);
}

TEST(InformersTest, CatchingUpIsOverWhenAllHaveBeenAnsweredOrAfterTenSeconds) {
  base::VirtualClock clock;
  base::VirtualExecutor executor(clock);
  test::FakeApi api(executor);
  Informers informers(api, clock, 1, [](const InformerEvent&) {}, InformerOptions{.json = true});
  informers.Start({Kind::kPod, Kind::kNode});
  executor.RunDue();
  for (size_t i = 0; i < 2; ++i) {
    api.at(i).Begin();
    api.at(i).Push(BookmarkFrame(10, true));
  }
  executor.RunDue();

  int done = 0;
  informers.CatchUp([&done] { ++done; });
  executor.RunDue();
  ASSERT_EQ(api.size(), 4u);
  api.at(2).Begin();
  executor.Advance(seconds(1));
  EXPECT_EQ(done, 0);
  api.at(3).Begin();
  executor.Advance(seconds(1));
  EXPECT_EQ(done, 1);

  informers.CatchUp([&done] { ++done; });
  executor.Advance(milliseconds(9900));
  EXPECT_EQ(done, 1);
  executor.Advance(seconds(1));
  EXPECT_EQ(done, 2);
  informers.CatchUp([&done] { ++done; });
  informers.Stop();
  executor.Advance(minutes(1));
  EXPECT_EQ(done, 2);
}

}  // namespace
}  // namespace berth::informers
