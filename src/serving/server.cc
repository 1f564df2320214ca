// SPDX-License-Identifier: Apache-2.0
#include "src/serving/server.h"

#include <utility>

#include "src/base/inbox.h"
#include "src/base/logging.h"

namespace berth::serving {
namespace {

constexpr Duration kReloadPeriod = std::chrono::seconds(5);
// A little more than the lookup's own limit.
constexpr Duration kLookupPatience = std::chrono::seconds(12);

}  // namespace

Result<std::unique_ptr<Server>> Server::Make(ServerOptions options, AccessApis apis,
                                             const Clock& clock,
                                             std::shared_ptr<const Router> router) {
  std::unique_ptr<Server> server(new Server(clock));
  server->lookup_must_succeed_ = options.lookup_must_succeed;
  auto tls = TlsContext::Make(std::move(options.tls), clock.WallNow());
  if (!tls) return Fail(tls.error());
  server->tls_ = std::move(*tls);

  base::EventLoop& loop = server->loop_;
  const Duration token_ttl = options.authentication.token_cache_ttl;
  auto config = AuthenticationConfig::Make(std::move(options.authentication), apis.authentication,
                                           loop, clock);
  if (!config) return Fail(config.error());
  server->authentication_ = *config;
  std::shared_ptr<TokenReviews> tokens;
  if (apis.authentication != nullptr) {
    tokens = std::make_shared<TokenReviews>(*apis.authentication, loop, clock, token_ttl,
                                            options.observer);
  }
  std::shared_ptr<AccessReviews> reviews;
  if (apis.authorization != nullptr) {
    reviews = std::make_shared<AccessReviews>(*apis.authorization, loop, clock, options.allowed_ttl,
                                              options.denied_ttl, options.observer);
  }
  server->gate_ = std::make_unique<AccessGate>(
      std::make_unique<Authenticator>(std::move(*config), std::move(tokens), clock),
      std::move(reviews), std::move(options.always_allow_paths), std::move(router), clock,
      std::move(options.about_object), options.observer);

  auto https = HttpServer::Listen(
      options.listen, options.limits, server->tls_.get(), loop,
      [gate = server->gate_.get()](const RequestPtr& request, const Respond& respond) {
        gate->Serve(request, respond);
      },
      [gate = server->gate_.get()](const RequestPtr& head, const Decide& decide) {
        gate->Admit(head, decide);
      });
  if (!https) return Fail(https.error());
  server->https_ = std::move(*https);
  return server;
}

Result<void> Server::Check(ServerOptions options, const Clock& clock) {
  const auto tls = TlsContext::Make(std::move(options.tls), clock.WallNow());
  if (!tls) return Fail(tls.error());
  base::EventLoop loop(clock);
  const auto config =
      AuthenticationConfig::Make(std::move(options.authentication), nullptr, loop, clock);
  return config ? Result<void>() : Fail(config.error());
}

Server::~Server() {
  loop_.Post([this] { https_.reset(); });
  loop_.Stop();
  thread_.Join();
}

Result<void> Server::Start() {
  thread_ = base::NamedThread("berth-serve", [this] { loop_.Run(); });
  const auto lookups = std::make_shared<base::Inbox<Result<void>>>();
  const bool waits = authentication_->looks_up_proxy();
  loop_.Post([this, lookups] {
    https_->Start();
    ReloadCertificates();
    authentication_->Start([this, lookups](Result<void> done) {
      if (!done && !std::exchange(logged_lookup_failure_, true)) {
        base::LogWarning(
            "Authentication's configuration could not be looked up: no client "
            "certificate is believed until it is",
            {{"err", done.error().message}});
      }
      if (done) logged_lookup_failure_ = false;
      if (lookups->size() == 0) lookups->Push(std::move(done));
    });
  });
  if (!waits || !lookup_must_succeed_) return {};
  std::vector<Result<void>> first;
  const Time deadline = clock_.Now() + kLookupPatience;
  while (first.empty() && clock_.Now() < deadline) lookups->Drain(first, deadline - clock_.Now());
  if (first.empty()) return Fail("authentication's configuration could not be looked up in time");
  return first.front();
}

void Server::ReloadCertificates() {
  loop_.PostAfter(kReloadPeriod, [this] {
    const auto reloaded = tls_->Reload();
    if (reloaded && *reloaded) base::LogInfo("Read the serving certificate again");
    if (!reloaded && !logged_reload_failure_) {
      base::LogWarning("Keeping the old serving certificate", {{"err", reloaded.error().message}});
    }
    logged_reload_failure_ = !reloaded;
    ReloadCertificates();
  });
}

void Server::Stop(Duration grace) {
  const auto ended = std::make_shared<base::Inbox<bool>>();
  loop_.Post([this, grace, ended] { https_->Shutdown(grace, [ended] { ended->Push(true); }); });
  std::vector<bool> drained;
  const Time deadline = clock_.Now() + grace + std::chrono::seconds(1);
  while (drained.empty() && clock_.Now() < deadline) ended->Drain(drained, deadline - clock_.Now());
}

}  // namespace berth::serving
