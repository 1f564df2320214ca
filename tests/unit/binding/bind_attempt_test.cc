// SPDX-License-Identifier: Apache-2.0
#include "src/binding/bind_attempt.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <sstream>
#include <string>

#include "src/api/protobuf_writes.h"
#include "src/base/virtual_time.h"
#include "tests/support/builders.h"
#include "tests/support/fake_api.h"

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

class BindAttemptTest : public testing::Test {
 protected:
  ~BindAttemptTest() override { context_->link->Close(); }

  // Forgets the attempt before this one.
  void Start() {
    outcome_.reset();
    unconfirmed_ = 0;
    attempt_ = std::make_shared<ApiBind>(context_, pod_, "node-1");
    executor_.Post([this] {
      attempt_->Start([this](AsyncStatus status) {
        EXPECT_FALSE(outcome_.has_value()) << "done was called twice";
        outcome_ = std::move(status);
      });
    });
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
  // Lets the backoff pass until a request is open.
  void AwaitRequest(Verb verb) {
    for (int i = 0; i < 200 && !api_.last().open(); ++i) executor_.Advance(milliseconds(100));
    ASSERT_TRUE(api_.last().open());
    EXPECT_EQ(api_.last().request.verb, verb);
  }
  // Answers the request under way, which must be the one that `step` is about: "POST:201",
  // "POST:lost", "POST:unsent", "GET:500", "GET:ours" (on our node), "GET:other" (on another one),
  // "GET:none" (on none), "GET:new" (another pod of that name), "GET:half" (not to be decoded).
  void Answer(const std::string& step) {
    SCOPED_TRACE(step);
    const size_t colon = step.find(':');
    const std::string answer = step.substr(colon + 1);
    AwaitRequest(step.substr(0, colon) == "POST" ? Verb::kCreate : Verb::kGet);
    if (answer == "lost") return Fail(NoAnswer());
    if (answer == "unsent") return Fail(NeverSent());
    if (answer == "ours") return Reply(200, PodJson("uid-1", "node-1"));
    if (answer == "other") return Reply(200, PodJson("uid-1", "node-2"));
    if (answer == "none") return Reply(200, PodJson("uid-1", ""));
    if (answer == "new") return Reply(200, PodJson("uid-2", "node-1"));
    if (answer == "half") return Reply(200, "half a po");
    Reply(std::stoi(answer), "the server's words");
  }
  void Play(const std::string& script) {
    std::istringstream steps(script);
    for (std::string step; steps >> step;) Answer(step);
  }
  // "" means bound.
  void ExpectEnd(const std::string& message) {
    ASSERT_TRUE(outcome_.has_value());
    EXPECT_EQ(outcome_->ok(), message.empty());
    EXPECT_THAT(outcome_->message, HasSubstr(message));
    const size_t requests = api_.size();
    executor_.Advance(minutes(10));
    EXPECT_EQ(api_.size(), requests) << "a request was made after the end";
  }

  base::VirtualClock clock_;
  base::VirtualExecutor executor_{clock_};
  test::FakeApi api_{executor_};
  std::shared_ptr<const api::Pod> pod_ =
      test::MakePod().Namespace("ns").Name("web").Uid("uid-1").Ptr();
  int unconfirmed_ = 0;  // how often it was told that the outcome is not known yet
  std::shared_ptr<BindContext> context_ = std::make_shared<BindContext>(
      BindContext{api_, clock_, std::make_shared<base::ExecutorLink>(executor_), Random(1),
                  [this](const std::string& uid) {
                    EXPECT_EQ(uid, "uid-1");
                    EXPECT_FALSE(outcome_.has_value());
                    ++unconfirmed_;
                  }});
  std::shared_ptr<BindAttempt> attempt_;
  std::optional<AsyncStatus> outcome_;
};

TEST_F(BindAttemptTest, ThePostNamesThePodItsUidAndTheNode) {
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

TEST_F(BindAttemptTest, AServerThatReadsProtobufGetsIt) {
  api_.reads_protobuf = true;
  Start();
  const client::Request& request = api_.last().request;
  EXPECT_EQ(request.content_type, "application/vnd.kubernetes.protobuf");
  EXPECT_EQ(request.body, api::BindingProtobuf("ns", "web", "uid-1", "node-1"));
}

TEST_F(BindAttemptTest, ARequestThatIsAnsweredIsMadeOnceAndOneThatIsNotAgainForTheSameNode) {
  constexpr char kWords[] = "the server's words";
  constexpr char kNode2[] = "already assigned to node \"node-2\"";
  constexpr char kNew[] = "another UID";
  constexpr char kGone[] = "pods \"web\" not found";
  const struct {
    const char* script;
    const char* message;  // "": bound
    int unconfirmed;
  } cases[] = {
      // The answer decides.
      {"POST:200", "", 0},
      {"POST:201", "", 0},
      {"POST:400", kWords, 0},
      {"POST:403", kWords, 0},
      {"POST:404", kWords, 0},
      {"POST:422", kWords, 0},
      {"POST:429", kWords, 0},
      // A conflict: a read tells ours from others'.
      {"POST:409 GET:ours", "", 1},
      {"POST:409 GET:other", kNode2, 1},
      {"POST:409 GET:none", kWords, 1},
      {"POST:409 GET:new", kNew, 1},
      {"POST:409 GET:404", kGone, 1},
      // A server error: a read decides, and nothing is sent again.
      {"POST:500 GET:ours", "", 1},
      {"POST:500 GET:other", kNode2, 1},
      {"POST:500 GET:none", kWords, 1},
      {"POST:502 GET:none", kWords, 1},
      {"POST:503 GET:new", kNew, 1},
      {"POST:504 GET:404", kGone, 1},
      {"POST:500 GET:500 GET:half GET:lost GET:none", kWords, 1},
      {"POST:500 GET:500 GET:half GET:lost GET:ours", "", 1},
      // No answer: a read decides, unless it shows the pod without a node.
      {"POST:lost GET:ours", "", 1},
      {"POST:lost GET:other", kNode2, 1},
      {"POST:lost GET:new", kNew, 1},
      {"POST:lost GET:404", kGone, 1},
      {"POST:408 GET:ours", "", 1},
      {"POST:408 GET:none POST:201", "", 1},
      {"POST:lost GET:none POST:201", "", 1},
      {"POST:lost GET:lost GET:none POST:lost GET:none POST:lost GET:ours", "", 1},
      {"POST:lost GET:none POST:unsent GET:none POST:201", "", 1},
      // A verdict after a request that was lost is trusted only once that cannot come late.
      {"POST:lost GET:none POST:403 GET:ours", "", 1},
      {"POST:lost GET:none POST:500 GET:ours", "", 1},
      {"POST:lost GET:none POST:409 GET:ours", "", 1},
      // A request that was never sent leaves nothing to confirm.
      {"POST:unsent GET:none POST:403", kWords, 0},
      {"POST:unsent GET:unsent GET:none POST:unsent GET:none POST:201", "", 0},
      {"POST:unsent GET:other", kNode2, 0},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.script);
    const size_t first = api_.size();
    Start();
    const std::string body = api_.last().request.body;
    Play(c.script);
    EXPECT_EQ(unconfirmed_, c.unconfirmed);
    for (size_t i = first; i < api_.size(); ++i) {
      if (api_.at(i).request.verb == Verb::kCreate) {
        EXPECT_EQ(api_.at(i).request.body, body);
      }
    }
    ExpectEnd(c.message);
  }
}

TEST_F(BindAttemptTest, AServerErrorRefusesTheBindAfterTheServersTimeoutThoughNoReadIsAnswered) {
  Start();
  Play("POST:500");
  const Time answered = clock_.Now();
  while (!outcome_) Answer("GET:500");
  EXPECT_GE(clock_.Now() - answered, kServerTimeout);
  EXPECT_LE(clock_.Now() - answered, kServerTimeout + seconds(20));
  ExpectEnd("the server's words");
}

TEST_F(BindAttemptTest, ALostRequestBeforeAVerdictIsWaitedOut) {
  for (const char* verdict : {"POST:403", "POST:409", "POST:500"}) {
    SCOPED_TRACE(verdict);
    Start();
    Play("POST:lost");
    const Time lost = clock_.Now();
    Play("GET:none");
    Play(verdict);
    while (!outcome_) Answer("GET:none");
    EXPECT_GE(clock_.Now() - lost, kServerTimeout);
    ExpectEnd("the server's words");
  }
}

TEST_F(BindAttemptTest, RequestsThatAreAlwaysLostEndAsRefused) {
  Start();
  const Time first = clock_.Now();
  Time last = first;
  while (!outcome_) {
    Answer("POST:lost");
    last = clock_.Now();
    do {
      Answer("GET:none");
    } while (!outcome_ && !(api_.last().open() && api_.last().request.verb == Verb::kCreate));
  }
  EXPECT_LT(last - first, kServerTimeout) << "posted for too long";
  EXPECT_GE(clock_.Now() - last, kServerTimeout) << "it may still be executed";
  ExpectEnd("connection reset");
}

TEST_F(BindAttemptTest, ALostRequestThatNoReadShowedInTimeIsNotRepeated) {
  Start();
  Play("POST:lost");
  const Time lost = clock_.Now();
  while (clock_.Now() - lost < kServerTimeout) Answer("GET:unsent");
  Play("GET:none");
  ExpectEnd("connection reset");
}

TEST_F(BindAttemptTest, AfterALostRequestReadsGoOnForAsLongAsItTakes) {
  Start();
  Play("POST:lost");
  for (int i = 0; i < 20; ++i) Play("GET:lost GET:unsent GET:500 GET:429 GET:403 GET:half");
  EXPECT_FALSE(outcome_.has_value());
  Play("GET:ours");
  ExpectEnd("");
}

TEST_F(BindAttemptTest, CancelledItEndsAtOnceWhateverIsUnderWay) {
  constexpr char kGivenUp[] = "given up before its outcome was known";
  const struct {
    const char* script;  // what happens before
    bool under_way;      // a request is, when it is cancelled
    const char* message;
  } cases[] = {
      {"", true, kGivenUp},
      {"POST:lost", false, "connection reset"},
      {"POST:409", true, kGivenUp},
      {"POST:lost GET:none", true, kGivenUp},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.script);
    Start();
    Play(c.script);
    attempt_->Cancel();
    executor_.RunDue();
    EXPECT_EQ(api_.last().cancelled(), c.under_way);
    ExpectEnd(c.message);
    attempt_->Cancel();
    executor_.RunDue();
  }
}

TEST_F(BindAttemptTest, CancelAfterTheEndDoesNothing) {
  Start();
  Play("POST:201");
  attempt_->Cancel();
  executor_.RunDue();
  ExpectEnd("");
}

TEST_F(BindAttemptTest, WhileClosingItReadsButSendsNothingAgain) {
  for (const char* lost : {"POST:lost", "POST:unsent"}) {
    SCOPED_TRACE(lost);
    context_->closing = false;
    const size_t posts = api_.Count(Verb::kCreate);
    Start();
    context_->closing = true;
    Play(lost);
    while (!outcome_) Answer("GET:none");
    EXPECT_EQ(api_.Count(Verb::kCreate), posts + 1);
    ExpectEnd("connection");
  }
}

TEST_F(BindAttemptTest, ABindWhoseAnswerIsLateIsUnconfirmedOnce) {
  for (const char* answer : {"POST:201", "POST:lost GET:ours"}) {
    SCOPED_TRACE(answer);
    Start();
    api_.last().request.on_late();
    EXPECT_EQ(unconfirmed_, 1);
    const auto late = api_.last().request.on_late;
    Play(answer);
    ExpectEnd("");
    late();
    EXPECT_EQ(unconfirmed_, 1);
  }
}

TEST_F(BindAttemptTest, NothingIsToldOrAskedOnceTheBinderIsGone) {
  Start();
  api_.last().Fail(NoAnswer());
  context_->link->Close();
  executor_.Advance(minutes(10));
  EXPECT_EQ(api_.size(), 1u);
  EXPECT_EQ(unconfirmed_, 0);
  EXPECT_FALSE(outcome_.has_value());
}

}  // namespace
}  // namespace berth::binding
