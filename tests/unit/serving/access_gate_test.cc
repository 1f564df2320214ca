// SPDX-License-Identifier: Apache-2.0
#include "src/serving/access_gate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "src/base/clock.h"
#include "src/base/logging.h"
#include "src/documents/parse.h"
#include "tests/support/fake_api.h"
#include "tests/support/test_certificates.h"
#include "tests/unit/client/temp_folder.h"
#include "tests/unit/serving/der.h"

namespace berth::serving {
namespace {

using std::chrono::seconds;
using test::Der;
using test::TestAuthority;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr const char* kForbidden =
    R"({"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure",)"
    R"("message":"forbidden: User \"system:anonymous\" cannot get path \"/metrics\"",)"
    R"("reason":"Forbidden","details":{},"code":403})"
    "\n";
constexpr const char* kUnauthorized =
    R"({"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure",)"
    R"("message":"Unauthorized","reason":"Unauthorized","code":401})"
    "\n";

// What the gate reports, in order.
class Seen final : public AccessObserver {
 public:
  void OnAuthenticated(std::string_view result, const User* user, Duration) override {
    all.push_back("authenticated " + std::string(result) +
                  (user == nullptr ? "" : " " + user->name));
  }
  void OnAuthorized(std::string_view result, Duration) override {
    all.push_back("authorized " + std::string(result));
  }
  void OnReviewed(const ReviewKind& kind, int code, Duration) override {
    all.push_back(std::string(kind.kind) + " " + std::to_string(code));
  }
  std::vector<std::string> Take() { return std::exchange(all, {}); }
  std::vector<std::string> all;
};

// A gate before /metrics and /livez, with an API server that the test plays.
class AccessGateTest : public testing::Test {
 protected:
  AccessGateTest() { clock_.Set(base::RealClock().Now()); }

  void Build(AuthenticationOptions options = {}, bool with_api = true) {
    auto config = AuthenticationConfig::Make(std::move(options), with_api ? &api_ : nullptr,
                                             executor_, clock_);
    ASSERT_TRUE(config.has_value()) << config.error().message;
    config_ = *config;
    const auto router = std::make_shared<Router>();
    for (const char* path : {"/metrics", "/livez", "/debug/a", "/debug/b"}) {
      router->Answer(path, [](const Request&) { return Response{.body = "secret"}; });
    }
    std::shared_ptr<TokenReviews> tokens;
    std::shared_ptr<AccessReviews> reviews;
    if (with_api) {
      tokens = std::make_shared<TokenReviews>(api_, executor_, clock_, seconds(10), &seen_);
      reviews =
          std::make_shared<AccessReviews>(api_, executor_, clock_, seconds(20), seconds(5), &seen_);
    }
    gate_ = std::make_unique<AccessGate>(
        std::make_unique<Authenticator>(config_, std::move(tokens), clock_), std::move(reviews),
        std::vector<std::string>{"/livez", "/debug/*"}, router, clock_, about_object_, &seen_);
  }

  // The answers, once they come, at the index returned.
  size_t Send(Request request) {
    if (request.method.empty()) request.method = "GET";
    if (request.path.empty()) request.path = "/metrics";
    answers_.emplace_back();
    const size_t index = answers_.size() - 1;
    gate_->Serve(std::make_shared<const Request>(std::move(request)),
                 [this, index](Response response) {
                   EXPECT_FALSE(answers_[index].has_value()) << "answered twice";
                   answers_[index] = std::move(response);
                 });
    executor_.RunDue();
    return index;
  }
  Response Get(Request request) {
    const size_t index = Send(std::move(request));
    return answers_[index].value_or(Response{.code = 0, .body = "no answer yet"});
  }
  Request WithToken(const std::string& token, const std::string& peer = "10.0.0.1") {
    Request request;
    request.headers.emplace_back("authorization", "Bearer " + token);
    request.peer = peer;
    return request;
  }
  // An address for each share of the places for questions.
  static std::string PeerOf(size_t question) {
    return "10.1.0." + std::to_string(question / Reviewer::kMaxOfOneAsker);
  }
  Request WithCertificate(const std::string& pem) {
    Request request;
    request.client_chain = {Der(pem)};
    return request;
  }

  // The spec of the review that was asked for last.
  std::string Spec() {
    const auto object = documents::ParseJson(api_.last().request.body, "");
    return object->Find("spec")->ToJson();
  }
  void Reply(const std::string& status) {
    api_.last().Reply(201, R"({"kind":"X","status":)" + status + "}");
    executor_.RunDue();
  }
  // Answers every review: yes.
  void AllowAll() {
    api_.set_model([](const client::Request&) -> std::optional<client::ResponseResult> {
      return client::Response{201, "application/json", R"({"status":{"allowed":true}})"};
    });
  }

  Seen seen_;
  base::VirtualClock clock_;
  base::VirtualExecutor executor_{clock_};
  test::FakeApi api_{executor_};
  std::shared_ptr<AuthenticationConfig> config_;
  AccessGate::AboutObject about_object_;
  std::unique_ptr<AccessGate> gate_;
  std::vector<std::optional<Response>> answers_;
};

TEST_F(AccessGateTest, EachRequestAndEachReviewIsReported) {
  Build();
  Get(Request{.path = "/livez"});
  EXPECT_THAT(seen_.Take(),
              ElementsAre("authenticated success system:anonymous", "authorized allowed"));
  Send({});
  Reply(R"({"allowed":false})");
  EXPECT_THAT(seen_.Take(), ElementsAre("authenticated success system:anonymous",
                                        "SubjectAccessReview 201", "authorized no-opinion"));
  Send(WithToken("t"));
  Reply(R"({"authenticated":false})");
  EXPECT_THAT(seen_.Take(), ElementsAre("TokenReview 201", "authenticated error"));
  Send(WithToken("good"));
  Reply(R"({"authenticated":true,"user":{"username":"eve"}})");
  Reply(R"({"allowed":false,"denied":true})");
  EXPECT_THAT(seen_.Take(), ElementsAre("TokenReview 201", "authenticated success eve",
                                        "SubjectAccessReview 201", "authorized denied"));
  Send(WithToken("other"));
  api_.last().Fail(test::Rejection(403));
  executor_.RunDue();
  EXPECT_THAT(seen_.Take(), ElementsAre("TokenReview 403", "authenticated error"));
}

TEST_F(AccessGateTest, AnybodyMayReadWhatIsAlwaysAllowedAndTheServerIsNotAsked) {
  Build();
  for (const char* path : {"/livez", "/debug/a", "/debug/b"}) {
    SCOPED_TRACE(path);
    EXPECT_EQ(Get({.path = path}).code, 200);
  }
  EXPECT_EQ(Get({.path = "/debug/c"}).code, 404);
  EXPECT_EQ(api_.size(), 0u);
}

TEST_F(AccessGateTest, WithoutAServerAllElseIsForbidden) {
  Build({}, false);
  const Response answer = Get({});
  EXPECT_EQ(answer.code, 403);
  EXPECT_EQ(answer.body, kForbidden);
  EXPECT_EQ(answer.content_type, "application/json");
  EXPECT_EQ(Get({.path = "/livez/"}).code, 403);
  // Its user cannot be found out, so it counts as none.
  EXPECT_EQ(Get(WithToken("abc")).body, kForbidden);
}

// The bodies are kube-scheduler 1.37.1's.
TEST_F(AccessGateTest, ARefusalComesInTheFormThatTheClientTakes) {
  Build({}, false);
  const std::string indented =
      "{\n  \"kind\": \"Status\",\n  \"apiVersion\": \"v1\",\n  \"metadata\": {},\n"
      "  \"status\": \"Failure\",\n  \"message\": \"forbidden: User \\\"system:anonymous\\\" "
      "cannot get path \\\"/metrics\\\"\",\n  \"reason\": \"Forbidden\",\n  \"details\": {},\n"
      "  \"code\": 403\n}";
  const auto ask = [this](Fields headers, Fields query = {}) {
    return Get(Request{.query = std::move(query), .headers = std::move(headers)});
  };
  EXPECT_EQ(ask({{"user-agent", "curl/7.88.1"}}).body, indented);
  EXPECT_EQ(ask({{"user-agent", "Wget/1.2"}, {"accept", "*/*"}}).body, indented);
  EXPECT_EQ(ask({{"user-agent", "Mozilla/5.0 (X)"}}).body, indented);
  EXPECT_EQ(ask({}, {{"pretty", "true"}}).body, indented);
  EXPECT_EQ(ask({{"user-agent", "curl/7.88.1"}}, {{"pretty", "false"}}).body, kForbidden);
  EXPECT_EQ(ask({{"accept", "application/json;pretty=1"}}).body, indented);
  EXPECT_EQ(ask({{"accept", "text/plain;version=0.0.4;q=0.2,*/*;q=0.1"}}).body, kForbidden);
  // None that there is.
  EXPECT_EQ(ask({{"accept", "text/plain"}}).body, indented);
  EXPECT_EQ(ask({{"accept", "application/json;as=Table;v=v1;g=meta.k8s.io"}}).body, indented);
  const Response yaml = ask({{"accept", "application/yaml"}});
  EXPECT_EQ(yaml.content_type, "application/yaml");
  EXPECT_TRUE(yaml.body.starts_with("apiVersion: v1\ncode: 403\ndetails: {}\nkind: Status\n"))
      << yaml.body;
}

TEST_F(AccessGateTest, TheServerSaysWhoMay) {
  Build();
  const size_t first = Send({});
  EXPECT_EQ(api_.last().request.path, "/apis/authorization.k8s.io/v1/subjectaccessreviews");
  EXPECT_EQ(Spec(), R"({"nonResourceAttributes":{"path":"/metrics","verb":"get"},)"
                    R"("user":"system:anonymous","groups":["system:unauthenticated"]})");
  EXPECT_FALSE(answers_[first].has_value());
  Reply(R"({"allowed":true})");
  EXPECT_EQ(answers_[first]->body, "secret");

  const size_t second = Send({.method = "DELETE"});
  EXPECT_THAT(Spec(), HasSubstr(R"("verb":"delete")"));
  Reply(R"({"allowed":false,"reason":"no rule <for> it"})");
  EXPECT_EQ(answers_[second]->code, 403);
  EXPECT_THAT(answers_[second]->body,
              HasSubstr("\\\"/metrics\\\": kubernetes.io/webhook: no rule <for> it\""));

  const size_t third = Send({.method = "PUT"});
  Reply(R"({"allowed":false,"denied":true,"reason":"never"})");
  EXPECT_THAT(answers_[third]->body, HasSubstr("\\\"/metrics\\\": never\""));
}

TEST_F(AccessGateTest, WhatIsBothAllowedAndDeniedIsAnError) {
  Build();
  const size_t index = Send({});
  Reply(R"({"allowed":true,"denied":true})");
  EXPECT_EQ(answers_[index]->code, 500);
  EXPECT_THAT(answers_[index]->body,
              HasSubstr(": webhook subject access review returned both allow and deny response"));
  EXPECT_THAT(seen_.Take(), ElementsAre("authenticated success system:anonymous",
                                        "SubjectAccessReview 201", "authorized error"));
}

TEST_F(AccessGateTest, AServerThatCannotBeAskedLetsNobodyIn) {
  const struct {
    const char* name;
    std::function<void(test::FakeCall&)> answer;
  } cases[] = {
      {"no answer", [](test::FakeCall& call) { call.Fail(test::NoAnswer()); }},
      {"a refusal", [](test::FakeCall& call) { call.Reply(403, "broken"); }},
      {"not JSON", [](test::FakeCall& call) { call.Reply(201, "allowed"); }},
      {"no status", [](test::FakeCall& call) { call.Reply(201, R"({"allowed":true})"); }},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    Build();
    const size_t index = Send({});
    c.answer(api_.last());
    executor_.RunDue();
    EXPECT_EQ(answers_[index]->code, 500);
    EXPECT_THAT(answers_[index]->body, testing::Not(HasSubstr("secret")));
    // The next one asks again.
    const size_t asked = api_.size();
    Send({});
    EXPECT_EQ(api_.size(), asked + 1);
  }
}

TEST_F(AccessGateTest, AFailureOfTheServerIsNotTheLastTry) {
  Build();
  const size_t index = Send({.path = "/metrics", .target = "/metrics?a=<b>"});
  std::vector<Duration> waits;
  for (size_t tries = 1; tries < 5; ++tries) {
    api_.last().Reply(500, "etcd is away");
    executor_.RunDue();
    EXPECT_EQ(api_.size(), tries);
    const Time failed = clock_.Now();
    while (api_.size() == tries) executor_.Advance(std::chrono::milliseconds(10));
    waits.push_back(clock_.Now() - failed);
    EXPECT_EQ(api_.last().request.body, api_.at(0).request.body);
    EXPECT_TRUE(api_.last().request.repeats_5xx);
  }
  EXPECT_GE(waits.front(), std::chrono::milliseconds(500));
  EXPECT_LE(waits.front(), std::chrono::milliseconds(610));
  EXPECT_GE(waits.back(), std::chrono::milliseconds(1687));
  EXPECT_LE(waits.back(), std::chrono::milliseconds(2040));
  EXPECT_FALSE(answers_[index].has_value());
  api_.last().Reply(500, "etcd is away");
  executor_.Advance(Reviewer::kPatience);
  EXPECT_EQ(api_.size(), 5u) << "the fifth is the last";
  EXPECT_EQ(answers_[index]->code, 500);
  EXPECT_EQ(answers_[index]->body,
            "Internal Server Error: \"/metrics?a=&lt;b&gt;\": etcd is away\n");
}

TEST_F(AccessGateTest, ALaterTryMaySucceed) {
  Build();
  const size_t index = Send(WithToken("abc"));
  for (const char* status :
       {R"({"authenticated":true,"user":{"username":"eve"}})", R"({"allowed":true})"}) {
    const size_t asked = api_.size();
    api_.last().Reply(429);
    executor_.Advance(seconds(1));
    ASSERT_EQ(api_.size(), asked + 1);
    Reply(status);
  }
  EXPECT_EQ(answers_[index]->code, 200);
  EXPECT_THAT(seen_.Take(), ElementsAre("TokenReview 429", "TokenReview 201",
                                        "authenticated success eve", "SubjectAccessReview 429",
                                        "SubjectAccessReview 201", "authorized allowed"));
}

TEST_F(AccessGateTest, WhoHasGoneIsNotAskedForAgain) {
  Build();
  Request request;
  const std::shared_ptr<Departure> client = request.departure;
  Send(std::move(request));
  api_.last().Reply(500);
  executor_.RunDue();
  client->Announce();
  executor_.Advance(Reviewer::kPatience);
  EXPECT_EQ(api_.size(), 1u);
}

TEST_F(AccessGateTest, WhenTheTimeIsOverTheLastFailureIsTheAnswer) {
  Build();
  const size_t index = Send({});
  api_.last().Reply(504, "etcd is slow");
  executor_.Advance(seconds(1));
  EXPECT_EQ(api_.size(), 2u);
  executor_.Advance(Reviewer::kPatience);
  EXPECT_EQ(answers_[index]->code, 500);
  EXPECT_THAT(answers_[index]->body, HasSubstr("etcd is slow"));
  EXPECT_TRUE(api_.last().cancelled());
}

TEST_F(AccessGateTest, VerdictsHoldForAWhile) {
  Build();
  Send({});
  Reply(R"({"allowed":true})");
  EXPECT_EQ(Get({}).code, 200);
  EXPECT_EQ(api_.size(), 1u);
  clock_.Advance(seconds(20));
  Send({});
  ASSERT_EQ(api_.size(), 2u);
  Reply(R"({"allowed":false})");
  EXPECT_EQ(Get({}).code, 403);
  EXPECT_EQ(api_.size(), 2u);
  clock_.Advance(seconds(5));
  Send({});
  EXPECT_EQ(api_.size(), 3u);
}

TEST_F(AccessGateTest, TheSameQuestionIsAskedOnce) {
  Build();
  const size_t first = Send({});
  const size_t second = Send({});
  EXPECT_EQ(api_.size(), 1u);
  Reply(R"({"allowed":true})");
  EXPECT_EQ(answers_[first]->code, 200);
  EXPECT_EQ(answers_[second]->code, 200);
}

TEST_F(AccessGateTest, StrangersQuestionsAreBoundedAndLeaveRoomForUsers) {
  Build();
  std::vector<size_t> sent;
  for (size_t i = 0; i < Reviewer::kMaxUnderWay; ++i) {
    sent.push_back(Send({.path = "/" + std::to_string(i), .peer = PeerOf(i)}));
  }
  EXPECT_EQ(api_.size(), Reviewer::kMaxUnderWay);
  const Response refused = Get({.path = "/more"});
  EXPECT_EQ(refused.code, 429);
  EXPECT_THAT(refused.headers, testing::Contains(testing::Pair("Retry-After", "1")));
  EXPECT_EQ(api_.size(), Reviewer::kMaxUnderWay) << "and the server is not asked";
  // What is being asked already, and what users ask, is no part of it.
  const size_t same = Send({.path = "/0"});
  const size_t user = Send(WithToken("abc"));
  Reply(R"({"authenticated":true,"user":{"username":"prom"}})");
  Reply(R"({"allowed":true})");
  EXPECT_EQ(answers_[user]->code, 200);
  // An answer makes room.
  api_.at(0).Reply(201, R"({"status":{"allowed":true}})");
  executor_.RunDue();
  EXPECT_EQ(answers_[sent[0]]->code, 404);
  EXPECT_EQ(answers_[same]->code, 404);
  const size_t asked = api_.size();
  Send({.path = "/more"});
  EXPECT_EQ(api_.size(), asked + 1);
}

TEST_F(AccessGateTest, NoTokenAppearsInTheLog) {
  base::SetUpLogging({.verbosity = 9});
  testing::internal::CaptureStderr();
  Build();
  for (const char* answer : {R"({"spec":{"token":"s3cret)", R"({"spec":{"token":"s3cret"}})",
                             R"({"status":{"authenticated":false}})"}) {
    Send(WithToken("s3cret"));
    api_.last().Reply(201, answer);
    executor_.RunDue();
  }
  const std::string log = testing::internal::GetCapturedStderr();
  base::SetUpLogging({});
  EXPECT_THAT(log, HasSubstr("TokenReview"));
  EXPECT_THAT(log, testing::Not(HasSubstr("s3cret")));
}

TEST_F(AccessGateTest, TokensUnderReviewAreBounded) {
  Build();
  for (size_t i = 0; i < Reviewer::kMaxUnderWay; ++i) Send(WithToken(std::to_string(i), PeerOf(i)));
  EXPECT_EQ(Get(WithToken("more")).code, 429);
  EXPECT_EQ(api_.size(), Reviewer::kMaxUnderWay);
}

TEST_F(AccessGateTest, TokensThatOneAddressMakesUpLeaveRoomForOthers) {
  Build();
  for (int i = 0; i < 1000; ++i) Send(WithToken("random" + std::to_string(i)));
  EXPECT_EQ(api_.size(), Reviewer::kMaxOfOneAsker);
  EXPECT_EQ(Get(WithToken("more")).code, 429);
  const size_t other = Send(WithToken("good", "10.0.0.2"));
  EXPECT_EQ(Spec(), R"({"token":"good"})");
  Reply(R"({"authenticated":true,"user":{"username":"prom"}})");
  Reply(R"({"allowed":true})");
  EXPECT_EQ(answers_[other]->code, 200);
  // An answer makes room, and so does a client that goes.
  const size_t asked = api_.size();
  api_.at(0).Reply(201, R"({"status":{"authenticated":false}})");
  executor_.RunDue();
  Request request = WithToken("goes");
  const auto departure = request.departure;
  Send(std::move(request));
  EXPECT_EQ(api_.size(), asked + 1);
  EXPECT_EQ(Get(WithToken("more")).code, 429);
  departure->Announce();
  Send(WithToken("more"));
  EXPECT_EQ(api_.size(), asked + 2);
}

TEST_F(AccessGateTest, ATokenThatHasBeenGoodHasItsPlaceWhereverItComesFrom) {
  Build();
  const size_t first = Send(WithToken("good"));
  Reply(R"({"authenticated":true,"user":{"username":"prom"}})");
  Reply(R"({"allowed":true})");
  EXPECT_EQ(answers_[first]->code, 200);
  clock_.Advance(seconds(10));  // the verdict on the token expires, that on the right does not
  for (size_t i = 0; i < Reviewer::kMaxUnderWay; ++i) Send(WithToken(std::to_string(i), PeerOf(i)));
  EXPECT_EQ(Get(WithToken("new", "10.0.0.3")).code, 429);
  const size_t again = Send(WithToken("good", PeerOf(0)));
  EXPECT_EQ(Spec(), R"({"token":"good"})");
  Reply(R"({"authenticated":true,"user":{"username":"prom"}})");
  EXPECT_EQ(answers_[again]->code, 200);
}

TEST_F(AccessGateTest, BadTokensDoNotPushTheVerdictsOnGoodOnesOut) {
  Build();
  Send(WithToken("good"));
  Reply(R"({"authenticated":true,"user":{"username":"prom"}})");
  Reply(R"({"allowed":true})");
  for (int i = 0; i < 5000; ++i) {
    Send(WithToken(std::to_string(i)));
    Reply(R"({"authenticated":false})");
  }
  const size_t asked = api_.size();
  EXPECT_EQ(Get(WithToken("good")).code, 200);
  EXPECT_EQ(api_.size(), asked);
}

TEST_F(AccessGateTest, NoUserTakesTheOthersPlaces) {
  Build();
  const auto sign_in = [this](const std::string& name) {
    Send(WithToken(name));
    Reply(R"({"authenticated":true,"user":{"username":")" + name + R"("}})");
  };
  sign_in("greedy");
  sign_in("prom");
  for (int i = 0; i < 100; ++i) {
    Request request = WithToken("greedy");
    request.path = "/" + std::to_string(i);
    Send(std::move(request));
  }
  Request request = WithToken("greedy");
  request.path = "/more";
  EXPECT_EQ(Get(request).code, 429);
  request = WithToken("prom");
  request.path = "/more";
  const size_t other = Send(request);
  Reply(R"({"allowed":true})");
  EXPECT_EQ(answers_[other]->code, 404);
}

TEST_F(AccessGateTest, AReviewEndsWhenTheLastClientThatWaitsForItHasGone) {
  Build();
  std::vector<std::shared_ptr<Departure>> clients;
  for (int i = 0; i < 2; ++i) {
    Request request;
    clients.push_back(request.departure);
    Send(std::move(request));
  }
  test::FakeCall& call = api_.last();
  clients[0]->Announce();
  EXPECT_FALSE(call.cancelled());
  clients[1]->Announce();
  EXPECT_TRUE(call.cancelled());
  // The next one asks again, and its answer is not the end of the first.
  const size_t next = Send({});
  EXPECT_EQ(api_.size(), 2u);
  EXPECT_FALSE(answers_[next].has_value());
  Reply(R"({"allowed":true})");
  EXPECT_EQ(answers_[next]->code, 200);
  EXPECT_FALSE(answers_[0].has_value());
}

TEST_F(AccessGateTest, NobodyWaitsLongerForAReviewThanItsTime) {
  Build();
  const size_t anonymous = Send({});
  const size_t token = Send(WithToken("abc"));
  executor_.Advance(Reviewer::kPatience - seconds(1));
  EXPECT_FALSE(answers_[anonymous].has_value());
  executor_.Advance(seconds(1));
  EXPECT_EQ(answers_[anonymous]->code, 500);
  EXPECT_EQ(answers_[token]->code, 401);
  EXPECT_TRUE(api_.at(0).cancelled());
  EXPECT_TRUE(api_.at(1).cancelled());
}

TEST_F(AccessGateTest, ATokenThatIsTooLongIsRefusedUnasked) {
  Build();
  Send(WithToken(std::string(16 * 1024, 'a')));
  EXPECT_EQ(api_.size(), 1u);
  EXPECT_EQ(Get(WithToken(std::string(16 * 1024 + 1, 'a'))).code, 401);
  EXPECT_EQ(api_.size(), 1u);
}

TEST_F(AccessGateTest, ATokenIsReviewedBeforeTheRights) {
  Build();
  const size_t index = Send(WithToken("abc"));
  EXPECT_EQ(api_.last().request.path, "/apis/authentication.k8s.io/v1/tokenreviews");
  EXPECT_EQ(Spec(), R"({"token":"abc"})");
  Reply(R"({"authenticated":true,"user":{"username":"prom","uid":"7","groups":["g"],)"
        R"("extra":{"k":["v"]}}})");
  EXPECT_EQ(Spec(), R"({"nonResourceAttributes":{"path":"/metrics","verb":"get"},"user":"prom",)"
                    R"("groups":["g","system:authenticated"],"uid":"7","extra":{"k":["v"]}})");
  Reply(R"({"allowed":true})");
  EXPECT_EQ(answers_[index]->code, 200);
  EXPECT_EQ(Get(WithToken("abc")).code, 200);
  EXPECT_EQ(api_.size(), 2u);
}

TEST_F(AccessGateTest, ABadTokenIsNotAnonymous) {
  Build();
  AllowAll();
  const Response answer = Get(WithToken("abc"));
  EXPECT_EQ(answer.code, 401);
  EXPECT_EQ(answer.body, kUnauthorized);
  // Not even for the paths that all callers may read.
  Request request = WithToken("abc");
  request.path = "/livez";
  EXPECT_EQ(Get(request).code, 401);
  EXPECT_EQ(api_.size(), 1u) << "the verdict holds for a while";
}

TEST_F(AccessGateTest, ATokenThatCannotBeReviewedIsRefused) {
  Build();
  const size_t index = Send(WithToken("abc"));
  api_.last().Fail(test::NoAnswer());
  executor_.RunDue();
  EXPECT_EQ(answers_[index]->code, 401);
  Send(WithToken("abc"));
  EXPECT_EQ(api_.size(), 2u) << "that it could not be reviewed does not hold";
}

TEST_F(AccessGateTest, BearerTokensAreFoundAsUpstreamFindsThem) {
  const struct {
    const char* header;
    const char* token;
  } cases[] = {
      {"Bearer abc", "abc"},
      {"bearer abc", "abc"},
      {"BEARER abc def", "abc"},
      {"Bearer  abc", ""},
      {"Bearer", ""},
      {"Basic abc", ""},
      {"", ""},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.header);
    Request request;
    request.headers.emplace_back("authorization", c.header);
    EXPECT_EQ(BearerToken(request), c.token);
  }
}

TEST_F(AccessGateTest, AClientCertificateNamesTheUser) {
  const test::TempFolder folder;
  const TestAuthority authority;
  Build({.client_ca_file = folder.Write("ca.crt", authority.certificate_pem())});
  Send(WithCertificate(authority.Issue("jane", {}, {.organizations = {"ops"}}).certificate_pem));
  EXPECT_THAT(Spec(), HasSubstr(R"("user":"jane","groups":["ops","system:authenticated"],)"
                                R"("extra":{"authentication.kubernetes.io/credential-id":)"
                                R"(["X509SHA256=)"));
}

TEST_F(AccessGateTest, MastersMayDoEverything) {
  const test::TempFolder folder;
  const TestAuthority authority;
  Build({.client_ca_file = folder.Write("ca.crt", authority.certificate_pem())});
  EXPECT_EQ(
      Get(WithCertificate(
              authority.Issue("root", {}, {.organizations = {"system:masters"}}).certificate_pem))
          .code,
      200);
  EXPECT_EQ(api_.size(), 0u);
}

TEST_F(AccessGateTest, AForeignCertificateIsRefusedUnlessAGoodTokenComesWithIt) {
  const test::TempFolder folder;
  const TestAuthority authority;
  const TestAuthority other;
  Build({.client_ca_file = folder.Write("ca.crt", authority.certificate_pem())});
  const std::string foreign =
      other.Issue("root", {}, {.organizations = {"system:masters"}}).certificate_pem;
  EXPECT_EQ(Get(WithCertificate(foreign)).code, 401);
  Request both = WithToken("abc");
  both.client_chain = {Der(foreign)};
  Send(both);
  Reply(R"({"authenticated":true,"user":{"username":"prom"}})");
  EXPECT_THAT(Spec(), HasSubstr(R"("user":"prom")"));
}

TEST_F(AccessGateTest, WithoutAuthoritiesACertificateCountsForNothing) {
  Build();
  const TestAuthority authority;
  Send(WithCertificate(
      authority.Issue("root", {}, {.organizations = {"system:masters"}}).certificate_pem));
  EXPECT_THAT(Spec(), HasSubstr(R"("user":"system:anonymous")"));
}

TEST_F(AccessGateTest, ACertificateExpiresByTheMachinesClock) {
  const test::TempFolder folder;
  const TestAuthority authority;
  Build({.client_ca_file = folder.Write("ca.crt", authority.certificate_pem())});
  const std::string admin =
      authority.Issue("root", {}, {.organizations = {"system:masters"}}).certificate_pem;
  EXPECT_EQ(Get(WithCertificate(admin)).code, 200);
  clock_.Correct(std::chrono::years(200));
  EXPECT_EQ(Get(WithCertificate(admin)).code, 401);
}

// A front proxy's certificate counts, and what the cluster says about it.
class FrontProxyTest : public AccessGateTest {
 protected:
  FrontProxyTest() {
    Build();
    config_->Start(
        [](const Result<void>& done) { EXPECT_TRUE(done.has_value()) << done.error().message; });
    EXPECT_EQ(api_.last().request.path,
              "/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication");
    const ConfigValue text{ConfigValue::Map{
        {"data",
         ConfigValue(ConfigValue::Map{
             {"client-ca-file", ConfigValue(clients_.certificate_pem())},
             {"requestheader-client-ca-file", ConfigValue(proxies_.certificate_pem())},
             {"requestheader-allowed-names", ConfigValue(std::string(R"(["front"])"))},
             {"requestheader-username-headers", ConfigValue(std::string(R"(["X-Remote-User"])"))},
             {"requestheader-group-headers", ConfigValue(std::string(R"(["X-Remote-Group"])"))},
             {"requestheader-extra-headers-prefix",
              ConfigValue(std::string(R"(["X-Remote-Extra-"])"))}})}}};
    api_.last().Reply(200, text.ToJson());
    executor_.RunDue();
  }

  Request Proxied(const std::string& certificate) {
    Request request = WithCertificate(certificate);
    request.headers = {{"x-remote-user", "jane"},
                       {"x-remote-group", "a"},
                       {"x-remote-group", "b"},
                       {"x-remote-extra-acme.com%2fproject", "p"}};
    return request;
  }

  TestAuthority clients_{"clients"};
  TestAuthority proxies_{"proxies"};
};

TEST_F(FrontProxyTest, AProxyNamesTheUserInHeaders) {
  Send(Proxied(proxies_.Issue("front", {}).certificate_pem));
  EXPECT_EQ(Spec(),
            R"({"nonResourceAttributes":{"path":"/metrics","verb":"get"},"user":"jane",)"
            R"("groups":["a","b","system:authenticated"],"extra":{"acme.com/project":["p"]}})");
}

TEST_F(FrontProxyTest, OthersMayNotNameUsersInHeaders) {
  // A proxy that is not among the allowed ones, and no client either.
  EXPECT_EQ(Get(Proxied(proxies_.Issue("other", {}).certificate_pem)).code, 401);
  // A client is itself.
  Send(Proxied(clients_.Issue("bob", {}).certificate_pem));
  EXPECT_THAT(Spec(), HasSubstr(R"("user":"bob")"));
  // Without a certificate headers are just headers.
  Request bare = Proxied(clients_.Issue("bob", {}).certificate_pem);
  bare.client_chain.clear();
  Send(bare);
  EXPECT_THAT(Spec(), HasSubstr(R"("user":"system:anonymous")"));
}

TEST_F(FrontProxyTest, TheClusterIsAskedAgainAndAFailureChangesNothing) {
  const size_t asked = api_.size();
  config_->Start([](const Result<void>&) {});
  api_.last().Fail(test::NoAnswer());
  executor_.RunDue();
  Send(Proxied(proxies_.Issue("front", {}).certificate_pem));
  EXPECT_THAT(Spec(), HasSubstr(R"("user":"jane")"));
  executor_.Advance(seconds(6));
  EXPECT_GE(api_.size(), asked + 3);
}

TEST_F(AccessGateTest, ABundleIsReadAgainAndABrokenOneChangesNothing) {
  const test::TempFolder folder;
  const TestAuthority before;
  const TestAuthority after;
  const std::string file = folder.Write("ca.crt", before.certificate_pem());
  Build({.client_ca_file = file, .skip_lookup = true});
  AllowAll();
  EXPECT_EQ(Get(WithCertificate(before.Issue("a", {}).certificate_pem)).code, 200);
  folder.Write("ca.crt", "junk");
  clock_.Advance(seconds(61));
  EXPECT_EQ(Get(WithCertificate(before.Issue("a", {}).certificate_pem)).code, 200);
  folder.Write("ca.crt", after.certificate_pem());
  clock_.Advance(seconds(61));
  EXPECT_EQ(Get(WithCertificate(before.Issue("a", {}).certificate_pem)).code, 401);
  EXPECT_EQ(Get(WithCertificate(after.Issue("a", {}).certificate_pem)).code, 200);
}

TEST_F(AccessGateTest, AFileThatCannotBeReadKeepsItFromStarting) {
  const auto config =
      AuthenticationConfig::Make({.client_ca_file = "/does/not/exist"}, &api_, executor_, clock_);
  ASSERT_FALSE(config.has_value());
  EXPECT_THAT(config.error().message, HasSubstr("--client-ca-file: open /does/not/exist"));
}

TEST_F(AccessGateTest, ABodyIsLetInForWhomTheRequestWouldBe) {
  Build();
  const auto admit = [this](Request request) {
    request.method = "POST";
    request.path = "/metrics";
    std::optional<std::optional<Response>> decided;
    gate_->Admit(std::make_shared<const Request>(std::move(request)),
                 [&decided](std::optional<Response> refused) { decided = std::move(refused); });
    executor_.RunDue();
    return decided;
  };
  api_.set_model([](const client::Request& request) -> std::optional<client::ResponseResult> {
    const bool known = request.body.find("jane") != std::string::npos;
    return client::Response{
        201, "application/json",
        known ? R"({"status":{"authenticated":true,"allowed":true,"user":{"username":"jane"}}})"
              : R"({"status":{"authenticated":false}})"};
  });
  const auto jane = admit(WithToken("jane"));
  ASSERT_TRUE(jane.has_value());
  EXPECT_FALSE(jane->has_value());
  EXPECT_THAT(seen_.Take(), ElementsAre("TokenReview 201", "SubjectAccessReview 201"))
      << "what is let in is counted with its body";
  const auto stranger = admit(WithToken("other"));
  ASSERT_TRUE(stranger.has_value() && stranger->has_value());
  EXPECT_EQ((*stranger)->code, 401);
  EXPECT_THAT(seen_.Take(), ElementsAre("TokenReview 201", "authenticated error"));
  // Whoever they are, they may not.
  const auto anonymous = admit({});
  ASSERT_TRUE(anonymous.has_value() && anonymous->has_value());
  EXPECT_EQ((*anonymous)->code, 403);
  EXPECT_THAT(seen_.Take(),
              ElementsAre("SubjectAccessReview 201", "authenticated success system:anonymous",
                          "authorized no-opinion"));
}

TEST_F(AccessGateTest, WhoMayGetTheOneObjectThatARequestIsAboutMayMakeIt) {
  about_object_ = [](const Request& request) -> std::optional<ResourceAttributes> {
    const std::string* name = request.FindQuery("pod");
    if (name == nullptr) return std::nullopt;
    return ResourceAttributes{"get", "", "pods", "shop", *name};
  };
  Build();
  const auto ask = [this](const std::string& pod) {
    Request request;
    request.query = {{"pod", pod}};
    return Send(std::move(request));
  };
  const size_t mine = ask("mine");
  EXPECT_THAT(Spec(), HasSubstr(R"("nonResourceAttributes":)"));
  Reply(R"({"allowed":false,"reason":"not the path"})");
  EXPECT_FALSE(answers_[mine].has_value());
  const std::string spec = Spec();
  EXPECT_THAT(spec, HasSubstr(R"("resourceAttributes":{"group":"","name":"mine",)"
                              R"("namespace":"shop","resource":"pods","verb":"get"})"));
  EXPECT_THAT(spec, testing::Not(HasSubstr("nonResourceAttributes")));
  Reply(R"({"allowed":true})");
  EXPECT_EQ(answers_[mine]->code, 200);

  // The right to one is none to another.
  const size_t other = ask("other");
  EXPECT_THAT(Spec(), HasSubstr(R"("name":"other")"));
  Reply(R"({"allowed":false,"reason":"no such right"})");
  EXPECT_EQ(answers_[other]->code, 403);
  EXPECT_THAT(answers_[other]->body,
              HasSubstr(R"(cannot get path \"/metrics\", nor get resource \"pods\" in API group )"
                        R"(\"\" in the namespace \"shop\": kubernetes.io/webhook: no such right)"));
  const size_t questions = api_.size();
  EXPECT_EQ(Get({}).code, 403);
  EXPECT_EQ(api_.size(), questions) << "the refusal of the path is known, and there is no object";
}

}  // namespace
}  // namespace berth::serving
