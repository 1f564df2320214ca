// SPDX-License-Identifier: Apache-2.0
#include "src/app/daemon/request_metrics.h"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <string>

namespace berth::app {
namespace {

using metrics::Metric;

std::string_view Method(client::Verb verb) {
  switch (verb) {
    case client::Verb::kGet:
    case client::Verb::kList:
    case client::Verb::kWatch:
      return "GET";
    case client::Verb::kCreate:
      return "POST";
    case client::Verb::kUpdate:
      return "PUT";
    case client::Verb::kPatch:
      return "PATCH";
    case client::Verb::kDelete:
      return "DELETE";
  }
  return "";
}

std::string CodeLabel(int code) { return code == 0 ? "<error>" : std::to_string(code); }

// As upstream sorts them, so that their number is bounded and metrics tell no names.
std::string_view UserLabel(std::string_view name) {
  constexpr std::string_view kKnown[] = {"admin", "client", "kube_proxy", "kubelet",
                                         "system:serviceaccount:kube-system:default"};
  if (std::ranges::find(kKnown, name) != std::end(kKnown)) return name;
  return name.find('@') != std::string_view::npos ? "email_id" : "other";
}

double Seconds(Duration duration) { return std::chrono::duration<double>(duration).count(); }

}  // namespace

void RequestMetrics::OnAttempt(const Attempt& attempt) {
  const std::string code = CodeLabel(attempt.code);
  registry_.Add(
      registry_.Intern(Metric::kRestClientRequests, {code, attempt.method, attempt.host}));
  const auto observe = [&](Metric metric, double value) {
    registry_.Observe(registry_.Intern(metric, {attempt.method, attempt.host}), value);
  };
  // A watch lasts for minutes by design; client-go does not time it either.
  if (attempt.verb != client::Verb::kWatch) {
    observe(Metric::kRestClientRequestDuration, Seconds(attempt.duration));
  }
  observe(Metric::kRestClientRequestSize, static_cast<double>(attempt.request_bytes));
  observe(Metric::kRestClientResponseSize, static_cast<double>(attempt.response_bytes));
}

void RequestMetrics::OnRateLimited(client::Verb verb, std::string_view host, Duration waited) {
  registry_.Observe(registry_.Intern(Metric::kRestClientRateLimiterDuration, {Method(verb), host}),
                    Seconds(waited));
}

void RequestMetrics::OnRetry(client::Verb verb, std::string_view host, int code) {
  const std::string label = CodeLabel(code);
  registry_.Add(registry_.Intern(Metric::kRestClientRequestRetries, {label, Method(verb), host}));
}

void AccessMetrics::OnAuthenticated(std::string_view result, const serving::User* user,
                                    Duration took) {
  if (user != nullptr) {
    registry_.Add(registry_.Intern(Metric::kAuthenticatedUserRequests, {UserLabel(user->name)}));
  }
  registry_.Add(registry_.Intern(Metric::kAuthenticationAttempts, {result}));
  registry_.Observe(registry_.Intern(Metric::kAuthenticationDuration, {result}), Seconds(took));
}

void AccessMetrics::OnAuthorized(std::string_view result, Duration took) {
  registry_.Add(registry_.Intern(Metric::kAuthorizationAttempts, {result}));
  registry_.Observe(registry_.Intern(Metric::kAuthorizationDuration, {result}), Seconds(took));
}

void AccessMetrics::OnReviewed(const serving::ReviewKind& kind, int code, Duration took) {
  const bool of_token = kind.kind == serving::kTokenReview.kind;
  const std::string label = CodeLabel(code);
  registry_.Add(registry_.Intern(
      of_token ? Metric::kDelegatedAuthnRequests : Metric::kDelegatedAuthzRequests, {label}));
  registry_.Observe(registry_.Intern(of_token ? Metric::kDelegatedAuthnRequestDuration
                                              : Metric::kDelegatedAuthzRequestDuration,
                                     {label}),
                    Seconds(took));
}

}  // namespace berth::app
