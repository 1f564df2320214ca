// SPDX-License-Identifier: Apache-2.0
#include "src/binding/pod_status.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <vector>

#include "tests/support/builders.h"
#include "tests/support/fake_api.h"
#include "tests/support/fake_clock.h"

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
  nlohmann::json Status() { return nlohmann::json::parse(api_.last().request.body).at("status"); }

  test::FakeClock clock_;
  test::FakeExecutor executor_{clock_};
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
      executor_.Advance(seconds(1));
    }
    EXPECT_EQ(api_.size() - before, c.tries);
    ASSERT_TRUE(ends_[0].has_value());
    EXPECT_EQ(ends_[0]->code, c.error.code);
  }
  EXPECT_EQ(patcher_->counts().failed, 8u);
}

TEST_F(PodStatusPatcherTest, ASuccessAfterAFailureIsASuccess) {
  Patch(web_, Unschedulable("no room"));
  Reply(409);
  executor_.Advance(seconds(1));
  Reply(200);
  ASSERT_EQ(ends_.size(), 1u);
  EXPECT_FALSE(ends_[0].has_value());
}

TEST_F(PodStatusPatcherTest, PodsBeyondTheBoundAreDropped) {
  for (int i = 0; i < 10'005; ++i) {
    const std::string name = "pod-" + std::to_string(i);
    patcher_->Patch(test::PodBuilder().Name(name).Uid(name).Ptr(), Nominate("n1"));
  }
  Patch(web_, Nominate("n1"));
  EXPECT_EQ(api_.size(), 10'000u);
  EXPECT_EQ(patcher_->counts().dropped, 6u);
  ASSERT_EQ(ends_.size(), 1u);
  EXPECT_TRUE(ends_[0].has_value());
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
