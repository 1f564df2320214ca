// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "berth/result.h"
#include "berth/time.h"
#include "src/base/event_loop.h"
#include "src/base/thread.h"
#include "src/client/api_client.h"
#include "src/serving/access_gate.h"
#include "src/serving/authentication_config.h"
#include "src/serving/http_server.h"
#include "src/serving/router.h"
#include "src/serving/tls_context.h"

namespace berth::serving {

struct ServerOptions {
  ListenOptions listen;
  ServerLimits limits;
  TlsOptions tls;
  AuthenticationOptions authentication;
  // A failed lookup of authentication's configuration keeps the daemon from starting.
  bool lookup_must_succeed = false;
  std::vector<std::string> always_allow_paths = {"/healthz", "/readyz", "/livez"};
  Duration allowed_ttl = std::chrono::seconds(10);
  Duration denied_ttl = std::chrono::seconds(10);
  AccessGate::AboutObject about_object = {};
  AccessObserver* observer = nullptr;  // outlives the server
};

// The API servers that answer questions about users; either may be nullptr: there is none.
struct AccessApis {
  client::ApiClient* authentication = nullptr;
  client::ApiClient* authorization = nullptr;
};

// The HTTPS endpoints: socket, TLS, access and router on a thread of their own, "berth-serve".
//
// Thread safety: one owner. The router's handlers run on the server's thread.
class Server {
 public:
  // Binds the socket. `clock` and `apis` outlive the server. Errors: with the flag's name where a
  // flag is wrong; an address that is taken.
  static Result<std::unique_ptr<Server>> Make(ServerOptions options, AccessApis apis,
                                              const Clock& clock,
                                              std::shared_ptr<const Router> router);
  // What Make() would find wrong, but for the address and the API servers: nothing listens. As
  // Make(), it makes the own certificate where that is kept in a folder.
  static Result<void> Check(ServerOptions options, const Clock& clock);
  // Ends at once. No handler may answer any more: the threads that answer have ended, and
  // the API clients are closed.
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  // Starts to serve; returns once authentication's configuration has been looked up, or that
  // failed, but within 10 s or so. Errors: it must succeed and did not.
  Result<void> Start();
  // Takes no further connection, and waits up to `grace` for answers under way.
  void Stop(Duration grace);

  int port() const { return https_->port(); }

 private:
  Server(const Clock& clock) : clock_(clock), loop_(clock) {}
  void ReloadCertificates();

  const Clock& clock_;
  base::EventLoop loop_;
  bool lookup_must_succeed_ = false;
  bool logged_lookup_failure_ = false;
  bool logged_reload_failure_ = false;
  std::unique_ptr<TlsContext> tls_;
  std::shared_ptr<AuthenticationConfig> authentication_;
  std::unique_ptr<AccessGate> gate_;
  std::unique_ptr<HttpServer> https_;
  base::NamedThread thread_;
};

}  // namespace berth::serving
