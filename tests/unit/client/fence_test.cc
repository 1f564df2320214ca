// SPDX-License-Identifier: Apache-2.0
#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <string>
#include <vector>

#include "src/base/virtual_time.h"
#include "src/client/http2_session.h"
#include "tests/unit/client/client_harness.h"
#include "tests/unit/client/http2_server.h"

// A process that has lost its lease hands no further byte of a write to the kernel.
namespace berth::client {
namespace {

using test::Await;
using test::Post;
using test::TestClient;

// A server that accepts connections and reads only when it is told to.
class DeafServer {
 public:
  DeafServer() : listener_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    // Little is lost in the kernel's own buffers.
    const int small = 4096;
    setsockopt(listener_, SOL_SOCKET, SO_RCVBUF, &small, sizeof small);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    BERTH_CHECK(bind(listener_, reinterpret_cast<sockaddr*>(&address), size) == 0, "no port");
    BERTH_CHECK(listen(listener_, 8) == 0, "no listener");
    getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size);
    port_ = ntohs(address.sin_port);
  }
  ~DeafServer() {
    if (peer_ >= 0) close(peer_);
    close(listener_);
  }
  DeafServer(const DeafServer&) = delete;
  DeafServer& operator=(const DeafServer&) = delete;

  std::string url() const { return "http://127.0.0.1:" + std::to_string(port_); }
  // Returns once the first bytes of a request are there.
  void AwaitRequest() {
    peer_ = accept(listener_, nullptr, nullptr);
    pollfd readable{.fd = peer_, .events = POLLIN, .revents = 0};
    poll(&readable, 1, -1);
  }
  // Until the client closes, or `enough` bytes of body are there.
  size_t Read(size_t enough) {
    std::vector<char> buffer(65536);
    size_t sum = 0;
    bool in_body = false;
    while (sum < enough) {
      const ssize_t size = recv(peer_, buffer.data(), buffer.size(), 0);
      if (size <= 0) break;
      const std::string_view text(buffer.data(), static_cast<size_t>(size));
      const size_t head = in_body ? 0 : text.find("\r\n\r\n") + 4;
      in_body = true;
      sum += text.size() - head;
    }
    return sum;
  }

 private:
  const int listener_;
  int peer_ = -1;
  int port_ = 0;
};

TEST(FenceTest, OverHttp1AWriteThatIsSentByHalvesStaysSo) {
  constexpr size_t kBody = size_t{64} << 20;
  for (const bool loses_lease : {false, true}) {
    SCOPED_TRACE(loses_lease);
    std::atomic<bool> may_write = true;
    DeafServer server;
    TestClient client(server.url(), "", [&](ClientOptions& options) {
      options.may_write = [&] { return may_write.load(); };
    });
    auto write = client.Start(Post("/x", std::string(kBody, 'x')));
    server.AwaitRequest();
    may_write = !loses_lease;
    const size_t read = server.Read(kBody);
    if (!loses_lease) {
      EXPECT_EQ(read, kBody);
      continue;
    }
    EXPECT_LT(read, kBody / 2);
    const ResponseResult result = Await(std::move(write));
    ASSERT_FALSE(result.has_value());
    EXPECT_EQ(result.error().reason, kReasonNotLeader);
    EXPECT_FALSE(result.error().never_sent) << "some of it was";
  }
}

// The lease is lost after the client has let the write go, and before there is a connection.
TEST(FenceTest, AWriteThatWaitsForItsConnectionIsNeverSent) {
  test::Served served;
  const test::TestServer http1([&](const test::ServedRequest& request, test::ServerPeer& peer) {
    served.Add(request);
    peer.Answer(200, "{}");
  });
  const test::Http2Server http2;
  const struct {
    std::string url;
    std::string ca;
  } servers[] = {{http1.url(), http1.authority().certificate_pem()},
                 {http2.url(), http2.authority().certificate_pem()}};
  for (const auto& server : servers) {
    SCOPED_TRACE(server.url);
    std::atomic<int> asked = 0;
    TestClient client(server.url, server.ca, [&](ClientOptions& options) {
      options.may_write = [&] { return asked++ == 0; };
    });
    const ResponseResult result = client.Do(Post("/x", "{}"));
    ASSERT_FALSE(result.has_value());
    EXPECT_EQ(result.error().reason, kReasonNotLeader);
    EXPECT_TRUE(result.error().never_sent);
    EXPECT_TRUE(client.Do(test::Get("/y"))) << "reads go on";
  }
  EXPECT_EQ(served.size(), 1u);
  EXPECT_EQ(http2.requests().size(), 1u);
}

// A stream that takes as many bytes as there is room for.
struct Narrow final : ByteStream {
  explicit Narrow(size_t& its_room, size_t& its_taken) : room(its_room), taken(its_taken) {}
  Moved Send(const uint8_t*, size_t size) override {
    const size_t count = std::min(size, room);
    room -= count;
    taken += count;
    return {count, false, ""};
  }
  Moved Receive(uint8_t*, size_t) override { return {}; }
  size_t& room;
  size_t& taken;
};

struct NoAnswer final : Http2Listener {
  void OnHead(int, std::string_view, std::optional<Duration>) override {}
  bool OnBody(std::string_view) override { return true; }
};

class Http2FenceTest : public testing::Test {
 protected:
  Http2FenceTest() {
    BERTH_CHECK(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fds_) == 0, "no sockets");
    session_ = std::make_unique<Http2Session>(
        loop_, fds_[0], std::make_unique<Narrow>(room_, taken_), "server:6443", "berth/test",
        [this] {
          for (Http2End& end : session_->TakeEnds()) ends_.push_back(std::move(end));
        },
        [this] { return may_write_; });
  }
  ~Http2FenceTest() override {
    session_.reset();
    for (const int fd : fds_) close(fd);
  }

  void* Submit(std::string_view body, bool fenced) {
    const Http2Request request{
        .method = "POST", .path = "/x", .headers = &headers_, .body = body, .fenced = fenced};
    return session_->Submit(request, {}, listener_);
  }
  void RunLoop() {
    loop_.PostAfter(std::chrono::nanoseconds(1), [this] { loop_.Stop(); });
    clock_.Advance(std::chrono::milliseconds(1));
    loop_.Run();
  }
  // There is room again.
  void Widen() {
    room_ = size_t{1} << 20;
    session_->OnReady(fds_[0], 4 /* EPOLLOUT */);
  }
  bool PeerSeesTheEnd() const {
    char byte = 0;
    return recv(fds_[1], &byte, 1, MSG_DONTWAIT) == 0;
  }

  base::VirtualClock clock_;
  base::EventLoop loop_{clock_};
  int fds_[2] = {-1, -1};
  const std::vector<std::pair<std::string, std::string>> headers_;
  const std::string body_ = std::string(10'000, 'x');
  NoAnswer listener_;
  size_t room_ = 1000;
  size_t taken_ = 0;
  bool may_write_ = true;
  std::vector<Http2End> ends_;
  std::unique_ptr<Http2Session> session_;
};

TEST_F(Http2FenceTest, AWriteThatIsSentByHalvesStaysSo) {
  Submit(body_, /*fenced=*/true);
  RunLoop();
  EXPECT_EQ(taken_, 1000u);
  may_write_ = false;
  Widen();
  EXPECT_EQ(taken_, 1000u);
  EXPECT_TRUE(session_->over());
  EXPECT_TRUE(PeerSeesTheEnd()) << "nothing can be sent any more, nor TLS's farewell";
  ASSERT_EQ(ends_.size(), 1u);
  EXPECT_TRUE(ends_[0].not_leader);
  EXPECT_TRUE(ends_[0].sent);
}

TEST_F(Http2FenceTest, NorDoesTheRestOfACancelledOneGoOut) {
  void* stream = Submit(body_, /*fenced=*/true);
  RunLoop();
  session_->Cancel(stream);
  may_write_ = false;
  Widen();
  EXPECT_EQ(taken_, 1000u);
  EXPECT_TRUE(session_->over());
}

TEST_F(Http2FenceTest, AWriteThatIsSentToItsEndKeepsItsConnection) {
  Submit(body_, /*fenced=*/true);
  room_ = size_t{1} << 20;
  RunLoop();
  EXPECT_GT(taken_, body_.size());
  const size_t taken = taken_;
  may_write_ = false;
  Submit(body_, /*fenced=*/false);
  Widen();
  EXPECT_GT(taken_, taken + body_.size());
  EXPECT_FALSE(session_->over());
}

TEST_F(Http2FenceTest, AWriteThatIsQueuedIsNeverSent) {
  Submit(body_, /*fenced=*/true);
  may_write_ = false;
  RunLoop();
  EXPECT_EQ(taken_, 0u);
  ASSERT_EQ(ends_.size(), 1u);
  EXPECT_TRUE(ends_[0].not_leader);
}

TEST_F(Http2FenceTest, WhatIsNotFencedGoesOut) {
  may_write_ = false;
  Submit(body_, /*fenced=*/false);
  RunLoop();
  Widen();
  EXPECT_GT(taken_, body_.size());
  EXPECT_FALSE(session_->over());
}

}  // namespace
}  // namespace berth::client
