// SPDX-License-Identifier: Apache-2.0
#include "src/binding/bind_operation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>

#include "tests/support/fake_api.h"
#include "tests/support/fake_clock.h"

namespace berth::binding {
namespace {

using client::Verb;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;
using test::NeverSent;
using test::NoAnswer;
using test::Rejection;
using ::testing::HasSubstr;

std::string PodJson(const std::string& uid, const std::string& node) {
  return R"({"apiVersion":"v1","kind":"Pod","metadata":{"namespace":"ns","name":"web","uid":")" +
         uid + R"("},"spec":{"nodeName":")" + node + R"("}})";
}

class BindOperationTest : public testing::Test {
 protected:
  void Start() {
    operation_ = std::make_shared<BindOperation>(
        api_, clock_, 1, BindTarget{"ns", "web", "uid-1", "node-1"},
        [this](BindResult result) {
          EXPECT_FALSE(result_.has_value()) << "done was called twice";
          result_ = std::move(result);
        },
        [this] {
          EXPECT_FALSE(result_.has_value());
          ++settling_;
        });
    operation_->Start();
    executor_.RunDue();
  }
  void Reply(int code, const std::string& body = "") {
    api_.last().Reply(code, body);
    executor_.RunDue();
  }
  void Fail(client::ApiError error) {
    api_.last().Fail(std::move(error));
    executor_.RunDue();
  }
  // Lets the backoff pass until the next request goes out.
  void AwaitRequest(Verb verb) {
    const size_t before = api_.size();
    for (int i = 0; i < 200 && api_.size() == before; ++i) executor_.Advance(milliseconds(100));
    ASSERT_EQ(api_.size(), before + 1);
    EXPECT_EQ(api_.last().request.verb, verb);
  }
  void ExpectEnd(BindEnd end, const std::string& message = "") {
    ASSERT_TRUE(result_.has_value());
    EXPECT_EQ(result_->end, end);
    EXPECT_THAT(result_->message, HasSubstr(message));
    const size_t requests = api_.size();
    executor_.Advance(minutes(10));
    EXPECT_EQ(api_.size(), requests) << "a request was made after the end";
  }

  test::FakeClock clock_;
  test::FakeExecutor executor_{clock_};
  test::FakeApi api_{executor_};
  std::shared_ptr<BindOperation> operation_;
  std::optional<BindResult> result_;
  int settling_ = 0;  // how often the operation said that it settles
};

TEST_F(BindOperationTest, ThePostNamesThePodItsUidAndTheNode) {
  Start();
  ASSERT_EQ(api_.size(), 1u);
  const client::Request& request = api_.last().request;
  EXPECT_EQ(request.verb, Verb::kCreate);
  EXPECT_EQ(request.priority, client::Priority::kBind);
  EXPECT_EQ(request.path, "/api/v1/namespaces/ns/pods/web/binding");
  EXPECT_EQ(request.content_type, "application/json");
  for (const char* part : {"\"ns\"", "\"web\"", "\"uid-1\"", "\"node-1\"", "\"Node\""}) {
    EXPECT_THAT(request.body, HasSubstr(part));
  }
}

TEST_F(BindOperationTest, TheAnswerToThePostDecidesWhereItCan) {
  const struct {
    const char* name;
    int code;
    BindEnd want;
  } cases[] = {
      {"created", 201, BindEnd::kBound},           {"ok", 200, BindEnd::kBound},
      {"forbidden", 403, BindEnd::kRefused},       {"gone", 404, BindEnd::kRefused},
      {"bad request", 400, BindEnd::kRefused},     {"invalid", 422, BindEnd::kRefused},
      {"out of patience", 429, BindEnd::kRefused},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    result_.reset();
    Start();
    Reply(c.code, "the server's words");
    ExpectEnd(c.want, c.want == BindEnd::kRefused ? "the server's words" : "");
  }
}

TEST_F(BindOperationTest, AConflictIsSettledByReadingThePodBack) {
  const struct {
    const char* name;
    std::string uid;
    std::string node;
    BindEnd want;
    const char* message;
  } cases[] = {
      {"our pod on our node", "uid-1", "node-1", BindEnd::kBound, ""},
      {"our pod on another node", "uid-1", "node-2", BindEnd::kRefused, "node-2"},
      {"our pod without a node", "uid-1", "", BindEnd::kRefused, "already in use"},
      {"another pod of that name", "uid-2", "node-1", BindEnd::kRefused, "another UID"},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    result_.reset();
    Start();
    Reply(409, "already in use");
    EXPECT_EQ(api_.last().request.verb, Verb::kGet);
    EXPECT_EQ(api_.last().request.path, "/api/v1/namespaces/ns/pods/web");
    Reply(200, PodJson(c.uid, c.node));
    ExpectEnd(c.want, c.message);
  }
}

TEST_F(BindOperationTest, AnUnknownAnswerIsSettledByReadingThePodBack) {
  const struct {
    const char* name;
    client::ApiError answer;
  } unknown[] = {
      {"cut", NoAnswer()},
      {"internal error", Rejection(500)},
      {"unavailable", Rejection(503)},
      {"gateway timeout", Rejection(504)},
      {"request timeout of a proxy", Rejection(408)},
  };
  const struct {
    const char* name;
    std::string uid;
    std::string node;
    BindEnd want;
  } pods[] = {
      {"our node", "uid-1", "node-1", BindEnd::kBound},
      {"another node", "uid-1", "node-2", BindEnd::kRefused},
      {"another pod", "uid-2", "", BindEnd::kRefused},
  };
  for (const auto& u : unknown) {
    for (const auto& p : pods) {
      SCOPED_TRACE(std::string(u.name) + ", then " + p.name);
      result_.reset();
      Start();
      Fail(u.answer);
      EXPECT_FALSE(result_.has_value());
      AwaitRequest(Verb::kGet);
      Reply(200, PodJson(p.uid, p.node));
      ExpectEnd(p.want);
    }
  }
}

TEST_F(BindOperationTest, APodThatIsGoneRefusesTheBind) {
  Start();
  Fail(NoAnswer());
  AwaitRequest(Verb::kGet);
  Reply(404);
  ExpectEnd(BindEnd::kRefused, "pods \"web\" not found");
}

TEST_F(BindOperationTest, AnUnassignedPodIsPostedAgainToTheSameNodeOnly) {
  Start();
  const std::string body = api_.last().request.body;
  for (int i = 0; i < 5; ++i) {
    Fail(NoAnswer());
    AwaitRequest(Verb::kGet);
    Reply(200, PodJson("uid-1", ""));
    ASSERT_EQ(api_.last().request.verb, Verb::kCreate);
    EXPECT_EQ(api_.last().request.body, body);
  }
  Reply(201);
  ExpectEnd(BindEnd::kBound);
}

TEST_F(BindOperationTest, AServerErrorAndAPodWithoutANodeRefuseTheBindInTheServersWords) {
  const char* const kWords = "Internal error occurred: failed calling webhook \"w.example.com\"";
  for (const int code : {500, 502, 503, 504}) {
    SCOPED_TRACE(code);
    result_.reset();
    const size_t posts = api_.Count(Verb::kCreate);
    Start();
    Reply(code, kWords);
    AwaitRequest(Verb::kGet);
    Fail(Rejection(500));
    AwaitRequest(Verb::kGet);
    Reply(200, PodJson("uid-1", ""));
    ExpectEnd(BindEnd::kRefused, kWords);
    EXPECT_EQ(api_.Count(Verb::kCreate), posts + 1);
  }
}

TEST_F(BindOperationTest, AServerErrorRefusesTheBindAfterTheServersTimeoutThoughNoReadIsAnswered) {
  Start();
  Reply(500, "etcdserver: request timed out");
  const Time answered = clock_.Now();
  while (!result_) {
    AwaitRequest(Verb::kGet);
    Fail(Rejection(500));
  }
  EXPECT_GE(clock_.Now() - answered, BindOperation::kServerTimeout);
  EXPECT_LE(clock_.Now() - answered, BindOperation::kServerTimeout + seconds(20));
  ExpectEnd(BindEnd::kRefused, "etcdserver: request timed out");
}

TEST_F(BindOperationTest, ALostRequestBeforeAServerErrorIsWaitedOut) {
  Start();
  Fail(NoAnswer());
  const Time lost = clock_.Now();
  AwaitRequest(Verb::kGet);
  Reply(200, PodJson("uid-1", ""));
  ASSERT_EQ(api_.last().request.verb, Verb::kCreate);
  Reply(500, "the server's words");
  while (!result_) {
    AwaitRequest(Verb::kGet);
    Reply(200, PodJson("uid-1", ""));
  }
  EXPECT_GE(clock_.Now() - lost, BindOperation::kServerTimeout);
  ExpectEnd(BindEnd::kRefused, "the server's words");
}

TEST_F(BindOperationTest, RequestsThatAreAlwaysLostEndAsRefused) {
  Start();
  const Time first = clock_.Now();
  Time last = first;
  while (!result_) {
    Fail(NoAnswer());
    last = clock_.Now();
    do {
      AwaitRequest(Verb::kGet);
      Reply(200, PodJson("uid-1", ""));
    } while (!result_ && api_.last().request.verb == Verb::kGet);
  }
  EXPECT_LT(last - first, BindOperation::kServerTimeout) << "posted for too long";
  EXPECT_GE(clock_.Now() - last, BindOperation::kServerTimeout) << "it may still be executed";
  ExpectEnd(BindEnd::kRefused, "connection reset");
}

TEST_F(BindOperationTest, ALostRequestThatNoReadSettledInTimeIsNotRepeated) {
  Start();
  Fail(NoAnswer());
  const Time lost = clock_.Now();
  while (clock_.Now() - lost < BindOperation::kServerTimeout) {
    AwaitRequest(Verb::kGet);
    Fail(NeverSent());
  }
  AwaitRequest(Verb::kGet);
  Reply(200, PodJson("uid-1", ""));
  ExpectEnd(BindEnd::kRefused, "connection reset");
}

TEST_F(BindOperationTest, SettlingIsToldOnceAndOnlyOfWhatReachedTheServer) {
  const struct {
    const char* name;
    client::ApiError answer;
    int want;
  } cases[] = {
      {"server error", Rejection(500), 1}, {"conflict", Rejection(409), 1},
      {"no answer", NoAnswer(), 1},        {"never sent", NeverSent(), 0},
      {"verdict", Rejection(403), 0},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    result_.reset();
    settling_ = 0;
    Start();
    Fail(c.answer);
    EXPECT_EQ(settling_, c.want);
    if (result_) continue;
    if (!api_.last().open()) AwaitRequest(Verb::kGet);
    Fail(Rejection(500));
    EXPECT_EQ(settling_, c.want);
    AwaitRequest(Verb::kGet);
    Reply(200, PodJson("uid-1", "node-1"));
  }
}

TEST_F(BindOperationTest, ReadingBackGoesOnForAsLongAsItTakes) {
  Start();
  Fail(NoAnswer());
  const client::ApiError failures[] = {NoAnswer(), NeverSent(), Rejection(500), Rejection(429),
                                       Rejection(403)};
  for (int i = 0; i < 100; ++i) {
    AwaitRequest(Verb::kGet);
    Fail(failures[i % 5]);
  }
  AwaitRequest(Verb::kGet);
  Reply(200, "half a po");
  AwaitRequest(Verb::kGet);
  EXPECT_FALSE(result_.has_value());
  Reply(200, PodJson("uid-1", "node-1"));
  ExpectEnd(BindEnd::kBound);
}

TEST_F(BindOperationTest, AServerThatIsDownIsWaitedFor) {
  Start();
  for (int i = 0; i < 3; ++i) {
    Fail(NeverSent());
    AwaitRequest(Verb::kGet);
    Fail(NeverSent());
    AwaitRequest(Verb::kGet);
    Reply(200, PodJson("uid-1", ""));
    EXPECT_EQ(api_.last().request.verb, Verb::kCreate);
  }
  Reply(201);
  ExpectEnd(BindEnd::kBound);
}

TEST_F(BindOperationTest, ARejectionAfterALostRequestIsTrustedOnlyWhenThatCannotComeLate) {
  Start();
  Fail(NoAnswer());
  const Time lost = clock_.Now();
  AwaitRequest(Verb::kGet);
  Reply(200, PodJson("uid-1", ""));
  ASSERT_EQ(api_.last().request.verb, Verb::kCreate);
  Reply(403, "no longer allowed");
  while (!result_) {
    AwaitRequest(Verb::kGet);
    Reply(200, PodJson("uid-1", ""));
    ASSERT_EQ(api_.last().request.verb, Verb::kGet) << "posted again after a rejection";
  }
  EXPECT_GE(clock_.Now() - lost, BindOperation::kServerTimeout);
  ExpectEnd(BindEnd::kRefused, "no longer allowed");
}

TEST_F(BindOperationTest, ALostRequestThatComesLateIsFoundOut) {
  Start();
  Fail(NoAnswer());
  AwaitRequest(Verb::kGet);
  Reply(200, PodJson("uid-1", ""));
  Reply(403, "no longer allowed");
  AwaitRequest(Verb::kGet);
  Reply(200, PodJson("uid-1", "node-1"));
  ExpectEnd(BindEnd::kBound);
}

TEST_F(BindOperationTest, CancelDuringThePostWaitsForWhatTheClientKnows) {
  const struct {
    const char* name;
    bool in_line;
    BindEnd want;
  } cases[] = {
      {"under way", false, BindEnd::kUnknown},
      {"still in line", true, BindEnd::kRefused},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    result_.reset();
    api_.cancel_in_line = c.in_line;
    Start();
    operation_->Cancel();
    executor_.RunDue();
    EXPECT_TRUE(api_.last().cancelled());
    ExpectEnd(c.want);
  }
}

TEST_F(BindOperationTest, AnAnswerThatOvertakesTheCancelCounts) {
  Start();
  operation_->Cancel();
  api_.last().Reply(201);
  executor_.RunDue();
  ExpectEnd(BindEnd::kBound);
}

TEST_F(BindOperationTest, CancelWhileSettlingLeavesTheEndUnknown) {
  {
    SCOPED_TRACE("between two reads");
    Start();
    Fail(NoAnswer());
    operation_->Cancel();
    executor_.RunDue();
    ExpectEnd(BindEnd::kUnknown, "connection reset");
  }
  {
    SCOPED_TRACE("during a read");
    result_.reset();
    Start();
    Fail(NoAnswer());
    AwaitRequest(Verb::kGet);
    operation_->Cancel();
    executor_.RunDue();
    EXPECT_TRUE(api_.last().cancelled());
    ExpectEnd(BindEnd::kUnknown);
  }
  {
    SCOPED_TRACE("nothing was ever sent");
    result_.reset();
    Start();
    Fail(NeverSent());
    operation_->Cancel();
    executor_.RunDue();
    ExpectEnd(BindEnd::kRefused);
  }
}

TEST_F(BindOperationTest, CancelBeforeTheStartSendsNothing) {
  operation_ =
      std::make_shared<BindOperation>(api_, clock_, 1, BindTarget{"ns", "web", "uid-1", "node-1"},
                                      [this](BindResult result) { result_ = result; });
  operation_->Cancel();
  operation_->Start();
  executor_.RunDue();
  EXPECT_EQ(api_.size(), 0u);
  ExpectEnd(BindEnd::kRefused);
}

TEST_F(BindOperationTest, CancelAfterTheEndDoesNothing) {
  Start();
  Reply(201);
  operation_->Cancel();
  executor_.RunDue();
  ExpectEnd(BindEnd::kBound);
}

TEST_F(BindOperationTest, StopWritingStillReadsButDoesNotPostAgain) {
  Start();
  Fail(NoAnswer());
  operation_->StopWriting();
  AwaitRequest(Verb::kGet);
  Fail(Rejection(500));
  AwaitRequest(Verb::kGet);
  Reply(200, PodJson("uid-1", ""));
  ExpectEnd(BindEnd::kUnknown);
  EXPECT_EQ(api_.Count(Verb::kCreate), 1u);
}

TEST_F(BindOperationTest, StopWritingLetsAPostUnderWayEnd) {
  Start();
  operation_->StopWriting();
  executor_.RunDue();
  EXPECT_FALSE(api_.last().cancelled());
  Reply(201);
  ExpectEnd(BindEnd::kBound);
}

}  // namespace
}  // namespace berth::binding
