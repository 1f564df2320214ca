// SPDX-License-Identifier: Apache-2.0
#include "src/binding/pod_status.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <vector>

#include "berth/random.h"
#include "src/base/virtual_time.h"
#include "tests/support/builders.h"
#include "tests/support/fake_api.h"

namespace berth::binding {
namespace {

using client::Verb;
using std::chrono::seconds;
using test::NeverSent;
using test::NoAnswer;
using test::Rejection;
using ::testing::IsEmpty;

api::PodStatusChange Unschedulable(const std::string& message) {
  api::PodCondition condition;
  condition.type = "PodScheduled";
  condition.status = "False";
  condition.reason = "Unschedulable";
  condition.message = message;
  return {condition, std::nullopt};
}

api::PodStatusChange Nominate(const std::string& node) { return {std::nullopt, node}; }

class PodStatusPatcherTest : public testing::Test {
 protected:
  void Patch(const test::PodBuilder& pod, api::PodStatusChange change) {
    patcher_->Patch(pod.Ptr(), std::move(change),
                    [this](std::optional<client::ApiError> error) { ends_.push_back(error); });
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
  static test::PodBuilder Pod(size_t i) {
    const std::string name = "pod-" + std::to_string(i);
    return test::PodBuilder().Name(name).Uid(name);
  }
  nlohmann::json Status() { return nlohmann::json::parse(api_.last().request.body).at("status"); }

  base::VirtualClock clock_;
  base::VirtualExecutor executor_{clock_};
  test::FakeApi api_{executor_};
  std::vector<std::optional<client::ApiError>> ends_;
  std::unique_ptr<PodStatusPatcher> patcher_ = std::make_unique<PodStatusPatcher>(api_, clock_, 1);
  test::PodBuilder web_ = test::PodBuilder().Name("web").Uid("uid-1");
};

TEST_F(PodStatusPatcherTest, AConditionIsPatchedOntoTheStatus) {
  Patch(web_, Unschedulable("no room"));
  ASSERT_EQ(api_.size(), 1u);
  const client::Request& request = api_.last().request;
  EXPECT_EQ(request.verb, Verb::kPatch);
  EXPECT_EQ(request.priority, client::Priority::kStatusPatch);
  EXPECT_EQ(request.path, "/api/v1/namespaces/default/pods/web/status");
  EXPECT_EQ(request.content_type, "application/strategic-merge-patch+json");
  const auto condition = Status().at("conditions").at(0);
  EXPECT_EQ(condition["type"], "PodScheduled");
  EXPECT_EQ(condition["status"], "False");
  EXPECT_EQ(condition["reason"], "Unschedulable");
  EXPECT_EQ(condition["message"], "no room");
  EXPECT_EQ(condition["lastTransitionTime"], "2026-01-01T00:00:00Z");
  EXPECT_THAT(ends_, IsEmpty());
  Reply(200);
  ASSERT_EQ(ends_.size(), 1u);
  EXPECT_FALSE(ends_[0].has_value());
  EXPECT_EQ(patcher_->counts().sent, 1u);
}

TEST_F(PodStatusPatcherTest, NothingIsSentWhenNothingDiffers) {
  const struct {
    const char* name;
    test::PodBuilder pod;
    api::PodStatusChange change;
  } cases[] = {
      {"same condition",
       test::PodBuilder().Condition("PodScheduled", "False", "Unschedulable", "no room"),
       Unschedulable("no room")},
      {"same nominated node", test::PodBuilder().NominatedNode("n1"), Nominate("n1")},
      {"nothing to clear", test::PodBuilder(), Nominate("")},
      {"no change at all", test::PodBuilder(), {}},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    ends_.clear();
    Patch(c.pod, c.change);
    EXPECT_EQ(api_.size(), 0u);
    ASSERT_EQ(ends_.size(), 1u);
    EXPECT_FALSE(ends_[0].has_value());
  }
  EXPECT_EQ(patcher_->counts().unchanged, 4u);
}

TEST_F(PodStatusPatcherTest, TheTransitionIsStampedByTheMachinesClock) {
  clock_.Correct(std::chrono::hours(-5));
  Patch(web_, Unschedulable("no room"));
  ASSERT_EQ(api_.size(), 1u);
  EXPECT_EQ(Status()["conditions"][0]["lastTransitionTime"], "2025-12-31T19:00:00Z");
}

TEST_F(PodStatusPatcherTest, ClearingTheNominatedNodeSendsNull) {
  Patch(web_.NominatedNode("n1"), Nominate(""));
  ASSERT_EQ(api_.size(), 1u);
  EXPECT_TRUE(Status().at("nominatedNodeName").is_null());
}

TEST_F(PodStatusPatcherTest, WhatComesDuringAPatchIsMergedIntoOneMore) {
  Patch(web_, Unschedulable("first"));
  Patch(web_, Unschedulable("second"));
  Patch(web_, Nominate("n1"));
  Patch(web_, Unschedulable("third"));
  ASSERT_EQ(api_.size(), 1u);
  clock_.Advance(seconds(1));
  Reply(200);
  ASSERT_EQ(api_.size(), 2u);
  EXPECT_EQ(Status()["nominatedNodeName"], "n1");
  EXPECT_EQ(Status()["conditions"][0]["message"], "third");
  Reply(200);
  EXPECT_EQ(api_.size(), 2u);
  EXPECT_EQ(ends_.size(), 4u);
}

TEST_F(PodStatusPatcherTest, WhatTheFirstPatchHasDoneIsNotSentAgain) {
  Patch(web_, Unschedulable("no room"));
  Patch(web_, Unschedulable("no room"));
  Reply(200);
  EXPECT_EQ(api_.size(), 1u);
  EXPECT_EQ(ends_.size(), 2u);
}

TEST_F(PodStatusPatcherTest, AFailedFirstPatchDoesNotCountAsDone) {
  Patch(web_, Unschedulable("no room"));
  Patch(web_, Unschedulable("no room"));
  Reply(403);
  EXPECT_EQ(api_.size(), 2u);
}

TEST_F(PodStatusPatcherTest, TwoConditionsAreTwoPatches) {
  api::PodStatusChange disruption;
  disruption.condition.emplace();
  disruption.condition->type = "DisruptionTarget";
  disruption.condition->status = "True";
  Patch(web_, Unschedulable("first"));
  Patch(web_, Unschedulable("second"));
  Patch(web_, disruption);
  Reply(200);
  EXPECT_EQ(Status()["conditions"][0]["message"], "second");
  Reply(200);
  EXPECT_EQ(Status()["conditions"][0]["type"], "DisruptionTarget");
  Reply(200);
  EXPECT_EQ(api_.size(), 3u);
  EXPECT_EQ(ends_.size(), 3u);
}

TEST_F(PodStatusPatcherTest, PodsDoNotWaitForEachOther) {
  Patch(test::PodBuilder().Name("a").Uid("a"), Unschedulable("x"));
  Patch(test::PodBuilder().Name("b").Uid("b"), Unschedulable("x"));
  EXPECT_EQ(api_.size(), 2u);
}

TEST_F(PodStatusPatcherTest, TheTransitionTimeStaysWhileTheStatusStays) {
  Patch(web_, Unschedulable("first"));
  Patch(web_, Unschedulable("second"));
  const auto first = Status()["conditions"][0]["lastTransitionTime"];
  clock_.Advance(seconds(30));
  Patch(web_, Unschedulable("third"));
  Reply(200);
  EXPECT_EQ(Status()["conditions"][0]["message"], "third");
  EXPECT_EQ(Status()["conditions"][0].value("lastTransitionTime", first), first);
}

TEST_F(PodStatusPatcherTest, OnlySomeFailuresAreTriedAgainAndFourTimesInAll) {
  const struct {
    const char* name;
    client::ApiError error;
    size_t tries;
  } cases[] = {
      {"conflict", Rejection(409), 4},
      {"internal error", Rejection(500), 4},
      {"unavailable", Rejection(503), 4},
      {"connection refused", NeverSent(), 4},
      {"cut", NoAnswer(), 1},
      {"forbidden", Rejection(403), 1},
      {"gone", Rejection(404), 1},
      {"gateway timeout", Rejection(504), 1},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    const size_t before = api_.size();
    ends_.clear();
    Patch(web_, Unschedulable("no room"));
    while (ends_.empty()) {
      ASSERT_TRUE(api_.last().open());
      Fail(c.error);
      executor_.Advance(std::chrono::milliseconds(500));
    }
    EXPECT_EQ(api_.size() - before, c.tries);
    ASSERT_TRUE(ends_[0].has_value());
    EXPECT_EQ(ends_[0]->code, c.error.code);
    patcher_->Forget("uid-1");
    executor_.RunDue();
  }
  EXPECT_EQ(patcher_->counts().failed, 8u);
}

TEST_F(PodStatusPatcherTest, AConditionThatGotLostIsSentAgainLater) {
  Patch(web_, Unschedulable("no room"));
  Fail(NoAnswer());
  ASSERT_EQ(ends_.size(), 1u) << "the caller is told at once";
  executor_.Advance(std::chrono::milliseconds(999));
  EXPECT_EQ(api_.size(), 1u);
  executor_.Advance(std::chrono::milliseconds(251));
  ASSERT_EQ(api_.size(), 2u);
  EXPECT_EQ(api_.at(1).request.body, api_.at(0).request.body);
  Fail(NoAnswer());
  executor_.Advance(std::chrono::milliseconds(2500));
  ASSERT_EQ(api_.size(), 3u);
  Reply(200);
  executor_.Advance(std::chrono::hours(1));
  EXPECT_EQ(api_.size(), 3u);
  EXPECT_EQ(ends_.size(), 1u);
  EXPECT_EQ(patcher_->counts().sent, 1u);
}

TEST_F(PodStatusPatcherTest, AConditionThatTheServerDidNotTakeFromUsIsSentAgainLater) {
  size_t sent = 0;
  for (const int code : {401, 403}) {
    SCOPED_TRACE(code);
    Patch(web_, Unschedulable("no room" + std::to_string(code)));
    ASSERT_EQ(api_.size(), ++sent);
    Fail(Rejection(code));
    executor_.Advance(std::chrono::milliseconds(1250));
    ASSERT_EQ(api_.size(), ++sent) << "credentials and rights come back";
    Reply(200);
  }
}

TEST_F(PodStatusPatcherTest, ALostConditionIsSentAgainTenTimesAtMost) {
  Patch(web_, Unschedulable("no room"));
  for (size_t i = 1; i <= 11; ++i) {
    ASSERT_EQ(api_.size(), i);
    Fail(NoAnswer());
    executor_.Advance(seconds(50));
  }
  executor_.Advance(std::chrono::hours(1));
  EXPECT_EQ(api_.size(), 11u);
}

TEST_F(PodStatusPatcherTest, WhatIsNewerTakesThePlaceOfALostCondition) {
  Patch(web_, Unschedulable("no room"));
  Fail(NoAnswer());
  Patch(web_, Unschedulable("still no room"));
  ASSERT_EQ(api_.size(), 2u) << "it does not wait for the older";
  EXPECT_EQ(Status()["conditions"][0]["message"], "still no room");
  Reply(200);
  executor_.Advance(std::chrono::hours(1));
  EXPECT_EQ(api_.size(), 2u);
}

TEST_F(PodStatusPatcherTest, ALostConditionIsNotSentAgainOnceItIsUntrue) {
  for (const bool bind : {true, false}) {
    SCOPED_TRACE(bind);
    Patch(web_, Unschedulable("no room"));
    Fail(NoAnswer());
    const size_t sent = api_.size();
    bind ? patcher_->DropCondition("uid-1") : patcher_->Forget("uid-1");
    executor_.Advance(std::chrono::hours(1));
    EXPECT_EQ(api_.size(), sent);
  }
}

TEST_F(PodStatusPatcherTest, ANominationThatGotLostIsNotSentAgain) {
  api::PodStatusChange change = Unschedulable("no room");
  change.nominated_node_name = "n1";
  Patch(web_, change);
  Fail(NoAnswer());
  executor_.Advance(std::chrono::hours(1));
  EXPECT_EQ(api_.size(), 1u);
}

TEST_F(PodStatusPatcherTest, ASuccessAfterAFailureIsASuccess) {
  Patch(web_, Unschedulable("no room"));
  Reply(409);
  executor_.Advance(seconds(1));
  Reply(200);
  ASSERT_EQ(ends_.size(), 1u);
  EXPECT_FALSE(ends_[0].has_value());
}

// As many pods as are under way at once, so that what comes next has to wait.
constexpr size_t kAtOnce = 32;

TEST_F(PodStatusPatcherTest, NoneIsDroppedHoweverManyThereAre) {
  constexpr size_t kPods = 20'000;
  for (size_t i = 0; i < kPods; ++i) Patch(Pod(i), Unschedulable("no room"));
  EXPECT_EQ(api_.size(), kAtOnce);
  std::set<std::string> paths;
  for (size_t i = 0; i < kPods; ++i) {
    ASSERT_LT(i, api_.size());
    paths.insert(api_.at(i).request.path);
    api_.at(i).Reply(200);
    executor_.RunDue();
  }
  EXPECT_EQ(paths.size(), kPods);
  EXPECT_EQ(patcher_->counts().sent, kPods);
  EXPECT_EQ(ends_.size(), kPods);
}

TEST_F(PodStatusPatcherTest, TheNewestReplacesWhatWaitsAndKeepsItsPlace) {
  for (size_t i = 0; i < kAtOnce; ++i) Patch(Pod(i), Unschedulable("x"));
  Patch(web_, Unschedulable("first"));
  Patch(Pod(kAtOnce), Unschedulable("behind"));
  executor_.Advance(seconds(7));
  Patch(web_, Unschedulable("newest"));
  ASSERT_EQ(api_.size(), kAtOnce);
  Reply(200);
  ASSERT_EQ(api_.size(), kAtOnce + 1);
  EXPECT_EQ(Status()["conditions"][0]["message"], "newest");
  EXPECT_EQ(api_.last().request.waited, seconds(7)) << "the client must know how long it waited";
  Reply(200);
  EXPECT_EQ(Status()["conditions"][0]["message"], "behind");
}

TEST_F(PodStatusPatcherTest, AConditionWithANominationIsWrittenAtOnceWithTheEvictions) {
  for (size_t i = 0; i < kAtOnce; ++i) Patch(Pod(i), Unschedulable("x"));
  Patch(web_, Unschedulable("no room"));
  ASSERT_EQ(api_.size(), kAtOnce);
  api::PodStatusChange nominated = Unschedulable("preempting");
  nominated.nominated_node_name = "n1";
  Patch(web_, nominated);
  ASSERT_EQ(api_.size(), kAtOnce + 1);
  EXPECT_EQ(api_.last().request.priority, client::Priority::kEviction);
  EXPECT_EQ(Status()["nominatedNodeName"], "n1");
  EXPECT_EQ(Status()["conditions"][0]["message"], "preempting");
  Reply(200);
  // The others have their room as before, and the pod's place in line is passed over.
  Patch(Pod(kAtOnce), Unschedulable("x"));
  EXPECT_EQ(api_.size(), kAtOnce + 1);
  api_.at(0).Reply(200);
  executor_.RunDue();
  ASSERT_EQ(api_.size(), kAtOnce + 2);
  EXPECT_EQ(api_.last().request.path, "/api/v1/namespaces/default/pods/pod-32/status");
}

TEST_F(PodStatusPatcherTest, ConditionsThatWaitAreDroppedWhenTheBindBegins) {
  for (size_t i = 0; i < kAtOnce; ++i) Patch(Pod(i), Unschedulable("x"));
  ends_.clear();
  api::PodStatusChange both = Unschedulable("no room");
  both.nominated_node_name = "";
  Patch(test::PodBuilder(web_).NominatedNode("n0"), both);
  Patch(Pod(kAtOnce), Unschedulable("no room"));
  patcher_->DropCondition("uid-1");
  patcher_->DropCondition("pod-32");
  patcher_->DropCondition("unknown");
  executor_.RunDue();
  ASSERT_EQ(ends_.size(), 1u) << "of the pod that had nothing but a condition";
  EXPECT_FALSE(ends_[0].has_value());
  for (size_t i = 0; i < kAtOnce; ++i) {
    api_.at(i).Reply(200);
    executor_.RunDue();
  }
  ASSERT_EQ(api_.size(), kAtOnce + 1);
  EXPECT_TRUE(Status().at("nominatedNodeName").is_null());
  EXPECT_FALSE(Status().contains("conditions"));
  EXPECT_EQ(patcher_->counts().withdrawn, 2u);
}

TEST_F(PodStatusPatcherTest, AConditionInTheClientsLineIsTakenBackWhenTheBindBegins) {
  api_.cancel_in_line = true;
  api::PodStatusChange both = Unschedulable("no room");
  both.nominated_node_name = "n1";
  Patch(web_, both);
  patcher_->DropCondition("uid-1");
  executor_.RunDue();
  EXPECT_TRUE(api_.at(0).cancelled());
  ASSERT_EQ(api_.size(), 2u);
  EXPECT_EQ(Status()["nominatedNodeName"], "n1");
  EXPECT_FALSE(Status().contains("conditions"));
  Reply(200);
  ASSERT_EQ(ends_.size(), 1u);
  EXPECT_FALSE(ends_[0].has_value());
}

TEST_F(PodStatusPatcherTest, AConditionThatAwaitsItsNextTryIsDroppedWhenTheBindBegins) {
  Patch(web_, Unschedulable("no room"));
  Reply(409);
  patcher_->DropCondition("uid-1");
  executor_.Advance(seconds(60));
  EXPECT_EQ(api_.size(), 1u);
  ASSERT_EQ(ends_.size(), 1u);
  EXPECT_FALSE(ends_[0].has_value());
}

TEST_F(PodStatusPatcherTest, NothingIsWrittenOfAForgottenPod) {
  api_.cancel_in_line = true;
  for (size_t i = 0; i < kAtOnce; ++i) Patch(Pod(i), Nominate("n1"));
  Patch(web_, Nominate("n1"));
  patcher_->Forget("uid-1");
  patcher_->Forget("pod-0");
  executor_.RunDue();
  EXPECT_TRUE(api_.at(0).cancelled());
  for (size_t i = 1; i < kAtOnce; ++i) {
    api_.at(i).Reply(200);
    executor_.RunDue();
  }
  EXPECT_EQ(api_.size(), kAtOnce);
  EXPECT_EQ(ends_.size(), kAtOnce + 1);
  EXPECT_EQ(patcher_->counts().withdrawn, 2u);
  // It is a pod like any other when it comes again.
  Patch(web_, Nominate("n2"));
  EXPECT_EQ(api_.size(), kAtOnce + 1);
}

// Whatever comes, every change is answered once, and at the end the server has the newest of all
// that was not withdrawn.
TEST_F(PodStatusPatcherTest, EveryChangeEndsOnceWhateverComesBetween) {
  for (uint64_t seed = 1; seed <= 30; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    patcher_ = std::make_unique<PodStatusPatcher>(api_, clock_, seed);
    ends_.clear();
    size_t asked = 0;
    const size_t first = api_.size();
    size_t answered = first;
    std::map<std::string, std::string> newest;  // by path
    const auto path_of = [](size_t i) {
      return "/api/v1/namespaces/default/pods/pod-" + std::to_string(i) + "/status";
    };
    for (int step = 0; step < 400; ++step) {
      const size_t i = random.Below(60);
      const std::string uid = "pod-" + std::to_string(i);
      const uint64_t what = random.Below(20);
      if (what < 12) {
        const std::string message = "at step " + std::to_string(step);
        newest[path_of(i)] = message;
        ++asked;
        Patch(Pod(i), Unschedulable(message));
      } else if (what == 12) {
        patcher_->DropCondition(uid);
        newest.erase(path_of(i));
      } else if (what == 13) {
        patcher_->Forget(uid);
        newest.erase(path_of(i));
      } else if (what == 14) {
        executor_.Advance(std::chrono::milliseconds(random.Below(500)));
      } else if (answered < api_.size()) {
        auto& call = api_.at(answered++);
        if (call.open()) {
          const uint64_t how = random.Below(8);
          how < 2 ? call.Reply(409) : how == 2 ? call.Fail(NoAnswer()) : call.Reply(200);
        }
      }
      executor_.RunDue();
    }
    std::map<std::string, std::string> last;
    for (size_t n = first; n < api_.size(); ++n) {
      if (api_.at(n).open()) api_.at(n).Reply(200);
      executor_.Advance(seconds(50));
      const auto status = nlohmann::json::parse(api_.at(n).request.body).at("status");
      last[api_.at(n).request.path] = status["conditions"][0]["message"];
    }
    EXPECT_EQ(ends_.size(), asked);
    for (const auto& [path, message] : newest) EXPECT_EQ(last[path], message) << path;
  }
}

TEST_F(PodStatusPatcherTest, APatcherThatIsGoneSendsNothing) {
  Patch(web_, Unschedulable("first"));
  Patch(web_, Unschedulable("second"));
  patcher_.reset();
  Reply(200);
  executor_.Advance(seconds(60));
  EXPECT_EQ(api_.size(), 1u);
  EXPECT_THAT(ends_, IsEmpty());
}

}  // namespace
}  // namespace berth::binding
