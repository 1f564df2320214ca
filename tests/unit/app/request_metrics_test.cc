// SPDX-License-Identifier: Apache-2.0
#include "src/app/daemon/request_metrics.h"

#include <gtest/gtest.h>

namespace berth::app {
namespace {

using client::Verb;
using metrics::Metric;

TEST(RequestMetricsTest, CountsAttemptsByCodeMethodAndHost) {
  metrics::Registry registry;
  RequestMetrics observer(registry);
  RequestMetrics::Attempt attempt;
  attempt.verb = Verb::kCreate;
  attempt.method = "POST";
  attempt.host = "h:1";
  attempt.code = 201;
  attempt.duration = std::chrono::milliseconds(500);
  attempt.request_bytes = 100;
  attempt.response_bytes = 300;
  observer.OnAttempt(attempt);
  observer.OnAttempt(attempt);
  attempt.code = 0;
  observer.OnAttempt(attempt);

  const auto value = [&](Metric metric, std::initializer_list<std::string_view> labels) {
    return registry.Read(registry.Intern(metric, labels));
  };
  EXPECT_EQ(value(Metric::kRestClientRequests, {"201", "POST", "h:1"}).value, 2);
  EXPECT_EQ(value(Metric::kRestClientRequests, {"<error>", "POST", "h:1"}).value, 1);
  EXPECT_EQ(value(Metric::kRestClientRequestDuration, {"POST", "h:1"}).sum, 1.5);
  EXPECT_EQ(value(Metric::kRestClientRequestSize, {"POST", "h:1"}).sum, 300);
  EXPECT_EQ(value(Metric::kRestClientResponseSize, {"POST", "h:1"}).sum, 900);
}

TEST(RequestMetricsTest, DoesNotTimeWatches) {
  metrics::Registry registry;
  RequestMetrics observer(registry);
  RequestMetrics::Attempt attempt;
  attempt.verb = Verb::kWatch;
  attempt.method = "GET";
  attempt.host = "h:1";
  attempt.code = 200;
  attempt.duration = std::chrono::minutes(5);
  observer.OnAttempt(attempt);
  EXPECT_EQ(registry.Read(registry.Intern(Metric::kRestClientRequestDuration, {"GET", "h:1"})).sum,
            0);
  EXPECT_EQ(
      registry.Read(registry.Intern(Metric::kRestClientRequests, {"200", "GET", "h:1"})).value, 1);
}

TEST(RequestMetricsTest, LabelsEachVerbWithItsHttpMethod) {
  const struct {
    Verb verb;
    const char* method;
  } cases[] = {
      {Verb::kGet, "GET"},       {Verb::kList, "GET"},   {Verb::kWatch, "GET"},
      {Verb::kCreate, "POST"},   {Verb::kUpdate, "PUT"}, {Verb::kPatch, "PATCH"},
      {Verb::kDelete, "DELETE"},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.method);
    metrics::Registry registry;
    RequestMetrics observer(registry);
    observer.OnRateLimited(c.verb, "h:1", std::chrono::seconds(2));
    observer.OnRetry(c.verb, "h:1", 429);
    EXPECT_EQ(
        registry.Read(registry.Intern(Metric::kRestClientRateLimiterDuration, {c.method, "h:1"}))
            .sum,
        2);
    EXPECT_EQ(
        registry.Read(registry.Intern(Metric::kRestClientRequestRetries, {"429", c.method, "h:1"}))
            .value,
        1);
  }
}

}  // namespace
}  // namespace berth::app
