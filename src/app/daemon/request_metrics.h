// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "src/client/curl_client.h"
#include "src/metrics/registry.h"

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
  void OnRateLimited(client::Verb verb, std::string_view host, Duration waited) override;
  void OnRetry(client::Verb verb, std::string_view host, int code) override;

 private:
  metrics::Registry& registry_;
};

}  // namespace berth::app
