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
  const std::string_view method = Method(attempt.verb);
  registry_.Add(registry_.Intern(Metric::kRestClientRequests, {code, method, attempt.host}));
  if (attempt.is_retry) {
    registry_.Add(
        registry_.Intern(Metric::kRestClientRequestRetries, {code, method, attempt.host}));
  }
  // client-go neither measures watches nor times them: they last for minutes by design.
  if (attempt.verb == client::Verb::kWatch) return;
  registry_.Observe(registry_.Intern(Metric::kRestClientRequestSize, {method, attempt.host}),
                    static_cast<double>(attempt.request_bytes));
}

void RequestMetrics::OnEnd(const End& end) {
  if (end.verb == client::Verb::kWatch) return;
  const std::string_view method = Method(end.verb);
  registry_.Observe(registry_.Intern(Metric::kRestClientRequestDuration, {method, end.host}),
                    Seconds(end.duration));
  if (!end.response_bytes) return;
  registry_.Observe(registry_.Intern(Metric::kRestClientResponseSize, {method, end.host}),
                    static_cast<double>(*end.response_bytes));
}

void RequestMetrics::OnRateLimited(client::Verb verb, std::string_view host, Duration waited) {
  registry_.Observe(registry_.Intern(Metric::kRestClientRateLimiterDuration, {Method(verb), host}),
                    Seconds(waited));
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
