// SPDX-License-Identifier: Apache-2.0
#include "src/serving/http_server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <future>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "src/base/clock.h"
#include "src/base/thread.h"
#include "tests/support/plain_client.h"
#include "tests/unit/serving/der.h"
#include "tests/unit/serving/resident_bytes.h"
#include "tests/unit/serving/tls_client.h"

namespace berth::serving {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using test::ConnectTcp;
using test::PlainClient;
using test::ResidentBytes;
using test::TlsClient;
using testing::HasSubstr;
using testing::StartsWith;

// Answers /livez with "ok", /echo with what it got, and keeps /never for the test to answer.
class HttpServerTest : public testing::Test {
 protected:
  void Start(const ServerLimits& limits = {}) {
    auto tls = TlsContext::Make({}, clock_.Now());
    ASSERT_TRUE(tls.has_value()) << tls.error().message;
    tls_ = std::move(*tls);
    StartWithTls(tls_.get(), limits);
  }
  void StartWithTls(const TlsContext* tls, const ServerLimits& limits) {
    auto server = HttpServer::Listen(
        {.address = "127.0.0.1"}, limits, tls, loop_,
        [this](const RequestPtr& request, Respond respond) { Serve(request, std::move(respond)); });
    ASSERT_TRUE(server.has_value()) << server.error().message;
    server_ = std::move(*server);
    thread_ = base::NamedThread("test-serve", [this] { loop_.Run(); });
    loop_.Post([this] { server_->Start(); });
  }
  ~HttpServerTest() override {
    loop_.Post([this] { server_.reset(); });
    loop_.Stop();
    thread_.Join();
  }

  void Serve(const RequestPtr& request, Respond respond) {
    if (request->path == "/never") {
      request->departure->OnGone([this] {
        ++gone_;
        gone_.notify_all();
      });
      const std::lock_guard lock(mutex_);
      kept_.push_back(std::move(respond));
      num_kept_ = kept_.size();
      num_kept_.notify_all();
      return;
    }
    Response response;
    response.body = "ok";
    if (request->path == "/echo") {
      response.body = request->method + "|" + request->body + "|" +
                      std::to_string(request->client_chain.size());
      for (const std::string& der : request->client_chain) response.body += "|" + der;
    }
    if (request->path == "/large") response.body = std::string(4'000'000, 'x');
    respond(std::move(response));
  }
  // How many connections the server has, by its own thread.
  size_t NumConnections() {
    std::promise<size_t> open;
    loop_.Post([&] { open.set_value(server_->num_connections()); });
    return open.get_future().get();
  }
  int port() const { return server_->port(); }

  base::RealClock clock_;
  base::EventLoop loop_{clock_};
  std::unique_ptr<TlsContext> tls_;
  std::unique_ptr<HttpServer> server_;
  base::NamedThread thread_;
  std::mutex mutex_;
  std::vector<Respond> kept_;
  std::atomic<size_t> num_kept_ = 0;
  std::atomic<int> gone_ = 0;  // clients of /never that wait no longer
};

TEST_F(HttpServerTest, AnswersSeveralRequestsOnOneConnection) {
  Start();
  TlsClient client(port());
  ASSERT_TRUE(client.connected());
  EXPECT_THAT(client.Get("/livez"),
              testing::AllOf(StartsWith("HTTP/1.1 200 OK\r\n"), testing::EndsWith("\r\n\r\nok")));
  EXPECT_THAT(client.Get("/echo"), testing::EndsWith("\r\n\r\nGET||0"));
  // Two at once, the body of the first in pieces.
  client.Send("POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhe");
  client.Send("lloGET /livez HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_THAT(client.ReadAnswer(), HasSubstr("POST|hello|0"));
  EXPECT_THAT(client.ReadAnswer(), testing::EndsWith("ok"));
  EXPECT_EQ(client.Get("/large").size() / 1'000'000, 4u);
}

std::string Post(const std::string& path, size_t bytes) {
  return "POST " + path + " HTTP/1.1\r\nHost: x\r\nContent-Length: " + std::to_string(bytes) +
         "\r\n\r\n";
}

TEST_F(HttpServerTest, SomePathsTakeLargerBodies) {
  Start({.body_bytes = 100, .body_bytes_of = {{"/echo", 1000}}});
  const std::string body(1000, 'b');
  TlsClient client(port());
  client.Send(Post("/echo", 1000) + body);
  EXPECT_THAT(client.ReadAnswer(), HasSubstr("POST|" + body + "|0"));
  client.Send(Post("/echo", 1001));
  EXPECT_THAT(client.ReadAnswer(), StartsWith("HTTP/1.1 413 "));
  TlsClient other(port());
  other.Send(Post("/other", 101));
  EXPECT_THAT(other.ReadAnswer(), StartsWith("HTTP/1.1 413 "));
}

TEST_F(HttpServerTest, LargeBodiesShareABoundUntilTheyAreAnswered) {
  Start({.body_bytes = 100,
         .body_bytes_of = {{"/echo", 1000}, {"/never", 1000}},
         .large_bodies_bytes = 1500});
  const std::string body(1000, 'b');
  {
    TlsClient kept(port());
    kept.Send(Post("/never", 1000) + body);
    num_kept_.wait(0);
    TlsClient refused(port());
    refused.Send(Post("/echo", 1000) + body);
    EXPECT_THAT(refused.ReadAnswer(), StartsWith("HTTP/1.1 429 "));
    TlsClient small(port());
    small.Send(Post("/echo", 100) + std::string(100, 's'));
    EXPECT_THAT(small.ReadAnswer(), StartsWith("HTTP/1.1 200 "));
  }
  // The client has gone, and its body with it.
  gone_.wait(0);
  for (int i = 0; i < 5; ++i) {
    TlsClient client(port());
    client.Send(Post("/echo", 1000) + body);
    EXPECT_THAT(client.ReadAnswer(), StartsWith("HTTP/1.1 200 "));
  }
}

TEST_F(HttpServerTest, ClosesWhereTheClientAsksForIt) {
  Start();
  TlsClient client(port());
  client.Send("GET /livez HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
  EXPECT_THAT(client.ReadAnswer(), HasSubstr("\r\nConnection: close\r\n"));
  EXPECT_TRUE(client.AtEnd());
}

TEST_F(HttpServerTest, TheHandlerSeesTheClientsCertificate) {
  Start();
  const test::TestAuthority authority;
  const test::CertifiedKey identity = authority.Issue("jane", {});
  for (const int version : {0x0303, 0x0304}) {
    SCOPED_TRACE(version);
    TlsClient client(port(), {.identity = &identity, .max_version = version});
    EXPECT_THAT(client.Get("/echo"),
                testing::EndsWith("GET||1|" + test::Der(identity.certificate_pem)));
  }
}

TEST_F(HttpServerTest, SpeaksHttp11ToClientsThatPreferHttp2) {
  Start();
  TlsClient client(port(), {.protocols = "\x02h2\x08http/1.1"});
  EXPECT_EQ(client.protocol(), "http/1.1");
  EXPECT_THAT(client.Get("/livez"), StartsWith("HTTP/1.1 200"));
}

TEST_F(HttpServerTest, RequestsBeyondTheLimitsAreRefusedAndTheConnectionClosed) {
  Start({.head_bytes = 1000, .body_bytes = 100});
  const struct {
    const char* name;
    std::string text;
    const char* answer;
  } cases[] = {
      {"a long head", "GET / HTTP/1.1\r\nHost: x\r\nA: " + std::string(2000, 'a') + "\r\n\r\n",
       "HTTP/1.1 431 "},
      {"a long target", "GET /" + std::string(2000, 'a'), "HTTP/1.1 431 "},
      {"a long body", "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 101\r\n\r\n", "HTTP/1.1 413 "},
      {"another language", "hello\r\n\r\n", "HTTP/1.1 400 "},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    TlsClient client(port());
    client.Send(c.text);
    EXPECT_THAT(client.ReadAnswer(), StartsWith(c.answer));
    EXPECT_TRUE(client.AtEnd());
  }
}

TEST_F(HttpServerTest, AClientThatSendsOnReadsWhyItIsRefused) {
  Start({.body_bytes = 100});
  // More than the sockets' buffers hold, so that it is still sending when the answer comes.
  const std::string body(3'000'000, 'b');
  for (int i = 0; i < 20; ++i) {
    TlsClient client(port());
    EXPECT_TRUE(client.Send(Post("/echo", body.size()) + body));
    EXPECT_THAT(client.ReadAnswer(), StartsWith("HTTP/1.1 413 "));
    EXPECT_TRUE(client.AtEnd());
  }
}

TEST_F(HttpServerTest, AClientThatNeverClosesIsClosed) {
  Start({.closing = milliseconds(100)});
  TlsClient client(port());
  client.Send("GET /livez HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
  EXPECT_THAT(client.ReadAnswer(), HasSubstr("ok"));
  const Time limit = clock_.Now() + seconds(20);
  while (NumConnections() != 0 && clock_.Now() < limit) std::this_thread::yield();
  EXPECT_EQ(NumConnections(), 0u);
}

TEST_F(HttpServerTest, SlowClientsAreClosedWhenTheirTimeIsUp) {
  Start({.handshake = milliseconds(100), .head = milliseconds(100), .idle = milliseconds(100)});
  const int silent = ConnectTcp(port());
  TlsClient half(port());
  half.Send("GET / HTTP/1.1\r\n");
  TlsClient idle(port());
  EXPECT_THAT(idle.Get("/livez"), HasSubstr("ok"));
  char byte = 0;
  EXPECT_EQ(read(silent, &byte, 1), 0);
  EXPECT_TRUE(half.AtEnd());
  EXPECT_TRUE(idle.AtEnd());
  close(silent);
}

TEST_F(HttpServerTest, AnAnswerThatNeverComesEndsTheConnection) {
  Start({.answer = milliseconds(100)});
  TlsClient client(port());
  EXPECT_THAT(client.Get("/never"), StartsWith("HTTP/1.1 504 "));
  EXPECT_TRUE(client.AtEnd());
  // Too late: the client has gone.
  ASSERT_EQ(num_kept_, 1u);
  kept_[0](Response());
  EXPECT_EQ(gone_, 1);
}

TEST_F(HttpServerTest, AClientThatClosesBeforeItsAnswerHasGone) {
  Start();
  {
    TlsClient client(port());
    client.Send("GET /never HTTP/1.1\r\nHost: x\r\n\r\n");
    num_kept_.wait(0);
    EXPECT_EQ(gone_, 0);
  }
  gone_.wait(0);
  EXPECT_EQ(NumConnections(), 0u);
}

TEST_F(HttpServerTest, ShutdownLetsAnswersUnderWayOut) {
  Start();
  TlsClient idle(port());
  idle.Get("/livez");
  TlsClient busy(port());
  busy.Send("GET /never HTTP/1.1\r\nHost: x\r\n\r\n");
  num_kept_.wait(0);
  std::atomic<bool> done = false;
  loop_.Post([&] {
    server_->Shutdown(seconds(20), [&done] {
      done = true;
      done.notify_all();
    });
  });
  EXPECT_TRUE(idle.AtEnd());
  EXPECT_FALSE(done);
  kept_[0](Response{.body = "late"});
  EXPECT_THAT(busy.ReadAnswer(), HasSubstr("Connection: close"));
  EXPECT_TRUE(busy.AtEnd());
  done.wait(false);
  EXPECT_EQ(ConnectTcp(port()), -1);
}

TEST_F(HttpServerTest, AnAddressThatIsTakenIsAnError) {
  Start();
  const auto second = HttpServer::Listen({.address = "127.0.0.1", .port = port()}, {}, tls_.get(),
                                         loop_, [](const RequestPtr&, const Respond&) {});
  ASSERT_FALSE(second.has_value());
  EXPECT_THAT(second.error().message, HasSubstr("Address already in use"));
}

TEST_F(HttpServerTest, WithoutTlsItSpeaksHttpInTheClear) {
  StartWithTls(nullptr, {.body_bytes = 100'000});
  PlainClient client(port());
  client.Send("GET /livez HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_THAT(client.ReadUntil("ok"), StartsWith("HTTP/1.1 200 OK\r\n"));
  // On the same connection, a body in pieces, and an answer that no socket's buffer holds.
  const std::string body(90'000, 'b');
  client.Send("POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 90000\r\n\r\n");
  client.Send(body);
  EXPECT_THAT(client.ReadUntil("|0"), testing::EndsWith("\r\n\r\nPOST|" + body + "|0"));
  client.Send("GET /large HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
  EXPECT_THAT(client.ReadUntil(std::string(4'000'000, 'x')), StartsWith("HTTP/1.1 200"));
  EXPECT_EQ(client.ReadUntil("more"), "") << "it has been closed";
}

TEST_F(HttpServerTest, WithoutTlsAClientThatClosesHasGone) {
  StartWithTls(nullptr, {});
  {
    PlainClient client(port());
    client.Send("GET /never HTTP/1.1\r\nHost: x\r\n\r\n");
    num_kept_.wait(0);
  }
  gone_.wait(0);
  EXPECT_EQ(gone_, 1);
}

TEST_F(HttpServerTest, WithoutTlsItListensOnThisMachinesOwnAddressesAlone) {
  StartWithTls(nullptr, {});
  for (const char* address : {"0.0.0.0", "::", "192.0.2.1", "::ffff:127.0.0.1"}) {
    SCOPED_TRACE(address);
    const auto server = HttpServer::Listen({.address = address}, {}, nullptr, loop_,
                                           [](const RequestPtr&, const Respond&) {});
    ASSERT_FALSE(server.has_value());
    EXPECT_THAT(server.error().message, HasSubstr("without TLS"));
  }
  EXPECT_TRUE(HttpServer::Listen({.address = "127.3.2.1"}, {}, nullptr, loop_,
                                 [](const RequestPtr&, const Respond&) {})
                  .has_value());
}

class HostileClientsTest : public HttpServerTest {
 protected:
  // How long a new client waits for /livez.
  Duration TimeToLive() {
    const Time began = clock_.Now();
    TlsClient client(port());
    EXPECT_THAT(client.Get("/livez"), testing::EndsWith("ok"));
    return clock_.Now() - began;
  }
};

TEST_F(HostileClientsTest, AThousandIdleConnectionsNeitherDelayOthersNorFillTheMemory) {
  Start();
  TimeToLive();
  const size_t before = ResidentBytes();
  std::vector<int> idle;
  for (int i = 0; i < 1000; ++i) idle.push_back(ConnectTcp(port()));
  EXPECT_LT(TimeToLive(), seconds(1));
  EXPECT_LT(ResidentBytes(), before + (20u << 20));
  EXPECT_LE(NumConnections(), ServerLimits().connections);
  for (const int fd : idle) close(fd);
}

TEST_F(HostileClientsTest, SlowHeadsDoNotDelayOthers) {
  Start();
  std::vector<std::unique_ptr<TlsClient>> slow;
  for (int i = 0; i < 300; ++i) {
    slow.push_back(std::make_unique<TlsClient>(port()));
    slow.back()->Send("GET /livez HTTP/1.1\r\nX: ");
    if (i % 100 == 99) {
      EXPECT_LT(TimeToLive(), seconds(1));
    }
  }
}

TEST_F(HostileClientsTest, AnEndlessHeaderIsCutOff) {
  Start();
  TimeToLive();
  const size_t before = ResidentBytes();
  TlsClient client(port());
  ASSERT_TRUE(client.Send("GET / HTTP/1.1\r\nX: "));
  const std::string part(16 * 1024, 'x');
  size_t sent = 0;
  while (sent < (1u << 30) && client.Send(part)) sent += part.size();
  EXPECT_LT(sent, 16u << 20);  // what the sockets' buffers hold
  EXPECT_LT(TimeToLive(), seconds(1));
  EXPECT_LT(ResidentBytes(), before + (20u << 20));
}

TEST_F(HostileClientsTest, KeyUpdatesNeitherHoldTheThreadNorGoOnForEver) {
  Start();
  TlsClient client(port());
  // A client may change its key from time to time.
  for (int i = 0; i < 3; ++i) {
    EXPECT_TRUE(client.SendKeyUpdates(16));
    EXPECT_THAT(client.Get("/livez"), testing::EndsWith("ok"));
  }
  base::NamedThread hostile("test-hostile", [&client] { client.SendKeyUpdates(5'000); });
  std::atomic<bool> done = false;
  base::NamedThread waiting("test-waiting", [&] {
    hostile.Join();
    done = true;
  });
  Duration longest{};
  while (!done) longest = std::max(longest, TimeToLive());
  EXPECT_LT(longest, seconds(1));
  EXPECT_EQ(client.Get("/livez"), "") << "it has been cut off";
}

}  // namespace
}  // namespace berth::serving
