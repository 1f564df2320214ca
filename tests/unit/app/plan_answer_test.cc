// SPDX-License-Identifier: Apache-2.0
#include "src/app/commands/plan_answer.h"

#include <gtest/gtest.h>

#include <string>

namespace berth::app {
namespace {

using AnswerKind = plan::Answer::Kind;

AnswerKind KindOfRefusal(int code, const std::string& message, const std::string& reason = "") {
  client::ApiError error;
  error.code = code;
  error.reason = reason;
  error.message = message;
  return PlanAnswerOf(tl::unexpected<client::ApiError>(std::move(error)), "https://server").kind;
}

TEST(PlanAnswerTest, OnlyAConflictWithAnotherUidMeansThatThePodIsGone) {
  EXPECT_EQ(KindOfRefusal(409,
                          "Operation cannot be fulfilled on Pod \"web\": Precondition failed: UID "
                          "in precondition: a, UID in object meta: b"),
            AnswerKind::kGone);
  EXPECT_EQ(KindOfRefusal(409,
                          "Operation cannot be fulfilled on pods \"web\": the UID in the "
                          "precondition (a) does not match the UID in record (b)"),
            AnswerKind::kGone);
  EXPECT_EQ(KindOfRefusal(409, "the object has been modified"), AnswerKind::kLater);
  EXPECT_EQ(KindOfRefusal(409, "admission webhook \"guard\" denied the request"),
            AnswerKind::kLater);
}

TEST(PlanAnswerTest, OtherAnswersByTheirCode) {
  EXPECT_EQ(PlanAnswerOf(client::Response{.code = 201}, "https://server").kind, AnswerKind::kDone);
  EXPECT_EQ(KindOfRefusal(404, "pods \"web\" not found"), AnswerKind::kGone);
  EXPECT_EQ(KindOfRefusal(429, "would violate the budget"), AnswerKind::kLater);
  EXPECT_EQ(KindOfRefusal(500, "etcd is slow"), AnswerKind::kLater);
  EXPECT_EQ(KindOfRefusal(403, "no"), AnswerKind::kRefused);
  EXPECT_EQ(KindOfRefusal(409, "events \"web.plan\" already exists", "AlreadyExists"),
            AnswerKind::kDone)
      << "an event of an earlier run";
}

}  // namespace
}  // namespace berth::app
