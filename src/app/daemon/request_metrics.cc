// SPDX-License-Identifier: Apache-2.0
#include "src/app/daemon/request_metrics.h"

#include <chrono>
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

}  // namespace berth::app
