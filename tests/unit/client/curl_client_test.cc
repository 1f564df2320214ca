// SPDX-License-Identifier: Apache-2.0
#include "src/client/curl_client.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <initializer_list>

#include "src/base/thread.h"
#include "tests/unit/client/client_harness.h"

namespace berth::client {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using test::Await;
using test::Get;
using test::Post;
using test::Served;
using test::ServedRequest;
using test::ServerPeer;
using test::TestClient;
using test::TestServer;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr char kNotFound[] =
    R"({"kind":"Status","reason":"NotFound","message":"pods \"web\" not found","code":404})";

TEST(CurlClientTest, ARequestArrivesAsItWasMadeAndItsAnswerComesBack) {
  Served served;
  TestServer server([&](const ServedRequest& request, ServerPeer& peer) {
    served.Add(request);
    peer.Answer(201, R"({"kind":"Binding"})");
  });
  TestClient client(server, [](ClientOptions& options) {
    options.user_agent = UserAgent("1.2", "1.37", "scheduler");
    options.server.user.token = "secret";
    options.server.user.impersonate_user = "jane";
    options.server.user.impersonate_groups = {"a", "b"};
  });
  Request request = Post("/api/v1/namespaces/a/pods/b/binding?x=1", "{}");
  request.accept = "application/vnd.kubernetes.protobuf";
  const auto response = client.Do(request);
  ASSERT_TRUE(response) << response.error().ToString();
  EXPECT_EQ(response->code, 201);
  EXPECT_EQ(response->content_type, "application/json");
  EXPECT_EQ(response->body, R"({"kind":"Binding"})");
  ASSERT_EQ(served.size(), 1u);
  const ServedRequest got = served.all()[0];
  EXPECT_EQ(got.method, "POST");
  EXPECT_EQ(got.target, "/api/v1/namespaces/a/pods/b/binding?x=1");
  EXPECT_EQ(got.body, "{}");
  EXPECT_EQ(got.header("content-type"), "application/json");
  EXPECT_EQ(got.header("accept"), "application/vnd.kubernetes.protobuf");
  EXPECT_EQ(got.header("authorization"), "Bearer secret");
  EXPECT_EQ(got.header("impersonate-user"), "jane");
  EXPECT_EQ(got.header("host"), "127.0.0.1:" + std::to_string(server.port()));
  EXPECT_THAT(got.header("user-agent"), testing::StartsWith("berth/1.2 (linux/"));
  EXPECT_FALSE(got.headers.contains("expect"));
  EXPECT_FALSE(got.headers.contains("accept-encoding"));
}

TEST(CurlClientTest, BodiesMayBeProtobufOnceTheServerAnswersInItAndUntilItRefusesThem) {
  int code = 200;
  std::string type = "application/json";
  TestServer server([&](const ServedRequest&, ServerPeer& peer) { peer.Answer(code, "", type); });
  TestClient client(server);
  const auto reads_after = [&](int with_code, std::string_view with_type, Request request) {
    code = with_code;
    type = with_type;
    static_cast<void>(client.Do(std::move(request)));
    return client->ReadsProtobuf();
  };
  constexpr char kProtobuf[] = "application/vnd.kubernetes.protobuf";
  Request protobuf = Post("/a", "k8s");
  protobuf.content_type = kProtobuf;
  EXPECT_FALSE(client->ReadsProtobuf());
  EXPECT_FALSE(reads_after(200, "application/json", Get("/a")));
  EXPECT_TRUE(reads_after(200, kProtobuf, Get("/a")));
  EXPECT_TRUE(reads_after(200, "application/json", Get("/a")));
  EXPECT_TRUE(reads_after(415, "text/plain", Post("/a", "{}")));
  EXPECT_FALSE(reads_after(415, "text/plain", protobuf));
  EXPECT_FALSE(reads_after(200, kProtobuf, Get("/a")));
}

TEST(CurlClientTest, BodiesAreJsonWhereTheyAreToBe) {
  TestServer server([&](const ServedRequest&, ServerPeer& peer) {
    peer.Answer(200, "", "application/vnd.kubernetes.protobuf");
  });
  TestClient client(server, [](ClientOptions& o) { o.writes_json = true; });
  ASSERT_TRUE(client.Do(Get("/a")));
  EXPECT_FALSE(client->ReadsProtobuf());
}

TEST(CurlClientTest, EachVerbHasItsMethod) {
  Served served;
  TestServer server([&](const ServedRequest& request, ServerPeer& peer) {
    served.Add(request);
    peer.Answer(200, "{}");
  });
  TestClient client(server);
  const struct {
    Verb verb;
    const char* body;
    const char* method;
  } cases[] = {
      {Verb::kGet, "", "GET"},     {Verb::kCreate, "b", "POST"},   {Verb::kList, "", "GET"},
      {Verb::kUpdate, "b", "PUT"}, {Verb::kPatch, "b", "PATCH"},   {Verb::kDelete, "", "DELETE"},
      {Verb::kGet, "", "GET"},     {Verb::kDelete, "b", "DELETE"}, {Verb::kWatch, "", "GET"},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.method);
    Request request = Get("/x");
    request.verb = c.verb;
    request.body = c.body;
    ASSERT_TRUE(client.Do(request));
    const ServedRequest got = served.all().back();
    EXPECT_EQ(got.method, c.method);
    EXPECT_EQ(got.body, c.body);
    EXPECT_FALSE(got.headers.contains("content-type"));
  }
  EXPECT_EQ(server.connections(), 1) << "the connection is kept";
}

TEST(CurlClientTest, AServersPathIsAPrefix) {
  Served served;
  TestServer server([&](const ServedRequest& request, ServerPeer& peer) {
    served.Add(request);
    peer.Answer(200, "{}");
  });
  TestClient client(server, [](ClientOptions& o) { o.server.cluster.server += "/k8s/c-1/"; });
  ASSERT_TRUE(client.Do(Get("/api")));
  EXPECT_EQ(served.all()[0].target, "/k8s/c-1/api");
}

TEST(CurlClientTest, AStatusBecomesATypedError) {
  TestServer server([](const ServedRequest&, ServerPeer& peer) { peer.Answer(404, kNotFound); });
  TestClient client(server);
  const auto response = client.Do(Get("/x"));
  ASSERT_FALSE(response);
  EXPECT_EQ(response.error().code, 404);
  EXPECT_EQ(response.error().reason, "NotFound");
  EXPECT_EQ(response.error().ToString(), "pods \"web\" not found (404 NotFound)");
  EXPECT_FALSE(response.error().unknown_outcome());
}

TEST(CurlClientTest, ServersWhoAreBusyAreAskedAgain) {
  Request repeatable = Post("/x", "{}", 3);
  repeatable.repeats_5xx = true;
  const struct {
    const char* name;
    Request request;
    int first_code;
    const char* headers;
    size_t attempts;
  } cases[] = {
      {"429, write", Post("/x", "{}", 3), 429, "", 2},
      {"429, Retry-After", Post("/x", "{}", 3), 429, "Retry-After: 1\r\n", 2},
      {"429, no retries wanted", Post("/x", "{}", 0), 429, "", 1},
      {"503, read", Get("/x", 3), 503, "", 2},
      {"503, write", Post("/x", "{}", 3), 503, "", 1},
      {"500, read", Get("/x", 3), 500, "", 1},
      {"500, Retry-After, write", Post("/x", "{}", 3), 500, "Retry-After: 1\r\n", 1},
      {"500, Retry-After, repeatable write", repeatable, 500, "Retry-After: 1\r\n", 2},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    Served served;
    TestServer server([&](const ServedRequest& request, ServerPeer& peer) {
      served.Add(request);
      if (served.size() == 1) {
        peer.Answer(c.first_code, "busy", "text/plain", c.headers);
      } else {
        peer.Answer(200, "{}");
      }
    });
    TestClient client(server);
    const base::RealClock clock;
    const Time start = clock.Now();
    const auto response = client.Do(c.request);
    EXPECT_EQ(served.size(), c.attempts);
    EXPECT_EQ(response.has_value(), c.attempts == 2);
    if (!response) {
      EXPECT_EQ(response.error().code, c.first_code);
      EXPECT_EQ(response.error().unknown_outcome(), c.first_code >= 500);
    }
    if (c.headers[0] != '\0' && c.attempts == 2) {
      EXPECT_GE(clock.Now() - start, seconds(1));
    }
  }
}

TEST(CurlClientTest, ARefusedConnectionIsNeverSentAndTriedAgainUntilTheServerIsThere) {
  int port = 0;
  {
    TestServer gone([](const ServedRequest&, ServerPeer&) {}, {.tls = false});
    port = gone.port();
  }
  TestClient client("http://127.0.0.1:" + std::to_string(port), "");
  const auto refused = client.Do(Post("/x", "{}", 0));
  ASSERT_FALSE(refused);
  EXPECT_TRUE(refused.error().never_sent);
  EXPECT_FALSE(refused.error().unknown_outcome());
  EXPECT_EQ(refused.error().reason, kReasonUnreachable);
  EXPECT_THAT(refused.error().message, HasSubstr("POST /x: "));

  auto later = client.Start(Post("/x", "{}", 10));
  TestServer::Options options{.tls = false};
  options.port = port;
  TestServer server([](const ServedRequest&, ServerPeer& peer) { peer.Answer(200, "{}"); },
                    options);
  EXPECT_TRUE(Await(std::move(later)));
}

TEST(CurlClientTest, AnAnswerThatIsCutIsNoAnswer) {
  const struct {
    const char* name;
    std::function<void(ServerPeer&)> cut;
  } cases[] = {
      {"closed without a byte", [](ServerPeer& peer) { peer.Close(); }},
      {"reset without a byte", [](ServerPeer& peer) { peer.Reset(); }},
      {"cut in the head",
       [](ServerPeer& peer) {
         peer.Send("HTTP/1.1 201 Crea");
         peer.Close();
       }},
      {"cut in the body",
       [](ServerPeer& peer) {
         peer.Send("HTTP/1.1 201 Created\r\nContent-Length: 100\r\n\r\n{");
         peer.Close();
       }},
      {"no HTTP",
       [](ServerPeer& peer) {
         peer.Send("\x15\x03\x01 nonsense");
         peer.Close();
       }},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    Served served;
    TestServer server([&](const ServedRequest& request, ServerPeer& peer) {
      served.Add(request);
      if (request.method == "GET" && served.size() > 2) {
        peer.Answer(200, "{}");
      } else {
        c.cut(peer);
      }
    });
    TestClient client(server);
    const auto write = client.Do(Post("/x", "{}", 10));
    ASSERT_FALSE(write);
    EXPECT_TRUE(write.error().unknown_outcome());
    EXPECT_EQ(write.error().code, 0);
    EXPECT_EQ(served.size(), 1u) << "a write is sent once";
    EXPECT_TRUE(client.Do(Get("/x", 10))) << "a read is tried again";
    EXPECT_EQ(served.size(), 3u);
  }
}

// libcurl repeats a request by itself when a kept connection is cut before the first byte.
TEST(CurlClientTest, AnAnswerWithoutEndIsCutOffAtWhatTheRequestMayBeAnsweredWith) {
  TestServer server([](const ServedRequest& request, ServerPeer& peer) {
    const bool refused = request.target == "/refused";
    peer.Send(refused ? "HTTP/1.1 500 No\r\nContent-Length: 3000000\r\n\r\n"
                      : "HTTP/1.1 200 OK\r\nContent-Length: 30000000\r\n\r\n");
    peer.Send(std::string(refused ? 3'000'000 : 30'000'000, 'x'));
  });
  TestClient client(server);
  const struct {
    Request request;
    std::string_view reason;
  } cases[] = {
      {Post("/bind", "{}"), kReasonTooLarge},
      {Get("/object", /*max_retries=*/3), kReasonTooLarge},
      {Get("/refused"), "InternalError"},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.request.path);
    const auto response = client.Do(c.request);
    ASSERT_FALSE(response);
    EXPECT_EQ(response.error().reason, c.reason) << response.error().ToString();
    EXPECT_TRUE(response.error().unknown_outcome());
  }
  EXPECT_EQ(server.connections(), 3) << "what is too long is not asked for again";
}

TEST(CurlClientTest, AWriteOnAKeptConnectionThatIsCutIsNotSentAgain) {
  for (const Verb verb : {Verb::kCreate, Verb::kPatch, Verb::kUpdate, Verb::kDelete}) {
    for (const bool orderly : {true, false}) {
      SCOPED_TRACE(testing::Message()
                   << static_cast<int>(verb) << (orderly ? " closed" : " reset"));
      Served served;
      TestServer server([&](const ServedRequest& request, ServerPeer& peer) {
        served.Add(request);
        if (request.target == "/first") {
          peer.Answer(200, "{}");
        } else if (orderly) {
          peer.Close();
        } else {
          peer.Reset();
        }
      });
      TestClient client(server);
      ASSERT_TRUE(client.Do(Get("/first")));
      Request request = Post("/second", verb == Verb::kDelete ? "" : "{}", 10);
      request.verb = verb;
      const auto response = client.Do(request);
      ASSERT_FALSE(response);
      EXPECT_TRUE(response.error().unknown_outcome());
      EXPECT_EQ(served.size(), 2u);
      EXPECT_EQ(served.all()[1].connection, 1);
    }
  }
}

TEST(CurlClientTest, ASilentServerIsATimeoutAndLaterRequestsUseAnotherConnection) {
  Served served;
  TestServer server([&](const ServedRequest& request, ServerPeer& peer) {
    served.Add(request);
    if (request.target == "/silent") {
      peer.WaitForPeer();
    } else {
      peer.Answer(200, "{}");
    }
  });
  TestClient client(server);
  Request request = Post("/silent", "{}", 10);
  request.timeout = milliseconds(500);
  const auto response = client.Do(request);
  ASSERT_FALSE(response);
  EXPECT_EQ(response.error().reason, kReasonTimeout);
  EXPECT_TRUE(response.error().unknown_outcome());
  EXPECT_TRUE(client.Do(Get("/next")));
  ASSERT_EQ(served.size(), 2u);
  EXPECT_NE(served.all()[0].connection, served.all()[1].connection);
}

TEST(CurlClientTest, ACancelledRequestIsAnsweredWhereverItIs) {
  std::promise<void> arrived;
  TestServer server([&](const ServedRequest& request, ServerPeer& peer) {
    if (request.target == "/busy") {
      peer.Answer(429, "", "text/plain", "Retry-After: 3600\r\n");
    } else {
      arrived.set_value();
      peer.WaitForPeer();
    }
  });
  TestClient client(server, [](ClientOptions& options) {
    options.qps = 0.001;
    options.burst = 2;
  });
  std::shared_ptr<Call> under_way_call;
  std::shared_ptr<Call> retrying_call;
  std::shared_ptr<Call> in_line_call;
  auto under_way = client.Start(Post("/silent", "{}"), &under_way_call);
  Await(arrived.get_future());
  auto retrying = client.Start(Post("/busy", "{}", 3), &retrying_call);
  auto in_line = client.Start(Post("/third", "{}"), &in_line_call);
  for (const auto& call : {under_way_call, retrying_call, in_line_call}) call->Cancel();
  const auto first = Await(std::move(under_way));
  const auto second = Await(std::move(retrying));
  const auto third = Await(std::move(in_line));
  for (const auto* one : {&first, &second, &third}) {
    ASSERT_FALSE(*one);
    EXPECT_EQ(one->error().reason, kReasonCancelled);
  }
  EXPECT_TRUE(first.error().unknown_outcome());
  EXPECT_TRUE(third.error().never_sent);
  under_way_call->Cancel();  // after the end it does nothing
}

TEST(CurlClientTest, CloseCancelsAllAndLaterCallsToo) {
  std::promise<void> arrived;
  TestServer server([&](const ServedRequest&, ServerPeer& peer) {
    arrived.set_value();
    peer.WaitForPeer();
  });
  TestClient client(server, [](ClientOptions& options) {
    options.qps = 0.001;
    options.burst = 1;
  });
  std::vector<std::future<ResponseResult>> calls;
  std::shared_ptr<Call> kept;
  for (int i = 0; i < 10; ++i) calls.push_back(client.Start(Post("/x", "{}"), &kept));
  Await(arrived.get_future());
  client->Close();
  for (auto& call : calls) {
    ASSERT_EQ(call.wait_for(seconds(0)), std::future_status::ready);
    EXPECT_EQ(call.get().error().reason, kReasonCancelled);
  }
  const auto late = client.Do(Get("/late"));
  ASSERT_FALSE(late);
  EXPECT_TRUE(late.error().never_sent);
  std::promise<void> ran;
  client->executor().Post([&] { ran.set_value(); });
  Await(ran.get_future());
  kept->Cancel();
}

// A token comes only as the test lets time pass: after less than the 10 s that let a request go
// ahead of binds.
TEST(CurlClientTest, BindsOvertakeOtherRequestsWhenTheRateIsShort) {
  Served served;
  TestServer server([&](const ServedRequest& request, ServerPeer& peer) {
    served.Add(request);
    peer.Answer(200, "{}");
  });
  TestClient client(server, [](ClientOptions& options) {
    options.qps = 1.0 / 8;
    options.burst = 1;
  });
  std::vector<std::future<ResponseResult>> gets;
  for (const char* path : {"/get1", "/get2", "/get3"}) gets.push_back(client.Start(Get(path)));
  auto bind = client.Start(Post("/bind", "{}"));
  client.Flush();
  EXPECT_TRUE(Await(std::move(gets[0])));
  client.Advance(seconds(8));
  EXPECT_TRUE(Await(std::move(bind)));
  for (const size_t later : std::initializer_list<size_t>{1, 2}) {
    client.Advance(seconds(8));
    EXPECT_TRUE(Await(std::move(gets[later])));
  }
  std::vector<std::string> order;
  for (const ServedRequest& request : served.all()) order.push_back(request.target);
  EXPECT_THAT(order, ElementsAre("/get1", "/bind", "/get2", "/get3"));
}

// With HTTP/1.1 there are 16 slots.
TEST(CurlClientTest, ANamespaceWhoseAnswersAreLateLeavesSlotsToOthersAndTellsOfAllThatWaitForIt) {
  Served served;
  constexpr int kSlow = 100;
  constexpr int kShare = 12;
  std::promise<void> share_is_there;
  std::atomic<int> under_way = 0;
  std::promise<void> end;
  const std::shared_future<void> ended = end.get_future().share();
  TestServer server([&](const ServedRequest& request, ServerPeer& peer) {
    served.Add(request);
    if (request.target.find("/slow/") != std::string::npos) {
      if (++under_way == kShare) share_is_there.set_value();
      ended.wait();
    }
    peer.Answer(200, "{}");
  });
  TestClient client(server, [](ClientOptions& options) { options.qps = -1; });
  std::atomic<int> late = 0;
  std::vector<std::future<ResponseResult>> slow;
  const auto bind = [&](const std::string& name) {
    Request request = Post("/api/v1/namespaces/" + name + "/pods/p/binding", "{}");
    request.timeout = seconds(1000);
    request.on_late = [&late] { ++late; };
    return client.Start(std::move(request));
  };
  for (int i = 0; i < kSlow; ++i) slow.push_back(bind("slow"));
  Await(share_is_there.get_future());
  EXPECT_TRUE(Await(bind("other")));
  EXPECT_EQ(under_way, kShare);
  EXPECT_EQ(late, 0);
  client.Advance(seconds(2));
  client.Flush();
  EXPECT_EQ(late, kSlow) << "those that were sent, and those that wait for them";
  slow.push_back(bind("slow"));
  client.Flush();
  client.Advance(milliseconds(250));
  client.Flush();
  EXPECT_EQ(late, kSlow + 1) << "it waits for others that are late already";
  EXPECT_TRUE(Await(bind("other")));
  EXPECT_EQ(late, kSlow + 1);
  EXPECT_EQ(under_way, kShare);
  EXPECT_EQ(served.size(), static_cast<size_t>(kShare) + 2);
  end.set_value();
  for (auto& one : slow) EXPECT_TRUE(Await(std::move(one)));
  EXPECT_EQ(late, kSlow + 1) << "each is told of once";
}

class CountingObserver final : public RequestObserver {
 public:
  void OnAttempt(const Attempt& attempt) override {
    (attempt.is_retry ? retried : first).push_back(attempt.code);
    host = attempt.host;
    if (attempt.verb == Verb::kWatch) watched.set_value();
  }
  void OnEnd(const End& end) override { ends.push_back(end); }
  void OnRateLimited(Verb, std::string_view, Duration) override { ++turns; }

  std::vector<int> first;
  std::vector<int> retried;
  std::vector<End> ends;
  std::string host;
  int turns = 0;
  std::promise<void> watched;
};

TEST(CurlClientTest, WritesAreHeldBackWhereNobodyMayWrite) {
  Served served;
  TestServer server([&](const ServedRequest& request, ServerPeer& peer) {
    served.Add(request);
    peer.Answer(200, "{}");
  });
  std::atomic<bool> may_write = false;
  TestClient client(server, [&](ClientOptions& options) {
    options.may_write = [&] { return may_write.load(); };
  });
  const struct {
    const char* name;
    Verb verb;
    Priority priority;
    bool held_back;
  } cases[] = {
      {"bind", Verb::kCreate, Priority::kBind, true},
      {"status patch", Verb::kPatch, Priority::kStatusPatch, true},
      {"eviction", Verb::kDelete, Priority::kEviction, true},
      {"plugin's update", Verb::kUpdate, Priority::kOther, true},
      {"read", Verb::kGet, Priority::kOther, false},
      {"event", Verb::kCreate, Priority::kEvent, false},
      {"lease", Verb::kUpdate, Priority::kUnlimited, false},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    Request request = Get("/x");
    request.verb = c.verb;
    request.priority = c.priority;
    may_write = false;
    const size_t before = served.size();
    const auto refused = client.Do(request);
    EXPECT_EQ(refused.has_value(), !c.held_back);
    EXPECT_EQ(served.size() - before, c.held_back ? 0u : 1u);
    if (!refused) {
      EXPECT_EQ(refused.error().reason, kReasonNotLeader);
      EXPECT_TRUE(refused.error().never_sent);
    }
    may_write = true;
    EXPECT_TRUE(client.Do(request));
  }
}

TEST(CurlClientTest, TheObserverSeesEveryAttemptAndEachRequestsEnd) {
  CountingObserver observer;
  std::atomic<int> requests = 0;
  TestServer server([&](const ServedRequest&, ServerPeer& peer) {
    const bool first = requests++ == 0;
    peer.Answer(first ? 429 : 200, first ? "too many" : "12345", "text/plain",
                first ? "Retry-After: 30\r\n" : "");
  });
  {
    TestClient client(server, [&](ClientOptions& options) { options.observer = &observer; });
    auto answer = client.Start(Get("/x", 1));
    while (answer.wait_for(milliseconds(1)) != std::future_status::ready) {
      if (requests > 0) client.Advance(std::chrono::seconds(1));
    }
    EXPECT_TRUE(Await(std::move(answer)));
  }
  EXPECT_THAT(observer.first, ElementsAre(429));
  EXPECT_THAT(observer.retried, ElementsAre(200)) << "what the retry got";
  EXPECT_EQ(observer.turns, 2);
  ASSERT_EQ(observer.ends.size(), 1u);
  EXPECT_EQ(observer.ends[0].response_bytes, 5u) << "the last answer's";
  EXPECT_GE(observer.ends[0].duration, std::chrono::seconds(30)) << "with the wait";
  EXPECT_EQ(observer.host, "127.0.0.1:" + std::to_string(server.port()));
}

TEST(CurlClientTest, TheObserverSeesWhatGotNoAnswer) {
  CountingObserver observer;
  TestServer server([](const ServedRequest&, ServerPeer& peer) { peer.Reset(); });
  {
    TestClient client(server, [&](ClientOptions& options) { options.observer = &observer; });
    Request lease = Post("/x", "{}");
    lease.priority = Priority::kUnlimited;
    EXPECT_FALSE(client.Do(std::move(lease)));
  }
  EXPECT_THAT(observer.first, ElementsAre(0));
  EXPECT_EQ(observer.turns, 1) << "it did not wait";
  ASSERT_EQ(observer.ends.size(), 1u);
  EXPECT_EQ(observer.ends[0].response_bytes, std::nullopt);
}

TEST(CurlClientTest, TheObserverSeesAWatchWhenItBegins) {
  CountingObserver observer;
  TestServer server([](const ServedRequest&, ServerPeer& peer) {
    peer.Send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
    peer.WaitForPeer();
  });
  {
    TestClient client(server, [&](ClientOptions& options) { options.observer = &observer; });
    test::StartWatch(*client);
    Await(observer.watched.get_future());
  }
  EXPECT_THAT(observer.first, ElementsAre(200)) << "and once";
  EXPECT_EQ(observer.turns, 0);
}

TEST(CurlClientTest, TheObserverSeesAWatchThatEndsBeforeItsAnswer) {
  CountingObserver observer;
  std::promise<void> asked;
  TestServer server([&](const ServedRequest&, ServerPeer& peer) {
    asked.set_value();
    peer.WaitForPeer();
  });
  {
    TestClient client(server, [&](ClientOptions& options) { options.observer = &observer; });
    test::StartWatch(*client);
    Await(asked.get_future());
  }
  EXPECT_THAT(observer.first, ElementsAre(0));
}

TEST(CurlClientTest, ManyThreadsMaySendAndCancelAtOnce) {
  TestServer server([](const ServedRequest&, ServerPeer& peer) { peer.Answer(200, "{}"); });
  TestClient client(server, [](ClientOptions& options) { options.qps = -1; });
  std::atomic<int> answered = 0;
  {
    std::vector<base::NamedThread> senders;
    for (int i = 0; i < 4; ++i) {
      senders.emplace_back("sender", [&] {
        for (int j = 0; j < 100; ++j) {
          const auto call =
              client->Send(Post("/x", "{}"), [&](const ResponseResult&) { ++answered; });
          if (j % 3 == 0) call->Cancel();
        }
      });
    }
  }
  client->Close();
  EXPECT_EQ(answered, 400);
}

}  // namespace
}  // namespace berth::client
