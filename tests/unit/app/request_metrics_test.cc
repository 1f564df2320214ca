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
