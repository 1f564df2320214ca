// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <numeric>

#include "src/app/daemon/metrics_setup.h"

namespace berth::app {
namespace {

using client::Verb;
using metrics::Metric;

// How often it was observed.
uint64_t Count(const metrics::SeriesValue& histogram) {
  return std::accumulate(histogram.buckets.begin(), histogram.buckets.end(), uint64_t{0});
}

TEST(RequestMetricsTest, CountsAttemptsByCodeMethodAndHost) {
  metrics::Registry registry;
  RequestMetrics observer(registry);
  RequestMetrics::Attempt attempt{.verb = Verb::kCreate, .host = "h:1", .code = 429};
  attempt.request_bytes = 100;
  observer.OnAttempt(attempt);
  attempt.is_retry = true;
  attempt.code = 201;
  observer.OnAttempt(attempt);
  attempt.code = 0;
  observer.OnAttempt(attempt);

  const auto value = [&](Metric metric, std::initializer_list<std::string_view> labels) {
    return registry.Read(registry.Intern(metric, labels));
  };
  for (const char* code : {"429", "201", "<error>"}) {
    EXPECT_EQ(value(Metric::kRestClientRequests, {code, "POST", "h:1"}).value, 1) << code;
  }
  EXPECT_EQ(value(Metric::kRestClientRequestRetries, {"429", "POST", "h:1"}).value, 0);
  EXPECT_EQ(value(Metric::kRestClientRequestRetries, {"201", "POST", "h:1"}).value, 1);
  EXPECT_EQ(value(Metric::kRestClientRequestRetries, {"<error>", "POST", "h:1"}).value, 1);
  EXPECT_EQ(value(Metric::kRestClientRequestSize, {"POST", "h:1"}).sum, 300);
}

TEST(RequestMetricsTest, TimesRequestsAndMeasuresAnswersThatWereRead) {
  metrics::Registry registry;
  RequestMetrics observer(registry);
  RequestMetrics::End end{
      .verb = Verb::kList, .host = "h:1", .duration = {}, .response_bytes = 300};
  end.duration = std::chrono::milliseconds(500);
  observer.OnEnd(end);
  end.response_bytes.reset();
  observer.OnEnd(end);
  const auto duration =
      registry.Read(registry.Intern(Metric::kRestClientRequestDuration, {"GET", "h:1"}));
  EXPECT_EQ(duration.sum, 1);
  const auto size = registry.Read(registry.Intern(Metric::kRestClientResponseSize, {"GET", "h:1"}));
  EXPECT_EQ(Count(size), 1u);
  EXPECT_EQ(size.sum, 300);
}

TEST(RequestMetricsTest, NeitherTimesNorMeasuresWatches) {
  metrics::Registry registry;
  RequestMetrics observer(registry);
  observer.OnAttempt({.verb = Verb::kWatch, .host = "h:1", .code = 200, .request_bytes = 5});
  observer.OnEnd({.verb = Verb::kWatch,
                  .host = "h:1",
                  .duration = std::chrono::minutes(5),
                  .response_bytes = 300});
  const auto value = [&](Metric metric) {
    return registry.Read(registry.Intern(metric, {"GET", "h:1"}));
  };
  EXPECT_EQ(Count(value(Metric::kRestClientRequestDuration)), 0u);
  EXPECT_EQ(Count(value(Metric::kRestClientRequestSize)), 0u);
  EXPECT_EQ(Count(value(Metric::kRestClientResponseSize)), 0u);
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
    observer.OnAttempt({.verb = c.verb, .host = "h:1", .code = 429, .is_retry = true});
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

TEST(AccessMetricsTest, CountsWhoAsksAndWhatTheServerWasAsked) {
  metrics::Registry registry;
  AccessMetrics observer(registry);
  const auto took = std::chrono::milliseconds(500);
  for (const char* name :
       {"system:serviceaccount:monitoring:prometheus", "admin", "a@example.com"}) {
    const serving::User user{.name = name};
    observer.OnAuthenticated("success", &user, took);
  }
  observer.OnAuthenticated("error", nullptr, took);
  observer.OnAuthorized("no-opinion", took);
  observer.OnReviewed(serving::kTokenReview, 201, took);
  observer.OnReviewed(serving::kSubjectAccessReview, 0, took);
  const auto value = [&](Metric metric, std::initializer_list<std::string_view> labels) {
    return registry.Read(registry.Intern(metric, labels));
  };
  for (const char* label : {"other", "admin", "email_id"}) {
    EXPECT_EQ(value(Metric::kAuthenticatedUserRequests, {label}).value, 1) << label;
  }
  EXPECT_EQ(value(Metric::kAuthenticationAttempts, {"success"}).value, 3);
  EXPECT_EQ(value(Metric::kAuthenticationAttempts, {"error"}).value, 1);
  EXPECT_EQ(value(Metric::kAuthenticationDuration, {"success"}).sum, 1.5);
  EXPECT_EQ(value(Metric::kAuthorizationAttempts, {"no-opinion"}).value, 1);
  EXPECT_EQ(value(Metric::kAuthorizationDuration, {"no-opinion"}).sum, 0.5);
  EXPECT_EQ(value(Metric::kDelegatedAuthnRequests, {"201"}).value, 1);
  EXPECT_EQ(value(Metric::kDelegatedAuthnRequestDuration, {"201"}).sum, 0.5);
  EXPECT_EQ(value(Metric::kDelegatedAuthzRequests, {"<error>"}).value, 1);
  EXPECT_EQ(value(Metric::kDelegatedAuthzRequestDuration, {"<error>"}).sum, 0.5);
}

}  // namespace
}  // namespace berth::app
