// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "src/client/curl_client.h"
#include "tests/unit/client/client_harness.h"

namespace berth::client {
namespace {

using std::chrono::milliseconds;
using test::Await;
using test::Served;
using test::ServedRequest;
using test::ServerPeer;
using test::TestClient;
using test::TestServer;

constexpr char kHead[] =
    "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n";

std::string Chunk(const std::string& data) {
  char size[16];
  snprintf(size, sizeof size, "%zx", data.size());
  return std::string(size) + "\r\n" + data + "\r\n";
}

// Gathers a stream. `on_data` decides whether it goes on.
class Reader final : public StreamHandler {
 public:
  explicit Reader(std::function<bool(const std::string&)> on_data = {})
      : on_data_(std::move(on_data)) {}

  void OnStart(const Response& head) override {
    ++starts;
    type = head.content_type;
    started.set_value();
  }
  bool OnData(std::string_view data) override {
    text.append(data);
    return !on_data_ || on_data_(text);
  }
  void OnEnd(std::optional<ApiError> error) override { ended_.set_value(std::move(error)); }

  std::optional<ApiError> End() { return Await(ended_.get_future()); }

  int starts = 0;
  std::string type;
  std::string text;
  std::promise<void> started;

 private:
  const std::function<bool(const std::string&)> on_data_;
  std::promise<std::optional<ApiError>> ended_;
};

Request Watch() {
  Request request;
  request.verb = Verb::kWatch;
  request.priority = Priority::kUnlimited;
  request.path = "/api/v1/pods?watch=1";
  request.timeout = {};
  return request;
}

TEST(CurlStreamTest, WithoutTlsStreamsDoNotWaitForEachOther) {
  std::promise<void> all_read;
  const std::shared_future<void> end = all_read.get_future().share();
  TestServer server(
      [end](const ServedRequest&, ServerPeer& peer) {
        peer.Send(kHead + Chunk("one"));
        end.wait_for(std::chrono::seconds(60));
        peer.Send(Chunk(""));
      },
      {.tls = false});
  TestClient client(server);
  std::vector<std::shared_ptr<test::Watch>> watches;
  for (int i = 0; i < 5; ++i) watches.push_back(test::StartWatch(*client));
  for (const auto& watch : watches) {
    EXPECT_EQ(watch->data.get_future().wait_for(std::chrono::seconds(20)),
              std::future_status::ready);
  }
  all_read.set_value();
}

TEST(CurlStreamTest, DataArrivesAsItComesAndTheEndIsOrderly) {
  std::promise<void> first_read;
  TestServer server([&](const ServedRequest&, ServerPeer& peer) {
    peer.Send(kHead + Chunk("one "));
    Await(first_read.get_future());
    peer.Send(Chunk("two") + Chunk(""));
  });
  TestClient client(server);
  bool told = false;
  auto reader = std::make_shared<Reader>([&](const std::string& text) {
    if (text == "one " && !std::exchange(told, true)) first_read.set_value();
    return true;
  });
  client->Stream(Watch(), {}, reader);
  EXPECT_EQ(reader->End(), std::nullopt);
  EXPECT_EQ(reader->text, "one two");
  EXPECT_EQ(reader->type, "application/json");
  EXPECT_EQ(reader->starts, 1);
}

TEST(CurlStreamTest, TheStartIsToldBeforeAnyData) {
  TestServer server([](const ServedRequest&, ServerPeer& peer) {
    peer.Send(kHead);
    peer.WaitForPeer();
  });
  TestClient client(server);
  auto reader = std::make_shared<Reader>();
  const auto call = client->Stream(Watch(), {}, reader);
  Await(reader->started.get_future());
  call->Cancel();
  EXPECT_EQ(reader->End()->reason, kReasonCancelled);
  EXPECT_EQ(reader->text, "");
}

TEST(CurlStreamTest, AnErrorAnswerIsTypedAndNeverStarts) {
  TestServer server([](const ServedRequest&, ServerPeer& peer) {
    peer.Answer(410, R"({"kind":"Status","reason":"Expired","message":"too old","code":410})");
  });
  TestClient client(server);
  auto reader = std::make_shared<Reader>();
  client->Stream(Watch(), {}, reader);
  const auto error = reader->End();
  ASSERT_TRUE(error);
  EXPECT_EQ(error->code, 410);
  EXPECT_EQ(error->reason, "Expired");
  EXPECT_EQ(reader->starts, 0);
  EXPECT_EQ(reader->text, "");
}

TEST(CurlStreamTest, ACutStreamIsAnError) {
  TestServer server([](const ServedRequest&, ServerPeer& peer) {
    peer.Send(kHead + Chunk("half"));
    peer.Close();
  });
  TestClient client(server);
  auto reader = std::make_shared<Reader>();
  client->Stream(Watch(), {}, reader);
  const auto error = reader->End();
  ASSERT_TRUE(error);
  EXPECT_EQ(error->code, 0);
  EXPECT_EQ(error->reason, kReasonConnectionLost);
  EXPECT_EQ(reader->text, "half");
}

TEST(CurlStreamTest, ASilentStreamEndsAndTheNextHasAConnectionOfItsOwn) {
  Served served;
  TestServer server([&](const ServedRequest& request, ServerPeer& peer) {
    served.Add(request);
    peer.Send(kHead + Chunk("x"));
    peer.WaitForPeer();
  });
  TestClient client(server);
  auto silent = std::make_shared<Reader>();
  client->Stream(Watch(), milliseconds(500), silent);
  const auto error = silent->End();
  ASSERT_TRUE(error);
  EXPECT_EQ(error->reason, kReasonTimeout);
  auto next = std::make_shared<Reader>();
  const auto call = client->Stream(Watch(), {}, next);
  Await(next->started.get_future());
  EXPECT_EQ(served.all().back().connection, 2);
  call->Cancel();
  next->End();
}

TEST(CurlStreamTest, AStreamThatSpeaksInTimeIsNotSilent) {
  std::promise<void> enough;
  TestServer server([&](const ServedRequest&, ServerPeer& peer) {
    peer.Send(kHead);
    const auto done = enough.get_future();
    // Longer than the silence allowed, spoken into every twentieth of it.
    for (int i = 0; i < 30 && done.wait_for(milliseconds(50)) != std::future_status::ready; ++i) {
      peer.Send(Chunk("x"));
    }
    peer.Send(Chunk(""));
  });
  TestClient client(server);
  auto reader = std::make_shared<Reader>();
  client->Stream(Watch(), milliseconds(1000), reader);
  EXPECT_EQ(reader->End(), std::nullopt);
  EXPECT_EQ(reader->text.size(), 30u);
}

TEST(CurlStreamTest, AReaderMayEndItsStream) {
  TestServer server([](const ServedRequest&, ServerPeer& peer) {
    peer.Send(kHead + Chunk("enough"));
    peer.WaitForPeer();
  });
  TestClient client(server);
  auto reader = std::make_shared<Reader>([](const std::string&) { return false; });
  client->Stream(Watch(), {}, reader);
  EXPECT_EQ(reader->End()->reason, kReasonCancelled);
}

TEST(CurlStreamTest, StreamsLeasesAndWritesHaveConnectionsOfTheirOwn) {
  Served served;
  TestServer server([&](const ServedRequest& request, ServerPeer& peer) {
    served.Add(request);
    if (request.method == "GET") {
      peer.Send(kHead);
      peer.WaitForPeer();
    } else {
      peer.Answer(200, "{}");
    }
  });
  TestClient client(server);
  auto reader = std::make_shared<Reader>();
  const auto watch = client->Stream(Watch(), {}, reader);
  Await(reader->started.get_future());
  Request lease = test::Post("/lease", "{}");
  lease.priority = Priority::kUnlimited;
  EXPECT_TRUE(client.Do(lease));
  EXPECT_TRUE(client.Do(test::Post("/bind", "{}")));
  EXPECT_TRUE(client.Do(lease));
  std::vector<int> connections;
  for (const ServedRequest& request : served.all()) connections.push_back(request.connection);
  EXPECT_THAT(connections, testing::ElementsAre(1, 2, 3, 2));
  watch->Cancel();
  reader->End();
}

}  // namespace
}  // namespace berth::client
