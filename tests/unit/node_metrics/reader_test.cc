// SPDX-License-Identifier: Apache-2.0
#include "src/node_metrics/reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "src/base/clock.h"
#include "src/base/virtual_time.h"
#include "src/node_metrics/answers.h"
#include "tests/support/fake_api.h"
#include "tests/support/test_server.h"

namespace berth::node_metrics {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using Type = NodeMetricsSource::Type;

constexpr const char* kOneNode =
    R"({"items":[{"metadata":{"name":"b"},"usage":{"cpu":"1","memory":"1Ki"}},
                 {"metadata":{"name":"a"},"usage":{"cpu":"2"}}]})";

class ReaderTest : public testing::Test {
 public:
  ReaderTest() { Make(); }

  void Make() {
    reader = std::make_unique<Reader>(Reader::Parts{
        executor, clock, registry,
        [this](const NodeMetricsSource& source) -> Result<std::shared_ptr<client::ApiClient>> {
          connected.push_back(source.Name() + " " + source.token);
          if (source.address == "http://nowhere") return Fail("there is no such place");
          return std::shared_ptr<client::ApiClient>(std::shared_ptr<void>(), &api);
        },
        [this](NodesMeasured measured) { told.push_back(std::move(measured)); }});
  }
  void Watch(std::vector<NodeMetricsSource> sources) {
    reader->Watch(std::move(sources));
    executor.RunDue();
  }
  void Answer(size_t call, const std::string& body) {
    api.at(call).Begin();
    api.at(call).Push(body);
    api.at(call).End();
    executor.RunDue();
  }
  double Reads(const char* result, const char* source = "KubernetesMetricsServer") {
    return registry.Read(registry.Intern(metrics::Metric::kNodeMetricsReads, {source, result}))
        .value;
  }
  double Nodes(const char* source = "KubernetesMetricsServer") {
    return registry.Read(registry.Intern(metrics::Metric::kNodeMetricsNodes, {source})).value;
  }
  int64_t NowSeconds() const {
    return std::chrono::floor<seconds>(clock.WallNow()).time_since_epoch().count();
  }

  base::VirtualClock clock;
  base::VirtualExecutor executor{clock};
  test::FakeApi api{executor};
  metrics::Registry registry;
  std::vector<std::string> connected;
  std::vector<NodesMeasured> told;
  std::unique_ptr<Reader> reader;
};

TEST_F(ReaderTest, AsksTheMetricsServerAtOnceAndEveryHalfMinute) {
  Watch({{}});
  ASSERT_EQ(api.size(), 1u);
  EXPECT_EQ(api.last().request.path, "/apis/metrics.k8s.io/v1beta1/nodes");
  EXPECT_EQ(api.last().request.timeout, kTimeout);
  const int64_t asked = NowSeconds();
  clock.Advance(seconds(3));
  Answer(0, kOneNode);
  ASSERT_THAT(told, SizeIs(1));
  EXPECT_EQ(told[0].source, "KubernetesMetricsServer");
  EXPECT_EQ(told[0].window_end, asked);
  EXPECT_TRUE(told[0].amounts);
  ASSERT_THAT(told[0].nodes, SizeIs(2));
  EXPECT_EQ(told[0].nodes[0].name, "a") << "by name";
  EXPECT_EQ(told[0].nodes[0].cpu.average, 2000);
  EXPECT_EQ(Reads("success"), 1);
  EXPECT_EQ(Nodes(), 2);
  executor.Advance(seconds(27));
  EXPECT_EQ(api.size(), 2u);
  // It is not asked twice at once.
  executor.Advance(seconds(90));
  EXPECT_EQ(api.size(), 2u);
  Answer(1, kOneNode);
  executor.Advance(seconds(30));
  EXPECT_EQ(api.size(), 3u);
}

TEST_F(ReaderTest, WhatCannotBeReadLosesNothingUntilItIsTooOld) {
  Watch({{}});
  Answer(0, kOneNode);
  executor.Advance(seconds(30));
  Answer(1, "<html>");
  executor.Advance(seconds(30));
  api.at(2).Fail(test::Rejection(403));
  executor.RunDue();
  executor.Advance(seconds(30));
  api.at(3).Fail(test::NoAnswer());
  executor.RunDue();
  EXPECT_THAT(told, SizeIs(1));
  EXPECT_EQ(Reads("bad_answer"), 1);
  EXPECT_EQ(Reads("bad_status"), 1);
  EXPECT_EQ(Reads("failed"), 1);
  EXPECT_EQ(Nodes(), 2);
  for (size_t i = 4; i < 14; ++i) {
    executor.Advance(seconds(30));
    api.at(i).Fail(test::Rejection(404));
    executor.RunDue();
  }
  ASSERT_THAT(told, SizeIs(2));
  EXPECT_THAT(told[1].nodes, IsEmpty());
  EXPECT_EQ(Nodes(), 0);
  executor.Advance(seconds(30));
  Answer(14, kOneNode);
  EXPECT_THAT(told, SizeIs(3));
}

TEST_F(ReaderTest, ALongAnswerIsCutOff) {
  Watch({{}});
  api.at(0).Begin();
  const std::string part(kMostAnswerBytes / 4, ' ');
  for (int i = 0; i < 5; ++i) api.at(0).Push(part);
  executor.RunDue();
  EXPECT_FALSE(api.at(0).open());
  EXPECT_EQ(Reads("bad_answer"), 1);
  EXPECT_THAT(told, IsEmpty());
}

TEST_F(ReaderTest, PrometheusIsAskedFourQuestionsAndAllMustBeAnswered) {
  const NodeMetricsSource source{Type::kPrometheus, "http://prometheus"};
  const std::string name = source.Name();
  Watch({source});
  ASSERT_EQ(api.size(), 4u);
  EXPECT_THAT(api.at(3).request.path, HasSubstr("/api/v1/query?query=stddev_over_time%28"));
  const auto body = [](const char* value) {
    return std::string(R"({"data":{"result":[{"metric":{"instance":"a"},"value":[1,")") + value +
           R"("]}]}})";
  };
  // In whatever order the answers come.
  Answer(3, body("0.4"));
  Answer(1, body("0.3"));
  Answer(2, body("0.2"));
  EXPECT_THAT(told, IsEmpty());
  Answer(0, body("0.1"));
  ASSERT_THAT(told, SizeIs(1));
  EXPECT_FALSE(told[0].amounts);
  const NodeMetrics& node = told[0].nodes.at(0);
  EXPECT_DOUBLE_EQ(node.cpu.average, 10);
  EXPECT_DOUBLE_EQ(node.cpu.deviation, 20);
  EXPECT_DOUBLE_EQ(node.memory.average, 30);
  EXPECT_DOUBLE_EQ(node.memory.deviation, 40);
  executor.Advance(seconds(30));
  ASSERT_EQ(api.size(), 8u);
  for (const size_t call : {size_t{4}, size_t{5}, size_t{6}}) Answer(call, body("0.5"));
  api.at(7).Fail(test::Rejection(503));
  executor.RunDue();
  EXPECT_THAT(told, SizeIs(1));
  EXPECT_EQ(Reads("bad_status", name.c_str()), 1);
}

TEST_F(ReaderTest, ALoadWatcherSaysItselfHowOldItIs) {
  const NodeMetricsSource source{Type::kLoadWatcher, "http://watcher"};
  Watch({source});
  EXPECT_EQ(api.at(0).request.path, "/watcher");
  const auto body = [](int64_t end) {
    return R"({"window":{"end":)" + std::to_string(end) +
           R"(},"data":{"NodeMetricsMap":{"a":{"metrics":[{"type":"CPU","value":3}]}}}})";
  };
  Answer(0, body(NowSeconds() - 200));
  ASSERT_THAT(told, SizeIs(1));
  EXPECT_EQ(told[0].window_end, NowSeconds() - 200);
  executor.Advance(seconds(30));
  Answer(1, body(NowSeconds() - 301));
  EXPECT_THAT(told, SizeIs(1));
  EXPECT_EQ(Reads("old", source.Name().c_str()), 1);
}

TEST_F(ReaderTest, OthersTakeThePlaceOfSourcesThatAreNotWantedAnyMore) {
  const NodeMetricsSource watcher{Type::kLoadWatcher, "http://watcher"};
  Watch({{}, watcher, {}});
  EXPECT_THAT(connected, SizeIs(2));
  EXPECT_EQ(api.size(), 2u);
  // One stays, and goes on with its round.
  Watch({watcher});
  EXPECT_THAT(connected, SizeIs(2));
  EXPECT_EQ(api.size(), 2u);
  executor.Advance(seconds(120));
  EXPECT_EQ(api.size(), 2u);
  // Its token has changed.
  NodeMetricsSource other = watcher;
  other.token = "new";
  Watch({other});
  EXPECT_THAT(connected, SizeIs(3));
  EXPECT_EQ(api.size(), 3u);
  Watch({});
  executor.Advance(minutes(2));
  EXPECT_EQ(api.size(), 3u);
  EXPECT_THAT(told, IsEmpty());
}

TEST_F(ReaderTest, AnAddressThatIsNoneIsCountedOnce) {
  const NodeMetricsSource nowhere{Type::kLoadWatcher, "http://nowhere"};
  Watch({nowhere});
  executor.Advance(minutes(2));
  EXPECT_EQ(api.size(), 0u);
  EXPECT_EQ(Reads("failed", nowhere.Name().c_str()), 1);
}

TEST_F(ReaderTest, AnswersThatComeTooLateAreForNobody) {
  Watch({{}});
  reader.reset();
  executor.RunDue();
  EXPECT_FALSE(api.at(0).open());
  EXPECT_THAT(told, IsEmpty());
}

TEST(ReaderThreadTest, ReadsARealPrometheusWithItsToken) {
  const auto serve = [](const test::ServedRequest& request, test::ServerPeer& peer) {
    if (request.header("authorization") != "Bearer secret") {
      peer.Answer(401, "{}");
      return;
    }
    EXPECT_THAT(request.target, HasSubstr("/prefix/api/v1/query?query="));
    peer.Answer(200, R"({"data":{"result":[{"metric":{"instance":"a"},"value":[1,"0.5"]}]}})");
  };
  for (const bool tls : {false, true}) {
    test::TestServer::Options options;
    options.tls = tls;
    test::TestServer server(serve, options);
    base::RealClock clock;
    base::VirtualClock virtual_clock;
    base::VirtualExecutor executor(virtual_clock);
    test::FakeApi api(executor);
    metrics::Registry registry;
    std::promise<NodesMeasured> first;
    std::atomic<bool> came = false;
    ReaderThread reader(api, clock, registry, "berth", [&](NodesMeasured measured) {
      if (!came.exchange(true)) first.set_value(std::move(measured));
    });
    reader.Watch({{.type = Type::kPrometheus,
                   .address = server.url() + "/prefix",
                   .token = "secret",
                   .insecure_skip_verify = true}});
    auto future = first.get_future();
    ASSERT_EQ(future.wait_for(seconds(60)), std::future_status::ready);
    const NodesMeasured measured = future.get();
    ASSERT_THAT(measured.nodes, SizeIs(1));
    EXPECT_EQ(measured.nodes[0].memory.average, 50);
    reader.Stop();
  }
}

}  // namespace
}  // namespace berth::node_metrics
