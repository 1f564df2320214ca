// SPDX-License-Identifier: Apache-2.0
#include "src/binding/pod_evictor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <optional>

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
using ::testing::HasSubstr;

class PodEvictorTest : public testing::Test {
 protected:
  void Evict(const test::PodBuilder& pod) {
    end_.reset();
    evictor_->Evict(pod.Ptr(), "make room", [this](AsyncStatus status) {
      EXPECT_FALSE(end_.has_value()) << "done was called twice";
      end_ = std::move(status);
    });
    executor_.RunDue();
  }
  void Reply(int code) {
    api_.last().Reply(code);
    executor_.RunDue();
  }
  void ExpectLast(Verb verb, const std::string& path) {
    EXPECT_EQ(api_.last().request.verb, verb);
    EXPECT_EQ(api_.last().request.path, path);
    EXPECT_EQ(api_.last().request.priority, client::Priority::kEviction);
  }

  base::VirtualClock clock_;
  base::VirtualExecutor executor_{clock_};
  test::FakeApi api_{executor_};
  std::unique_ptr<PodEvictor> evictor_ = std::make_unique<PodEvictor>(api_, clock_, 1);
  std::optional<AsyncStatus> end_;
  const test::PodBuilder web_ = test::PodBuilder().Name("web").Uid("uid-1").Generation(3);
};

TEST_F(PodEvictorTest, APodIsMarkedAndThenDeletedBothAsEvictions) {
  Evict(web_);
  ASSERT_EQ(api_.size(), 1u);
  ExpectLast(Verb::kPatch, "/api/v1/namespaces/default/pods/web/status");
  for (const char* part : {"DisruptionTarget", "PreemptionByScheduler", "make room",
                           "\"observedGeneration\":3", "2026-01-01T00:00:00Z", "uid-1"}) {
    EXPECT_THAT(api_.last().request.body, HasSubstr(part));
  }
  Reply(200);
  ASSERT_EQ(api_.size(), 2u);
  ExpectLast(Verb::kDelete, "/api/v1/namespaces/default/pods/web");
  EXPECT_TRUE(api_.last().request.repeats_5xx) << "it names the UID";
  EXPECT_THAT(api_.last().request.body, HasSubstr("uid-1"));
  EXPECT_FALSE(end_.has_value());
  Reply(200);
  ASSERT_TRUE(end_.has_value());
  EXPECT_TRUE(end_->ok());
}

TEST_F(PodEvictorTest, APodThatIsMarkedAlreadyIsDeletedAtOnce) {
  // Whatever generation it was observed at.
  Evict(test::PodBuilder(web_).Condition("DisruptionTarget", "True", "PreemptionByScheduler",
                                         "make room"));
  ExpectLast(Verb::kDelete, "/api/v1/namespaces/default/pods/web");
}

TEST_F(PodEvictorTest, WhatThePatchAndTheDeletionEndWith) {
  const struct {
    const char* name;
    std::optional<client::ApiError> patch;  // nullopt: written
    std::optional<client::ApiError> deletion;
    Code code;
  } cases[] = {
      {"gone before the patch", Rejection(404), std::nullopt, Code::kSkip},
      {"another pod before the patch",
       Rejection(422,
                 "Pod \"web\" is invalid: metadata.uid: Invalid value: \"uid\": field is "
                 "immutable"),
       std::nullopt, Code::kSkip},
      {"the patch is invalid", Rejection(422, "Pod \"web\" is invalid: status"), std::nullopt,
       Code::kError},
      {"the patch is forbidden", Rejection(403), std::nullopt, Code::kError},
      {"the patch got no answer", NoAnswer(), std::nullopt, Code::kError},
      {"gone before the deletion", std::nullopt, Rejection(404), Code::kSkip},
      {"another pod by now", std::nullopt,
       Rejection(409, "Precondition failed: UID in precondition: a, UID in object meta: b"),
       Code::kSkip},
      {"another pod before the deletion began", std::nullopt,
       Rejection(409, "the UID in the precondition (a) does not match the UID in record (b)"),
       Code::kSkip},
      {"a webhook says that now is no time", std::nullopt, Rejection(409, "denied"), Code::kError},
      {"the deletion is forbidden", std::nullopt, Rejection(403), Code::kError},
      {"the deletion got no answer", std::nullopt, NoAnswer(), Code::kError},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    Evict(web_);
    if (c.patch) {
      api_.last().Fail(*c.patch);
    } else {
      api_.last().Reply(200);
    }
    executor_.RunDue();
    if (c.deletion) {
      ASSERT_EQ(api_.last().request.verb, Verb::kDelete);
      api_.last().Fail(*c.deletion);
      executor_.RunDue();
    }
    ASSERT_TRUE(end_.has_value());
    EXPECT_EQ(end_->code, c.code);
  }
}

TEST_F(PodEvictorTest, APodThatIsAskedForByItsEvictionIsNotMarked) {
  const struct {
    std::optional<client::ApiError> answer;  // nullopt: granted
    Code code;
  } cases[] = {
      {std::nullopt, Code::kSuccess},
      {Rejection(404), Code::kSkip},
      {Rejection(429, "it would violate the pod's disruption budget"), Code::kUnschedulable},
      {Rejection(403), Code::kError},
      {NoAnswer(), Code::kError},
  };
  for (const auto& c : cases) {
    end_.reset();
    const size_t before = api_.size();
    evictor_->Ask(web_.Ptr(), [this](AsyncStatus status) { end_ = std::move(status); });
    executor_.RunDue();
    ASSERT_EQ(api_.size(), before + 1);
    ExpectLast(Verb::kCreate, "/api/v1/namespaces/default/pods/web/eviction");
    EXPECT_THAT(api_.last().request.body, HasSubstr("\"uid\":\"uid-1\""));
    if (c.answer) {
      api_.last().Fail(*c.answer);
    } else {
      api_.last().Reply(201);
    }
    executor_.RunDue();
    ASSERT_TRUE(end_.has_value());
    EXPECT_EQ(end_->code, c.code);
  }
}

TEST_F(PodEvictorTest, ThePatchIsTriedFourTimesInAll) {
  Evict(web_);
  for (int i = 0; i < 4; ++i) {
    EXPECT_FALSE(end_.has_value());
    api_.last().Fail(NeverSent());
    executor_.Advance(seconds(1));
  }
  EXPECT_EQ(api_.size(), 4u);
  ASSERT_TRUE(end_.has_value());
  EXPECT_FALSE(end_->ok());
}

TEST_F(PodEvictorTest, EveryEvictionIsSentHoweverManyThereAre) {
  constexpr size_t kPods = 20'000;
  for (size_t i = 0; i < kPods; ++i) {
    const std::string name = "pod-" + std::to_string(i);
    evictor_->Evict(test::PodBuilder().Name(name).Uid(name).Ptr(), "make room", [](AsyncStatus) {});
  }
  executor_.RunDue();
  EXPECT_EQ(api_.size(), kPods);
  // What is under way keeps itself until it is answered.
  for (size_t i = 0; i < kPods; ++i) api_.at(i).Reply(404);
  executor_.RunDue();
  EXPECT_EQ(api_.size(), kPods);
}

TEST_F(PodEvictorTest, AnEvictorThatIsGoneDeletesNothing) {
  Evict(web_);
  evictor_.reset();
  Reply(200);
  EXPECT_EQ(api_.size(), 1u);
  EXPECT_FALSE(end_.has_value());
}

}  // namespace
}  // namespace berth::binding
