// SPDX-License-Identifier: Apache-2.0
#include "src/extender/http_extender.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <future>
#include <mutex>

#include "src/base/clock.h"
#include "tests/support/builders.h"
#include "tests/support/plain_snapshot.h"
#include "tests/support/test_server.h"

namespace berth::extender {
namespace {

using Kind = binding::RequestEnd::Kind;
using std::chrono::milliseconds;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;
using testing::StartsWith;

config::ExtenderTlsConfig Insecure() {
  config::ExtenderTlsConfig tls;
  tls.insecure = true;
  return tls;
}

config::ExtenderTlsConfig SignedBy(const std::string& ca_pem, const std::string& server = "") {
  config::ExtenderTlsConfig tls;
  tls.ca_data = ca_pem;
  tls.server_name = server;
  return tls;
}

config::Extender At(const std::string& url, bool ignorable = false) {
  config::Extender extender;
  extender.url_prefix = url;
  extender.ignorable = ignorable;
  return extender;
}

config::Extender At(const std::string& url, const config::ExtenderTlsConfig& tls) {
  config::Extender extender = At(url);
  extender.tls_config = tls;
  return extender;
}

// An extender on loopback that answers every request alike.
class HttpExtenderTest : public testing::Test {
 protected:
  using Script = test::TestServer::Script;

  void Serve(Script script, test::TestServer::Options options = {.tls = false}) {
    server_ = std::make_unique<test::TestServer>(
        [this, script = std::move(script)](const test::ServedRequest& request,
                                           test::ServerPeer& peer) {
          {
            const std::lock_guard lock(mutex_);
            requests_.push_back(request);
          }
          script(request, peer);
        },
        options);
    config_.url_prefix = server_->url() + "/ext/";
    config_.filter_verb = "filter";
    config_.prioritize_verb = "prioritize";
    config_.preempt_verb = "preempt";
    config_.bind_verb = "bind";
    config_.http_timeout = std::chrono::seconds(20);
  }
  void ServeBody(int code, std::string body) {
    Serve([code, body](const auto&, test::ServerPeer& peer) { peer.Answer(code, body); });
  }
  HttpExtender& Extender() {
    auto made = HttpExtender::Make(config_, clock_, registry_);
    EXPECT_TRUE(made.has_value()) << made.error().message;
    extender_ = *std::move(made);
    return *extender_;
  }
  Result<extender::FilterResult> Filter() { return Extender().Filter(pod_, snapshot_, rows_); }
  std::string FilterError() {
    const auto result = Filter();
    return result ? "" : result.error().message;
  }
  // With the server's URL in place of "{}".
  std::string WithUrl(std::string text) const {
    if (const auto at = text.find("{}"); at != std::string::npos) {
      text.replace(at, 2, server_->url());
    }
    return text;
  }
  binding::RequestEnd Bind() {
    std::promise<binding::RequestEnd> promise;
    auto call = Extender().Bind(pod_, "n1", [&promise](binding::RequestEnd result) {
      promise.set_value(std::move(result));
    });
    return promise.get_future().get();
  }
  double Counted(std::string_view verb, std::string_view result) {
    return registry_
        .Read(registry_.Intern(metrics::Metric::kExtenderRequests,
                               {config_.url_prefix, verb, result}))
        .value;
  }
  std::vector<test::ServedRequest> Requests() {
    const std::lock_guard lock(mutex_);
    return requests_;
  }

  base::RealClock clock_;
  metrics::Registry registry_;
  test::PlainResourceNames names_;
  test::PlainSnapshot snapshot_{names_,
                                {test::MakeNode("n1"), test::MakeNode("n2"), test::MakeNode("n3")},
                                {test::MakePod().Name("low").Uid("u-low").OnNode("n2")}};
  const std::vector<NodeRow> rows_ = {0, 1, 2};
  const api::Pod pod_ = test::MakePod().Name("web").Uid("u1");
  config::Extender config_;
  std::mutex mutex_;
  std::vector<test::ServedRequest> requests_;
  std::unique_ptr<test::TestServer> server_;
  std::shared_ptr<HttpExtender> extender_;
};

TEST_F(HttpExtenderTest, FilterPostsTheNamesAndTakesWhatIsLeft) {
  ServeBody(200, R"({"NodeNames":["n3","n1"],"FailedNodes":{"n2":"busy","gone":"x"},
                     "FailedAndUnresolvableNodes":{"n2":"broken"}})");
  config_.node_cache_capable = true;
  const auto result = Filter();
  ASSERT_TRUE(result.has_value()) << result.error().message;
  EXPECT_THAT(result->nodes, ElementsAre(2, 0)) << "as the answer has them";
  ASSERT_EQ(result->rejected.size(), 2u) << "of nodes that there are";
  EXPECT_EQ(result->rejected[0].row, 1);
  EXPECT_EQ(result->rejected[0].code, Code::kUnschedulable);
  EXPECT_EQ(result->rejected[0].reason, "busy");
  EXPECT_EQ(result->rejected[1].row, 1);
  EXPECT_EQ(result->rejected[1].code, Code::kUnschedulableAndUnresolvable);
  EXPECT_EQ(result->rejected[1].reason, "broken");
  const auto requests = Requests();
  ASSERT_EQ(requests.size(), 1u);
  EXPECT_EQ(requests[0].method, "POST");
  EXPECT_EQ(requests[0].target, "/ext/filter");
  EXPECT_EQ(requests[0].header("content-type"), "application/json");
  EXPECT_THAT(requests[0].body, HasSubstr(R"("Nodes":null,"NodeNames":["n1","n2","n3"]})"));
  EXPECT_EQ(Counted("filter", "success"), 1);
}

TEST_F(HttpExtenderTest, AUserInTheUrlIsShownToTheServerAndItsPasswordToNoOther) {
  const auto with_user = [this](std::string_view user) {
    config_.url_prefix = "http://" + std::string(user) + "@" + server_->url().substr(7) + "/ext";
  };
  const struct {
    std::string_view user;
    std::string_view header;
  } cases[] = {
      {"sched:secret", "Basic c2NoZWQ6c2VjcmV0"},
      {"sched:se%3Acret", "Basic c2NoZWQ6c2U6Y3JldA=="},
      {"sched", "Basic c2NoZWQ6"},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.user);
    ServeBody(200, R"({"NodeNames":["n1"]})");
    with_user(c.user);
    EXPECT_EQ(FilterError(), "");
    EXPECT_EQ(Requests().back().header("authorization"), c.header);
  }
  ServeBody(200, "{}");
  EXPECT_EQ(FilterError(), "");
  EXPECT_EQ(Requests().back().header("authorization"), "");

  Serve([](const auto&, test::ServerPeer& peer) {
    peer.Send("HTTP/1.1 302 Found\r\nLocation: /other\r\nContent-Length: 0\r\n\r\n");
  });
  with_user("sched:secret");
  const size_t before = Requests().size();
  EXPECT_THAT(FilterError(), testing::EndsWith(", code 302"));
  EXPECT_EQ(Requests().size(), before + 1) << "the library would show the user to any server";

  server_->Stop();
  EXPECT_THAT(FilterError(), StartsWith("Post \"http://sched:***@127.0.0.1:"));
  EXPECT_EQ(Counted("filter", "failed"), 0);
  with_user("sched:***");
  EXPECT_EQ(Counted("filter", "failed"), 1);
}

TEST_F(HttpExtenderTest, WholeNodesCountWhereNamesAreNotAskedFor) {
  const std::string both = R"({"Nodes":{"items":[{"metadata":{"name":"n2"}}]},"NodeNames":["n1"]})";
  ServeBody(200, both);
  EXPECT_THAT(Filter()->nodes, ElementsAre(1)) << "asked for nodes";
  config_.node_cache_capable = true;
  EXPECT_THAT(Filter()->nodes, ElementsAre(0)) << "asked for names";
  ServeBody(200, R"({"Nodes":{"items":[{"metadata":{"name":"n2"}}]}})");
  EXPECT_THAT(Filter()->nodes, ElementsAre(1)) << "asked for names, got nodes";
  ServeBody(200, "{}");
  EXPECT_THAT(Filter()->nodes, testing::IsEmpty());
}

TEST_F(HttpExtenderTest, WhatGoesWrongNamesTheUrlAndIsCounted) {
  const struct {
    const char* name;
    Script script;
    std::string error;
    std::string_view result;
  } cases[] = {
      {"status", [](const auto&, auto& peer) { peer.Answer(500, "oops"); },
       "failed filter with extender at URL {}/ext/filter, code 500", "bad_status"},
      {"a 2xx that is no 200", [](const auto&, auto& peer) { peer.Answer(201, "{}"); },
       "failed filter with extender at URL {}/ext/filter, code 201", "bad_status"},
      {"no JSON", [](const auto&, auto& peer) { peer.Answer(200, "<html>", "text/html"); },
       "invalid character '<' looking for beginning of value", "bad_answer"},
      {"nothing", [](const auto&, auto& peer) { peer.Answer(200, " \n"); }, "EOF", "bad_answer"},
      {"another shape", [](const auto&, auto& peer) { peer.Answer(200, "[]"); },
       "Post \"{}/ext/filter\": the answer cannot be read: ", "bad_answer"},
      {"its own error", [](const auto&, auto& peer) { peer.Answer(200, R"({"Error":"cannot"})"); },
       "cannot", "refused"},
      {"an unknown node",
       [](const auto&, auto& peer) {
         peer.Answer(200, R"({"Nodes":{"items":[{"metadata":{"name":"n9"}}]}})");
       },
       "extender \"{}/ext/\" claims a filtered node \"n9\" which is not found in the input node "
       "list",
       "bad_answer"},
      {"cut in the body",
       [](const auto&, auto& peer) {
         peer.Send("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{\"Nodes\"");
         peer.Close();
       },
       "Post \"{}/ext/filter\": ", "failed"},
      {"cut at once", [](const auto&, auto& peer) { peer.Reset(); },
       "Post \"{}/ext/filter\": ", "failed"},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    Serve(c.script);
    EXPECT_THAT(FilterError(), StartsWith(WithUrl(c.error)));
    EXPECT_EQ(Counted("filter", c.result), 1);
  }
}

TEST_F(HttpExtenderTest, ItWaitsForTheTimeoutAndNoLonger) {
  const struct {
    const char* name;
    Script script;
    std::string error;
  } cases[] = {
      {"silence", [](const auto&, auto& peer) { peer.WaitForPeer(); },
       "Post \"{}/ext/filter\": context deadline exceeded (Client.Timeout exceeded while awaiting "
       "headers)"},
      {"half an answer",
       [](const auto&, auto& peer) {
         peer.Send("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{");
         peer.WaitForPeer();
       },
       "context deadline exceeded (Client.Timeout or context cancellation while reading body)"},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    Serve(c.script);
    config_.http_timeout = milliseconds(500);
    EXPECT_EQ(FilterError(), WithUrl(c.error));
    EXPECT_EQ(Counted("filter", "timeout"), 1);
  }
}

TEST_F(HttpExtenderTest, NobodyThereIsAFailure) {
  ServeBody(200, "{}");
  server_->Stop();
  EXPECT_THAT(FilterError(), StartsWith("Post \"" + server_->url() + "/ext/filter\": "));
  EXPECT_EQ(Counted("filter", "failed"), 1);
}

TEST_F(HttpExtenderTest, AConnectionServesManyCalls) {
  ServeBody(200, R"({"NodeNames":["n1"]})");
  HttpExtender& extender = Extender();
  for (int i = 0; i < 5; ++i) {
    ASSERT_TRUE(extender.Filter(pod_, snapshot_, rows_).has_value());
  }
  // An answer may be there before its connection is free again.
  EXPECT_LT(server_->connections(), 5);
}

TEST_F(HttpExtenderTest, PrioritizeReadsScoresOfNodesThatThereAre) {
  ServeBody(200, R"([{"Host":"n2","Score":7},{"Host":"gone","Score":9},{"Host":"n1","Score":1}])");
  const std::vector<NodeRow> rows = {0, 1};
  const auto priorities = Extender().Prioritize(pod_, snapshot_, rows)->Wait();
  ASSERT_TRUE(priorities.has_value());
  ASSERT_EQ(priorities->size(), 2u);
  EXPECT_EQ(priorities->at(0).row, 1u);
  EXPECT_EQ(priorities->at(0).score, 7);
  EXPECT_EQ(Counted("prioritize", "success"), 1);
}

TEST_F(HttpExtenderTest, PreemptFindsTheVictimsOnTheirNode) {
  ServeBody(200, R"({"NodeNameToMetaVictims":{"n2":{"Pods":[{"UID":"u-low"}],
                                                    "NumPDBViolations":2}}})");
  const PreemptionCandidate candidate{1, {&snapshot_.pod("low")}, 0};
  auto left = Extender().ProcessPreemption(pod_, snapshot_, {&candidate, 1});
  ASSERT_TRUE(left.has_value()) << left.error().message;
  ASSERT_EQ(left->size(), 1u);
  EXPECT_EQ(left->front().row, 1u);
  EXPECT_THAT(left->front().victims, ElementsAre(&snapshot_.pod("low")));
  EXPECT_EQ(left->front().num_pdb_violations, 2);

  ServeBody(200, R"({"NodeNameToMetaVictims":{"n1":{"Pods":[{"UID":"u-low"}]}}})");
  left = Extender().ProcessPreemption(pod_, snapshot_, {&candidate, 1});
  EXPECT_EQ(left.error().message,
            "extender: " + config_.url_prefix +
                " claims to preempt pod (UID: &{u-low}) on node: n1, but the pod is not found on "
                "that node");
  ServeBody(200, R"({"NodeNameToMetaVictims":{"n9":{}}})");
  left = Extender().ProcessPreemption(pod_, snapshot_, {&candidate, 1});
  EXPECT_EQ(left.error().message, "nodeinfo not found for node name \"n9\"");
}

TEST_F(HttpExtenderTest, ABindThatWasNotDefinitelyRefusedIsUnknown) {
  const struct {
    const char* name;
    Script script;
    std::string error;
    Kind kind;
  } cases[] = {
      {"bound", [](const auto&, auto& peer) { peer.Answer(200, "{}"); }, "", Kind::kBound},
      {"refused", [](const auto&, auto& peer) { peer.Answer(200, R"({"Error":"no"})"); }, "no",
       Kind::kRefused},
      {"forbidden", [](const auto&, auto& peer) { peer.Answer(403, ""); }, "code 403",
       Kind::kRefused},
      {"broken", [](const auto&, auto& peer) { peer.Answer(502, ""); }, "code 502", Kind::kFailed},
      {"cut", [](const auto&, auto& peer) { peer.Reset(); }, "Post ", Kind::kLost},
      {"babble", [](const auto&, auto& peer) { peer.Answer(200, "ok"); },
       "invalid character 'o' looking for beginning of value", Kind::kFailed},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    Serve(c.script);
    const auto result = Bind();
    EXPECT_THAT(result.message, HasSubstr(c.error));
    EXPECT_EQ(result.message.empty(), c.error.empty());
    EXPECT_EQ(result.kind, c.kind);
  }
}

TEST_F(HttpExtenderTest, ABindThatCannotHaveReachedTheExtenderIsRefused) {
  ServeBody(200, "{}");
  server_->Stop();
  const auto result = Bind();
  EXPECT_THAT(result.message, StartsWith("Post "));
  EXPECT_EQ(result.kind, Kind::kRefused);
}

// The client's library sends a request again when a kept connection is closed under it.
TEST_F(HttpExtenderTest, ABindIsSentOnce) {
  std::atomic<int> binds = 0;
  Serve([&binds](const test::ServedRequest& request, test::ServerPeer& peer) {
    if (request.target.ends_with("/bind") && ++binds > 1) {
      peer.Close();
    } else {
      peer.Answer(200, "{}");
    }
  });
  HttpExtender& extender = Extender();
  const auto bind = [&] {
    std::promise<binding::RequestEnd> promise;
    const auto call = extender.Bind(
        pod_, "n1", [&promise](const binding::RequestEnd& r) { promise.set_value(r); });
    return promise.get_future().get();
  };
  EXPECT_EQ(bind().message, "");
  const auto second = bind();
  EXPECT_EQ(second.kind, Kind::kLost) << second.message;
  EXPECT_EQ(binds, 2) << "one request an attempt";
}

TEST_F(HttpExtenderTest, AnAnswerMayBeSomeTimesAsLongAsTheQuestionAndNoLonger) {
  const auto answer = [](size_t bytes) {
    return R"({"NodeNames":["n1"],"Error":")" + std::string(bytes, ' ') + R"("})";
  };
  ServeBody(200, answer(1'000'000));
  EXPECT_THAT(FilterError(), StartsWith("    "));
  ServeBody(200, answer(2'000'000));
  EXPECT_THAT(FilterError(), HasSubstr("the answer is longer than 10"));
  EXPECT_EQ(Counted("filter", "failed"), 1);
}

TEST_F(HttpExtenderTest, NodesAreAskedAboutAndLeftInTheirOrder) {
  ServeBody(200, R"({"NodeNames":["n3","n1","n3"]})");
  config_.node_cache_capable = true;
  const std::vector<NodeRow> rows = {2, 0, 1};
  const auto result = Extender().Filter(pod_, snapshot_, rows);
  ASSERT_TRUE(result.has_value());
  EXPECT_THAT(result->nodes, ElementsAre(2, 0));
  EXPECT_THAT(Requests().front().body, HasSubstr(R"("NodeNames":["n3","n1","n2"])"));
}

TEST_F(HttpExtenderTest, DestroyedItCancelsWhatIsUnderWay) {
  Serve([](const auto&, auto& peer) { peer.WaitForPeer(); });
  std::promise<binding::RequestEnd> promise;
  auto call = Extender().Bind(pod_, "n1",
                              [&promise](const binding::RequestEnd& r) { promise.set_value(r); });
  extender_.reset();
  EXPECT_EQ(promise.get_future().get().kind, Kind::kLost);
}

TEST_F(HttpExtenderTest, HttpsChecksTheServerAgainstTheAuthority) {
  const auto answer = [](const auto&, test::ServerPeer& peer) {
    peer.Answer(200, R"({"NodeNames":["n1"]})");
  };
  const test::TestAuthority stranger;
  Serve(answer, {.tls = true});
  const std::string own = server_->authority().certificate_pem();
  const struct {
    const char* name;
    config::ExtenderTlsConfig tls;
    bool enable_https;
    bool works;
  } cases[] = {
      {"the right authority", SignedBy(own), true, true},
      {"another authority", SignedBy(stranger.certificate_pem()), true, false},
      {"no authority", {}, true, true},
      {"no authority, the flag off", {}, false, false},
      {"insecure", Insecure(), false, true},
      {"another name of the server", SignedBy(own, "localhost"), true, true},
      {"a name that it does not have", SignedBy(own, "other"), true, false},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    config_.tls_config = c.tls;
    config_.enable_https = c.enable_https;
    const std::string error = FilterError();
    EXPECT_EQ(error.empty(), c.works) << error;
  }
}

TEST_F(HttpExtenderTest, AClientCertificateIsShown) {
  Serve(
      [](const test::ServedRequest& request, test::ServerPeer& peer) {
        peer.Answer(200, "{\"Error\":\"you are " + request.client_subject + "\"}");
      },
      {.tls = true});
  const test::CertifiedKey client = server_->authority().Issue("scheduler", {});
  config_.tls_config = SignedBy(server_->authority().certificate_pem());
  config_.tls_config->cert_data = client.certificate_pem;
  config_.tls_config->key_data = client.key_pem;
  config_.enable_https = true;
  EXPECT_EQ(FilterError(), "you are scheduler");
}

TEST_F(HttpExtenderTest, ABadConfigurationIsToldAtStart) {
  config::ExtenderTlsConfig no_file;
  no_file.ca_file = "/no/such/file";
  config::ExtenderTlsConfig both = SignedBy("x");
  both.insecure = true;
  const struct {
    const char* name;
    config::Extender config;
    std::string error;
  } cases[] = {
      {"no scheme", At("localhost:80"), "the URL has no scheme"},
      {"not HTTP", At("ftp://localhost"), "URI scheme must be 'http' or 'https'"},
      {"no file", At("https://a", no_file), "open /no/such/file: no such file or directory"},
      {"no certificate", At("https://a", SignedBy("rubbish")), ""},
      {"both", At("https://a", both),
       "specifying a root certificates file with the insecure flag is not allowed"},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    const auto made = MakeExtenders({c.config}, clock_, registry_);
    ASSERT_FALSE(made.has_value());
    EXPECT_THAT(
        made.error().message,
        AllOf(StartsWith("extenders[0] \"" + c.config.url_prefix + "\": "), HasSubstr(c.error)));
  }
}

TEST_F(HttpExtenderTest, InterestGoesByTheResourcesOfAnyContainer) {
  config_.url_prefix = "http://127.0.0.1:1";
  EXPECT_TRUE(Extender().IsInterested(pod_)) << "nothing managed: every pod";
  config_.managed_resources = {{"example.com/gpu", false}};
  api::Container limited;
  limited.resources.limits = test::MakeResources({{"example.com/gpu", "1"}});
  const struct {
    const char* name;
    test::PodBuilder pod;
    bool interested;
  } cases[] = {
      {"none", test::MakePod().Req({{"cpu", "1"}}), false},
      {"request", test::MakePod().Req({{"example.com/gpu", "1"}}), true},
      {"request of an init container", test::MakePod().InitReq({{"example.com/gpu", "1"}}), true},
      {"limit", test::MakePod().Container(limited), true},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    EXPECT_EQ(Extender().IsInterested(c.pod), c.interested);
  }
}

TEST_F(HttpExtenderTest, ThoseThatMayFailAreAskedLast) {
  const std::vector<config::Extender> configs = {At("http://a", true), At("http://b"),
                                                 At("http://c", true), At("http://d")};
  const auto made = MakeExtenders(configs, clock_, registry_);
  ASSERT_TRUE(made.has_value());
  std::vector<std::string> names;
  for (const auto& extender : *made) names.emplace_back(extender->Name());
  EXPECT_THAT(names, ElementsAre("http://b", "http://d", "http://a", "http://c"));
}

TEST(HttpClientTest, AnAnswerThatIsTooLongIsNotReadToItsEnd) {
  test::TestServer server(
      [](const auto&, test::ServerPeer& peer) {
        peer.Send("HTTP/1.1 200 OK\r\nContent-Length: 1000000000\r\n\r\n");
        peer.Send(std::string(size_t{1} << 20, 'x'));
        peer.WaitForPeer();
      },
      {.tls = false});
  auto client = HttpClient::Make({.url = server.url()});
  ASSERT_TRUE(client.has_value());
  std::promise<std::string> promise;
  (*client)->Post({.url = server.url() + "/x", .body = "{}", .max_answer_bytes = 1000},
                  [&promise](const auto& answer) {
                    promise.set_value(answer ? "an answer" : answer.error().message);
                  });
  EXPECT_EQ(promise.get_future().get(), "the answer is longer than 1000 bytes");
}

}  // namespace
}  // namespace berth::extender
