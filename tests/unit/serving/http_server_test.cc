// SPDX-License-Identifier: Apache-2.0
#include "src/serving/http_server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <openssl/ssl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <fstream>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <sstream>
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

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;
using test::ConnectTcp;
using test::PlainClient;
using test::ResidentBytes;
using test::TlsClient;
using testing::HasSubstr;
using testing::StartsWith;

// The real time, which a test may set forward.
class AheadClock final : public Clock {
 public:
  Time Now() const override { return real_.Now() + Duration(ahead_); }
  void SetForward(Duration by) { ahead_ += by.count(); }

 private:
  base::RealClock real_;
  std::atomic<Duration::rep> ahead_ = 0;
};

// Bytes that the kernel keeps of what was sent from a port of 127.0.0.1, and the other end has not
// taken.
size_t UnreadBytes(int port) {
  std::ifstream file("/proc/net/tcp");
  std::string line;
  std::getline(file, line);
  size_t sum = 0;
  while (std::getline(file, line)) {
    // "0: 0100007F:1F90 0100007F:8D2C 01 00027100:00000000 ...": own address, other one, state, and
    // what is to be sent and to be read.
    std::istringstream words(line);
    std::string number;
    std::string own;
    std::string other;
    std::string state;
    std::string queues;
    words >> number >> own >> other >> state >> queues;
    const bool listens = state == "0A";
    if (listens || std::stoi(own.substr(own.find(':') + 1), nullptr, 16) != port) continue;
    sum += std::stoul(queues.substr(0, queues.find(':')), nullptr, 16);
  }
  return sum;
}

// Whether a client gets a connection from ::1; without a server, whether this machine has ::1.
bool ConnectsOverIpv6(const HttpServer* server) {
  const int fd = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in6 address{};
  address.sin6_family = AF_INET6;
  address.sin6_addr = in6addr_loopback;
  if (server != nullptr) address.sin6_port = htons(static_cast<uint16_t>(server->port()));
  const auto call = server == nullptr ? bind : connect;
  const bool done = call(fd, reinterpret_cast<sockaddr*>(&address), sizeof(address)) == 0;
  if (fd >= 0) close(fd);
  return done;
}

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
        [this](const RequestPtr& request, Respond respond) { Serve(request, std::move(respond)); },
        admit_);
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
    if (request->path == "/peer") response.body = request->peer;
    if (request->path == "/large") response.body = std::string(4'000'000, 'x');
    if (request->path == "/small") response.shared_body = small_;
    if (request->path == "/shared") response.shared_body = shared_;
    respond(std::move(response));
  }
  // How many connections the server has, by its own thread.
  size_t NumConnections() {
    std::promise<size_t> open;
    loop_.Post([&] { open.set_value(server_->num_connections()); });
    return open.get_future().get();
  }
  int port() const { return server_->port(); }

  Admit admit_;  // set before Start()
  // A client that asks for something and reads nothing yet, nor does its kernel read much.
  std::unique_ptr<TlsClient> Ask(const std::string& path, const std::string& source) {
    constexpr int kReceiveBuffer = 64 * 1024;
    auto client = std::make_unique<TlsClient>(
        port(), TlsClient::Options{.source = source, .receive_buffer = kReceiveBuffer});
    client->Send("GET " + path + " HTTP/1.1\r\nHost: x\r\n\r\n");
    return client;
  }
  using Lazy = std::vector<std::unique_ptr<TlsClient>>;
  Lazy AskAndDoNotRead(int count, const std::string& path, const std::string& source) {
    Lazy lazy;
    for (int i = 0; i < count; ++i) lazy.push_back(Ask(path, source));
    return lazy;
  }
  std::string CodeOf(const std::string& path, const std::string& source = "127.0.0.1") {
    return TlsClient(port(), {.source = source}).Get(path).substr(0, 12);
  }
  // Waits for so many that read the shared body; false: there are not in 20 s. None of them is
  // still to be answered then, so the clock may go forward.
  bool AwaitReaders(size_t count) {
    const Time limit = clock_.Now() + seconds(20);
    while (NumReaders() != count && clock_.Now() < limit) std::this_thread::yield();
    return NumReaders() == count;  // the loop has written what was posted before
  }
  // By the server's own thread, which holds one for each: while an answer is handed on, there are
  // two of it.
  size_t NumReaders() {
    std::promise<long> uses;
    loop_.Post([&] { uses.set_value(shared_.use_count()); });
    return static_cast<size_t>(uses.get_future().get()) - 1;
  }

  AheadClock clock_;
  base::EventLoop loop_{clock_};
  std::unique_ptr<TlsContext> tls_;
  std::unique_ptr<HttpServer> server_;
  base::NamedThread thread_;
  std::mutex mutex_;
  std::vector<Respond> kept_;
  std::atomic<size_t> num_kept_ = 0;
  const std::shared_ptr<const std::string> shared_ =
      std::make_shared<const std::string>(12'000'000, 's');
  const std::shared_ptr<const std::string> small_ = std::make_shared<const std::string>(2000, 's');
  std::atomic<int> gone_ = 0;  // clients of /never that wait no longer
};

TEST_F(HttpServerTest, ARequestKnowsWhereItComesFrom) {
  Start();
  EXPECT_THAT(TlsClient(port()).Get("/peer"), testing::EndsWith("\r\n\r\n127.0.0.1"));
}

// Also while it is asked whether its body may come: whose question that is counts there.
TEST_F(HttpServerTest, AHeadBeforeItsBodyKnowsWhereItComesFrom) {
  std::promise<std::string> peer;
  admit_ = [&peer](const RequestPtr& head, const Decide& decide) {
    peer.set_value(head->peer);
    decide(std::nullopt);
  };
  Start();
  TlsClient client(port(), {.source = "127.0.0.2"});
  client.Send("POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\n\r\nx");
  EXPECT_EQ(peer.get_future().get(), "127.0.0.2");
  EXPECT_THAT(client.ReadAnswer(), StartsWith("HTTP/1.1 200 "));
}

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

// 256 readers of 15 MB each were given 3.9 GB.
TEST_F(HttpServerTest, ResponsesThatAreNotReadHaveABudgetThatASharedBodyTakesOnce) {
  Start({.responses_bytes = 14'000'000, .lag = hours(1)});
  EXPECT_EQ(CodeOf("/large"), "HTTP/1.1 200");
  // More than the sockets' buffers hold.
  Lazy lazy = AskAndDoNotRead(20, "/shared", "127.0.0.1");
  ASSERT_TRUE(AwaitReaders(20));
  EXPECT_EQ(CodeOf("/large", "127.0.0.2"), "HTTP/1.1 429");
  EXPECT_EQ(NumReaders(), 20u);
  // What shares its bytes is answered.
  TlsClient other(port());
  EXPECT_TRUE(other.Get("/shared").ends_with(*shared_));
  // What their clients no longer wait for is free again.
  lazy.clear();
  ASSERT_TRUE(AwaitReaders(0));
  EXPECT_EQ(CodeOf("/large"), "HTTP/1.1 200");
}

TEST_F(HttpServerTest, WhoTakesNothingIsClosedWhereOthersWait) {
  Start({.responses_bytes = 14'000'000, .write = hours(20), .lag = hours(1)});
  const Lazy lazy = AskAndDoNotRead(20, "/shared", "127.0.0.1");
  ASSERT_TRUE(AwaitReaders(20));
  clock_.SetForward(minutes(59));
  EXPECT_EQ(CodeOf("/large", "127.0.0.2"), "HTTP/1.1 429");
  clock_.SetForward(minutes(2));
  // It needs no more room, so they stay.
  EXPECT_EQ(CodeOf("/shared"), "HTTP/1.1 200");
  EXPECT_TRUE(AwaitReaders(20));
  EXPECT_EQ(CodeOf("/large", "127.0.0.2"), "HTTP/1.1 200");
  EXPECT_TRUE(AwaitReaders(0));
  // Nothing of theirs is left in the kernel, either.
  const Time limit = clock_.Now() + seconds(20);
  while (UnreadBytes(port()) > 0 && clock_.Now() < limit) std::this_thread::yield();
  EXPECT_EQ(UnreadBytes(port()), 0u);
  EXPECT_LT(lazy[0]->ReadAnswer().size(), shared_->size());
}

// One that reads shares the body: nothing would be free without the others.
TEST_F(HttpServerTest, WhoReadsIsNotClosedNorIsWhoSharesItsBody) {
  Start({.responses_bytes = 14'000'000, .write = hours(20), .lag = hours(1)});
  const Lazy lazy = AskAndDoNotRead(3, "/shared", "127.0.0.1");
  const auto reads = Ask("/shared", "127.0.0.1");
  ASSERT_TRUE(AwaitReaders(4));
  // A pace at which all of it would take 8 hours.
  for (int i = 0; i < 4; ++i) {
    SCOPED_TRACE(i);
    clock_.SetForward(minutes(59));
    ASSERT_TRUE(reads->Read(1'500'000));
    EXPECT_EQ(CodeOf("/large", "127.0.0.2"), "HTTP/1.1 429");
    EXPECT_TRUE(AwaitReaders(4));
  }
  EXPECT_TRUE(reads->Read(6'000'000));
  ASSERT_TRUE(AwaitReaders(3));
  EXPECT_EQ(CodeOf("/large", "127.0.0.2"), "HTTP/1.1 200");
  EXPECT_TRUE(AwaitReaders(0));
}

TEST_F(HttpServerTest, WhoWouldNotHaveAllInTimeLags) {
  Start({.responses_bytes = 14'000'000, .write = hours(20), .lag = hours(1)});
  const auto trickles = Ask("/shared", "127.0.0.1");
  ASSERT_TRUE(AwaitReaders(1));
  // Beyond what the buffers took at first, it takes some every 50 minutes.
  ASSERT_TRUE(trickles->Read(1'000'000));
  for (int i = 0; i < 4; ++i) {
    clock_.SetForward(minutes(50));
    ASSERT_TRUE(trickles->Read(300'000));
  }
  clock_.SetForward(hours(5));
  ASSERT_TRUE(trickles->Read(300'000));
  EXPECT_EQ(CodeOf("/large", "127.0.0.2"), "HTTP/1.1 200");
  EXPECT_FALSE(trickles->Read(9'000'000));
}

TEST_F(HttpServerTest, WhoHasTakenLeastIsClosedFirst) {
  Start({.responses_bytes = 17'000'000, .write = hours(20), .lag = hours(1)});
  // Of 4 MB each, three of them to one address, which is all that it may have.
  Lazy lazy = AskAndDoNotRead(3, "/large", "127.0.0.1");
  lazy.push_back(Ask("/large", "127.0.0.2"));
  for (const size_t i : {0u, 2u, 3u}) ASSERT_TRUE(lazy[i]->Read(2'000'000));
  EXPECT_EQ(CodeOf("/livez"), "HTTP/1.1 200");
  clock_.SetForward(hours(2));
  EXPECT_EQ(CodeOf("/large", "127.0.0.3"), "HTTP/1.1 200");
  EXPECT_FALSE(lazy[1]->Read(3'900'000));
  for (const size_t i : {0u, 2u, 3u}) EXPECT_TRUE(lazy[i]->Read(1'900'000));
}

// It could ask again as soon as it lags.
TEST_F(HttpServerTest, OneAddressLeavesOthersAQuarterOfTheBudget) {
  Start({.responses_bytes = 17'000'000, .write = hours(20), .lag = hours(1)});
  const Lazy lazy = AskAndDoNotRead(3, "/large", "127.0.0.1");
  EXPECT_EQ(CodeOf("/livez"), "HTTP/1.1 200");
  EXPECT_EQ(CodeOf("/large"), "HTTP/1.1 429");
  EXPECT_EQ(CodeOf("/large", "127.0.0.2"), "HTTP/1.1 200");
  // Of those who lag only its own go for it.
  const auto other = Ask("/large", "127.0.0.2");
  EXPECT_EQ(CodeOf("/livez"), "HTTP/1.1 200");
  clock_.SetForward(hours(2));
  EXPECT_EQ(CodeOf("/large"), "HTTP/1.1 200");
  EXPECT_TRUE(other->Read(4'000'000));
}

// The kernel took all 4 MB of each, which count as the daemon's.
TEST_F(HttpServerTest, TheKernelKeepsLittleForWhoDoesNotRead) {
  Start();
  const Lazy lazy = AskAndDoNotRead(4, "/large", "127.0.0.1");
  size_t most = 0;
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(CodeOf("/livez"), "HTTP/1.1 200");
    most = std::max(most, UnreadBytes(port()));
  }
  EXPECT_GT(most, 0u);
  EXPECT_LE(most, lazy.size() * 500'000);
}

TEST_F(HttpServerTest, WhatIsSmallIsAnsweredWhereThereIsNoRoom) {
  Start({.responses_bytes = 1});
  const auto lazy = Ask("/shared", "127.0.0.1");
  ASSERT_TRUE(AwaitReaders(1));
  EXPECT_EQ(CodeOf("/large"), "HTTP/1.1 429");
  EXPECT_EQ(CodeOf("/livez"), "HTTP/1.1 200");
  EXPECT_EQ(CodeOf("/small"), "HTTP/1.1 200") << "though others may share it";
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

TEST_F(HttpServerTest, LargeBodiesOfOneAddressLeaveRoomForOthers) {
  Start({.body_bytes = 100,
         .body_bytes_of = {{"/echo", 1000}, {"/never", 1000}},
         .large_bodies_bytes = 4000});
  const std::string body(1000, 'b');
  const auto post = [&](const std::string& path, const std::string& source) {
    auto client = std::make_unique<TlsClient>(port(), TlsClient::Options{.source = source});
    client->Send(Post(path, body.size()) + body);
    return client;
  };
  Lazy kept;
  for (int i = 0; i < 3; ++i) kept.push_back(post("/never", "127.0.0.1"));
  for (size_t now = num_kept_; now < 3; now = num_kept_) num_kept_.wait(now);
  EXPECT_THAT(post("/echo", "127.0.0.1")->ReadAnswer(), StartsWith("HTTP/1.1 429 "));
  EXPECT_THAT(post("/echo", "127.0.0.2")->ReadAnswer(), StartsWith("HTTP/1.1 200 "));
}

TEST_F(HttpServerTest, NoBodyIsReadBeforeItsSenderIsLetIn) {
  std::mutex mutex;
  std::vector<Decide> waiting;
  std::atomic<int> num_waiting = 0;
  admit_ = [&](const RequestPtr& head, Decide decide) {
    EXPECT_EQ(head->path, "/echo");
    EXPECT_EQ(head->body, "");
    const std::lock_guard lock(mutex);
    waiting.push_back(std::move(decide));
    num_waiting = static_cast<int>(waiting.size());
  };
  Start({.body_bytes_of = {{"/echo", 3'000'000}}, .large_bodies_bytes = 3'000'000});
  const std::string body(3'000'000, 'b');
  const auto await = [&](int count) {
    const Time limit = clock_.Now() + seconds(20);
    while (num_waiting < count && clock_.Now() < limit) std::this_thread::yield();
    return num_waiting == count;
  };
  // Strangers take nothing of the bound that large bodies share.
  std::vector<std::unique_ptr<TlsClient>> strangers;
  for (int i = 0; i < 10; ++i) {
    strangers.emplace_back(std::make_unique<TlsClient>(port()))
        ->Send(Post("/echo", body.size()) + std::string(1000, 's'));
  }
  ASSERT_TRUE(await(10)) << num_waiting;
  TlsClient known(port());
  base::NamedThread sends("test-sends",
                          [&] { EXPECT_TRUE(known.Send(Post("/echo", body.size()) + body)); });
  ASSERT_TRUE(await(11)) << num_waiting;
  waiting[10](std::nullopt);
  sends.Join();
  EXPECT_THAT(known.ReadAnswer(), HasSubstr("POST|" + body + "|0"));
  for (int i = 0; i < 10; ++i) waiting[static_cast<size_t>(i)](ErrorText(401, "who are you?"));
  for (const auto& stranger : strangers) {
    EXPECT_THAT(stranger->ReadAnswer(), StartsWith("HTTP/1.1 401 "));
    EXPECT_TRUE(stranger->AtEnd());
  }
  // Without a body there is nothing to ask.
  EXPECT_THAT(known.Get("/livez"), testing::EndsWith("ok"));
  EXPECT_EQ(num_waiting, 11);
}

TEST_F(HttpServerTest, WhoIsNotLetInInTimeIsRefused) {
  admit_ = [](const RequestPtr&, const Decide&) {};
  Start({.answer = milliseconds(100)});
  TlsClient client(port());
  client.Send(Post("/echo", 5) + "hello");
  EXPECT_THAT(client.ReadAnswer(), StartsWith("HTTP/1.1 504 "));
  EXPECT_TRUE(client.AtEnd());
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

TEST_F(HttpServerTest, EitherUnspecifiedAddressStandsForBothFamilies) {
  if (!ConnectsOverIpv6(nullptr)) GTEST_SKIP() << "there is no IPv6";
  for (const char* address : {"0.0.0.0", "::"}) {
    SCOPED_TRACE(address);
    const auto tls = TlsContext::Make({}, clock_.Now());
    ASSERT_TRUE(tls.has_value()) << tls.error().message;
    const auto server = HttpServer::Listen({.address = address}, {}, tls->get(), loop_,
                                           [](const RequestPtr&, const Respond&) {});
    ASSERT_TRUE(server.has_value()) << server.error().message;
    const int fd = ConnectTcp((*server)->port());
    EXPECT_GE(fd, 0);
    close(fd);
    EXPECT_TRUE(ConnectsOverIpv6(server->get()));
  }
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
  EXPECT_LT(TimeToLive(), seconds(5));
  EXPECT_LT(ResidentBytes(), before + (20u << 20));
  EXPECT_LE(NumConnections(), ServerLimits().connections);
  for (const int fd : idle) close(fd);
}

// Another address, which waited longest, would have been dropped for each of them.
TEST_F(HostileClientsTest, ConnectionsOfOneAddressTakeThePlacesOfItsOwn) {
  Start({.connections = 8});
  TlsClient other(port(), {.source = "127.0.0.2"});
  ASSERT_TRUE(other.connected());
  std::vector<int> idle;
  for (int i = 0; i < 100; ++i) idle.push_back(ConnectTcp(port()));
  EXPECT_LE(NumConnections(), 8u);
  EXPECT_THAT(other.Get("/livez"), testing::EndsWith("ok"));
  // Likewise one that comes while they are there.
  TlsClient late(port(), {.source = "127.0.0.3"});
  for (int i = 0; i < 100; ++i) idle.push_back(ConnectTcp(port()));
  EXPECT_THAT(late.Get("/livez"), testing::EndsWith("ok"));
  for (const int fd : idle) close(fd);
}

// What a client says first.
std::string ClientHello() {
  SSL_CTX* context = SSL_CTX_new(TLS_client_method());
  SSL* session = SSL_new(context);
  SSL_set_bio(session, BIO_new(BIO_s_mem()), BIO_new(BIO_s_mem()));
  SSL_connect(session);
  std::string text(16 * 1024, '\0');
  text.resize(static_cast<size_t>(
      std::max(BIO_read(SSL_get_wbio(session), text.data(), static_cast<int>(text.size())), 0)));
  SSL_free(session);
  SSL_CTX_free(context);
  return text;
}

TEST_F(HostileClientsTest, AnAddressThatAsksForManyHandshakesWaitsForItself) {
  constexpr int kMany = 200;
  Start();
  // The thread stands still until all have asked.
  std::promise<void> go;
  loop_.Post([waits = go.get_future().share()] { waits.wait(); });
  const std::string hello = ClientHello();
  const auto ask = [&](const std::string& source) {
    const int fd = ConnectTcp(port(), source);
    EXPECT_EQ(write(fd, hello.data(), hello.size()), static_cast<ssize_t>(hello.size()));
    return fd;
  };
  std::vector<int> many;
  for (int i = 0; i < kMany; ++i) many.push_back(ask("127.0.0.1"));
  const int other = ask("127.0.0.2");
  go.set_value();
  char byte = 0;
  EXPECT_EQ(read(other, &byte, 1), 1);
  const auto answered = std::ranges::count_if(
      many, [&byte](int fd) { return recv(fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) == 1; });
  EXPECT_LT(answered, kMany / 2) << "it came last, and has its turn with the first of the others";
  for (const int fd : many) {
    EXPECT_EQ(read(fd, &byte, 1), 1);
    close(fd);
  }
  close(other);
}

TEST_F(HostileClientsTest, SlowHeadsDoNotDelayOthers) {
  Start();
  std::vector<std::unique_ptr<TlsClient>> slow;
  for (int i = 0; i < 300; ++i) {
    slow.push_back(std::make_unique<TlsClient>(port()));
    slow.back()->Send("GET /livez HTTP/1.1\r\nX: ");
    if (i % 100 == 99) {
      EXPECT_LT(TimeToLive(), seconds(5));
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
  EXPECT_LT(TimeToLive(), seconds(5));
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
  EXPECT_LT(longest, seconds(5));
  EXPECT_EQ(client.Get("/livez"), "") << "it has been cut off";
}

}  // namespace
}  // namespace berth::serving
