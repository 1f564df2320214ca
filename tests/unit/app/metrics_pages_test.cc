// SPDX-License-Identifier: Apache-2.0
#include "src/app/endpoints/metrics_pages.h"

#include <gmock/gmock.h>

#include <atomic>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tests/support/builders.h"

namespace berth::app {
namespace {

using serving::Request;
using serving::Response;
using testing::HasSubstr;
using testing::StartsWith;

constexpr const char* kAskForProtobuf =
    "application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited";

api::ObjectPtr WebPod() { return test::PodBuilder().Name("web").Req({{"cpu", "1"}}).Ptr(); }

class MetricsPagesTest : public testing::Test {
 protected:
  MetricsPagesTest() {
    InstallMetrics(router_, {metrics_,
                             [this](const std::function<void(std::vector<api::ObjectPtr>)>& done) {
                               done(pods_);
                             },
                             [this] { return leading_; }});
  }

  std::future<Response> Ask(const std::string& path, const std::string& accept = "",
                            const std::string& method = "GET") {
    const auto request = std::make_shared<Request>(Request{.method = method, .path = path});
    if (!accept.empty()) request->headers.emplace_back("accept", accept);
    const auto answered = std::make_shared<std::promise<Response>>();
    router_.Serve(request,
                  [answered](Response response) { answered->set_value(std::move(response)); });
    return answered->get_future();
  }
  // The text, whoever shares it.
  static std::string Body(std::future<Response> asked) {
    const Response response = asked.get();
    return response.shared_body == nullptr ? response.body : *response.shared_body;
  }

  metrics::Registry metrics_;
  std::vector<api::ObjectPtr> pods_;
  bool leading_ = true;
  serving::Router router_;  // goes first: its pages are made of the others
};

// The thread that asks answers probes, too: 256 readers of 15 ms each held these up for 4 s.
TEST_F(MetricsPagesTest, AreMadeOnAnotherThreadAndOnceForThoseWhoWait) {
  std::promise<void> begun;
  std::promise<void> go;
  std::atomic<int> made = 0;
  std::atomic<std::thread::id> maker;
  metrics_.BeforeExposition([&](metrics::Registry&) {
    maker = std::this_thread::get_id();
    if (++made > 1) return;
    begun.set_value();
    go.get_future().wait();
  });
  std::future<Response> first = Ask("/metrics");
  begun.get_future().wait();
  std::vector<std::future<Response>> others;
  for (int i = 0; i < 256; ++i) others.push_back(Ask("/metrics"));
  EXPECT_NE(maker.load(), std::this_thread::get_id());
  go.set_value();
  EXPECT_THAT(Body(std::move(first)), HasSubstr("\nscheduler_preemption_victims_sum "));
  const Response one = others[0].get();
  for (size_t i = 1; i < others.size(); ++i) {
    EXPECT_EQ(others[i].get().shared_body, one.shared_body);
  }
  EXPECT_EQ(made, 2);
}

TEST_F(MetricsPagesTest, EachIsItsOwnInEachFormat) {
  pods_.push_back(WebPod());
  EXPECT_THAT(Body(Ask("/metrics")), HasSubstr("scheduler_preemption_victims_sum "));
  EXPECT_THAT(Body(Ask("/metrics/slis")), Not(HasSubstr("scheduler_preemption_victims_sum ")));
  EXPECT_THAT(Body(Ask("/metrics/resources")), HasSubstr("pod=\"web\""));
  for (const char* path : {"/metrics", "/metrics/resources"}) {
    SCOPED_TRACE(path);
    EXPECT_THAT(Body(Ask(path)), StartsWith("# HELP "));
    const Response response = Ask(path, kAskForProtobuf).get();
    EXPECT_THAT(response.content_type, StartsWith("application/vnd.google.protobuf"));
    EXPECT_THAT(*response.shared_body, Not(HasSubstr("# HELP ")));
  }
}

TEST_F(MetricsPagesTest, OnlyTheLeaderTellsOfPods) {
  pods_.push_back(WebPod());
  leading_ = false;
  const Response response = Ask("/metrics/resources").get();
  EXPECT_EQ(response.code, 200);
  EXPECT_THAT(response.content_type, StartsWith("text/plain; version=0.0.4"));
  EXPECT_EQ(response.body, "");
  EXPECT_EQ(response.shared_body, nullptr);
  EXPECT_EQ(Ask("/metrics/resources", "", "DELETE").get().body, "");
  leading_ = true;
  EXPECT_EQ(Ask("/metrics/resources", "", "DELETE").get().body, "metrics reset\n");
}

TEST_F(MetricsPagesTest, AnyMethodButDeleteReads) {
  pods_.push_back(WebPod());
  for (const char* method : {"HEAD", "POST", "PUT"}) {
    SCOPED_TRACE(method);
    EXPECT_THAT(Body(Ask("/metrics", "", method)), HasSubstr("scheduler_preemption_victims_sum "));
    EXPECT_THAT(Body(Ask("/metrics/resources", "", method)), HasSubstr("pod=\"web\""));
  }
}

TEST_F(MetricsPagesTest, NoAnswerIsOlderThanItsRequest) {
  const auto attempts = metrics_.Intern(metrics::Metric::kScheduleAttempts, {"scheduled", "p"});
  for (int i = 1; i <= 50; ++i) {
    metrics_.Add(attempts);
    const std::string page = Body(Ask("/metrics"));
    const size_t at = page.find("scheduler_schedule_attempts_total{");
    ASSERT_NE(at, page.npos);
    EXPECT_THAT(page.substr(at, page.find('\n', at) - at),
                testing::EndsWith(" " + std::to_string(i)));
  }
  EXPECT_EQ(Body(Ask("/metrics", "", "DELETE")), "metrics reset\n");
  EXPECT_EQ(metrics_.Read(attempts).value, 0);
}

}  // namespace
}  // namespace berth::app
