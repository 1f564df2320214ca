// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "src/client/curl_client.h"
#include "src/metrics/registry.h"
#include "src/serving/reviews.h"

namespace berth::app {

// Counts what the client does, as rest_client_*, labelled as kube-scheduler's client does: both
// `verb` and `method` hold the HTTP method.
//
// Thread safety: any thread.
class RequestMetrics final : public client::RequestObserver {
 public:
  // `registry` must outlive this.
  explicit RequestMetrics(metrics::Registry& registry) : registry_(registry) {}

  void OnAttempt(const Attempt& attempt) override;
  void OnEnd(const End& end) override;
  void OnRateLimited(client::Verb verb, std::string_view host, Duration waited) override;

 private:
  metrics::Registry& registry_;
};

// Counts who asks for the HTTPS endpoints, and what the API server was asked about them, as
// kube-scheduler's server does. Names of users become one of a few.
//
// Thread safety: any thread.
class AccessMetrics final : public serving::AccessObserver {
 public:
  // `registry` must outlive this.
  explicit AccessMetrics(metrics::Registry& registry) : registry_(registry) {}

  void OnAuthenticated(std::string_view result, const serving::User* user, Duration took) override;
  void OnAuthorized(std::string_view result, Duration took) override;
  void OnReviewed(const serving::ReviewKind& kind, int code, Duration took) override;

 private:
  metrics::Registry& registry_;
};

}  // namespace berth::app
