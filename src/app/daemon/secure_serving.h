// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "berth/result.h"
#include "berth/time.h"
#include "src/app/daemon/request_metrics.h"
#include "src/app/flags/flags.h"
#include "src/client/curl_client.h"
#include "src/metrics/registry.h"
#include "src/serving/server.h"

namespace berth::app {

// The HTTPS server as the flags describe it, with clients of its own for the questions that it asks
// the API server, so that those wait neither for the scheduler's nor hold them up.
//
// Thread safety: one owner.
class SecureServing {
 public:
  // Binds the socket. nullptr where --secure-port is 0. `clock` and `registry`, where callers and
  // questions are counted, outlive the server. Errors: a kubeconfig or a certificate that cannot be
  // used, an address that is taken.
  static Result<std::unique_ptr<SecureServing>> Make(const RunFlags& flags, const Clock& clock,
                                                     uint64_t seed, metrics::Registry& registry,
                                                     std::shared_ptr<const serving::Router> router);
  // After the scheduling thread has ended: it may hold questions that the server waits for.
  ~SecureServing();
  SecureServing(const SecureServing&) = delete;
  SecureServing& operator=(const SecureServing&) = delete;

  // Errors: what must be looked up in the cluster could not be.
  Result<void> Start() { return server_->Start(); }
  void Stop(Duration grace) { server_->Stop(grace); }
  int port() const { return server_->port(); }

 private:
  explicit SecureServing(metrics::Registry& registry)
      : request_metrics_(registry), access_metrics_(registry) {}

  RequestMetrics request_metrics_;
  AccessMetrics access_metrics_;
  std::unique_ptr<client::CurlClient> authentication_;  // nullptr: none
  std::unique_ptr<client::CurlClient> authorization_;   // nullptr: none, or the other
  std::unique_ptr<serving::Server> server_;
};

}  // namespace berth::app
