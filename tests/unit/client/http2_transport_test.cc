// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "src/client/http2_session.h"
#include "tests/unit/client/client_harness.h"
#include "tests/unit/client/http2_server.h"

// A client and a server that speaks HTTP/2.
namespace berth::client {
namespace {

using std::chrono::seconds;
using test::Await;
using test::Get;
using test::Http2Server;
using test::Post;
using testing::ElementsAre;

class Http2TransportTest : public testing::Test {
 protected:
  Http2TransportTest() {
    ClientOptions options;
    options.server.cluster.server = server_.url();
    options.server.cluster.ca_data = server_.authority().certificate_pem();
    client_ = std::move(CurlClient::Make(std::move(options), clock_).value());
  }

  std::future<ResponseResult> Start(Request request) {
    auto promise = std::make_shared<std::promise<ResponseResult>>();
    auto future = promise->get_future();
    client_->Send(std::move(request),
                  [promise](ResponseResult result) { promise->set_value(std::move(result)); });
    return future;
  }
  std::shared_ptr<test::Watch> StartWatch() { return test::StartWatch(*client_); }

  test::AheadClock clock_;
  Http2Server server_;
  std::unique_ptr<CurlClient> client_;
};

// The first connection of each kind of traffic only shows that the server speaks HTTP/2.
TEST_F(Http2TransportTest, NoRequestIsSentButOnASession) {
  const auto first = StartWatch();
  const auto second = StartWatch();
  Await(first->data.get_future());
  Await(second->data.get_future());
  EXPECT_TRUE(Await(Start(Post("/bind", "{}"))));
  EXPECT_TRUE(Await(Start(Get("/pod"))));
  const std::vector<std::string> requests = server_.requests();
  ASSERT_EQ(requests.size(), 4u);
  EXPECT_EQ(requests[0], requests[1]) << "one connection for both watches";
  EXPECT_EQ(requests[2].substr(0, requests[2].find(' ')),
            requests[3].substr(0, requests[3].find(' ')));
  EXPECT_NE(requests[0][0], requests[2][0]) << "writes have a connection of their own";
}

TEST_F(Http2TransportTest, AWatchWhoseServerAnswersNoPingIsLostAndTheNextHasAnotherConnection) {
  const auto watch = StartWatch();
  Await(watch->data.get_future());
  server_.FallSilent();
  auto end = watch->end.get_future();
  clock_.Advance(Http2Session::kPingAfter);
  server_.AwaitUnansweredPing();
  EXPECT_NE(end.wait_for(seconds(0)), std::future_status::ready);
  clock_.Advance(Http2Session::kPingTimeout);
  const std::optional<ApiError> error = Await(std::move(end));
  ASSERT_TRUE(error);
  EXPECT_EQ(error->reason, kReasonConnectionLost);
  server_.SpeakAgain();
  const auto next = StartWatch();
  Await(next->data.get_future());
  const std::vector<std::string> requests = server_.requests();
  ASSERT_EQ(requests.size(), 2u);
  EXPECT_NE(requests[0], requests[1]);
}

TEST_F(Http2TransportTest, ARequestThatWaitsForItsConnectionHasItsTimeoutAllTheSame) {
  server_.HangFrom(2);
  Request request = Get("/pod");
  request.timeout = std::chrono::milliseconds(50);
  const ResponseResult result = Await(Start(std::move(request)));
  ASSERT_FALSE(result);
  EXPECT_TRUE(result.error().never_sent);
}

}  // namespace
}  // namespace berth::client
