// SPDX-License-Identifier: Apache-2.0
#include "src/app/daemon/secure_serving.h"

#include <absl/strings/ascii.h>

#include <utility>
#include <vector>

#include "src/app/endpoints/debug_questions.h"
#include "src/app/endpoints/pprof.h"
#include "src/app/version.h"
#include "src/base/logging.h"

namespace berth::app {
namespace {

// Header names are compared in lower case.
std::vector<std::string> Lower(std::vector<std::string> names) {
  for (std::string& name : names) absl::AsciiStrToLower(&name);
  return names;
}

serving::ServerOptions OptionsOf(const RunFlags& flags) {
  const SecureServingFlags& secure = flags.secure_serving;
  serving::ServerOptions options;
  options.listen.address = secure.bind_address.empty() ? "0.0.0.0" : secure.bind_address;
  options.listen.port = static_cast<int>(secure.secure_port);
  options.listen.share_port = secure.permit_port_sharing;
  options.limits.body_bytes_of = {{std::string(kSimulatePath), kMostQuestionBytes}};
  options.limits.answer_of = {{std::string(kProfilePath),
                               options.limits.answer + std::chrono::seconds(kMostProfileSeconds)}};
  options.tls.certificate_file = secure.tls_cert_file;
  options.tls.key_file = secure.tls_private_key_file;
  options.tls.own_certificate_folder = secure.cert_dir;
  options.tls.own_address = options.listen.address;
  for (const SniCertificate& sni : secure.tls_sni_cert_key) {
    options.tls.sni.push_back({sni.cert_file, sni.key_file, sni.names});
  }
  options.tls.min_version = secure.tls_min_version;
  options.tls.cipher_suites = secure.tls_cipher_suites;
  options.tls.curves = secure.tls_curve_preferences;

  const AuthenticationFlags& who = flags.authentication;
  options.authentication.client_ca_file = who.client_ca_file;
  options.authentication.request_header_client_ca_file = who.requestheader_client_ca_file;
  options.authentication.request_header = {
      Lower(who.requestheader_username_headers), Lower(who.requestheader_uid_headers),
      Lower(who.requestheader_group_headers), Lower(who.requestheader_extra_headers_prefix),
      who.requestheader_allowed_names};
  options.authentication.skip_lookup = who.skip_lookup;
  options.authentication.token_cache_ttl = who.token_webhook_cache_ttl;
  options.lookup_must_succeed = !who.tolerate_lookup_failure;

  options.always_allow_paths = flags.authorization.always_allow_paths;
  options.allowed_ttl = flags.authorization.webhook_cache_authorized_ttl;
  options.denied_ttl = flags.authorization.webhook_cache_unauthorized_ttl;
  options.about_object = PodAskedAbout;
  return options;
}

// A client for the server that the flag names or, without it, for that of the pod that we run in;
// nullptr outside one. Errors: the kubeconfig cannot be used.
Result<std::unique_ptr<client::CurlClient>> MakeClient(const std::string& flag,
                                                       const std::string& kubeconfig, uint64_t seed,
                                                       client::RequestObserver& observer,
                                                       const Clock& clock) {
  const auto server =
      kubeconfig.empty() ? client::InClusterConfig() : client::FindServer(kubeconfig, "");
  if (!server && kubeconfig.empty()) {
    base::LogWarning("No API server can be asked about the callers of the HTTPS endpoints",
                     {{"flag", "--" + flag}, {"reason", "it is not given"}});
    return nullptr;
  }
  if (!server) return Fail(server.error().Within("--" + flag));
  client::ClientOptions options;
  options.server = *server;
  options.qps = 200;
  options.burst = 400;
  options.user_agent = client::UserAgent(kVersion, kKubernetesVersion, "scheduler");
  options.seed = seed;
  options.observer = &observer;
  return client::CurlClient::Make(std::move(options), clock);
}

}  // namespace

Result<std::unique_ptr<SecureServing>> SecureServing::Make(
    const RunFlags& flags, const Clock& clock, uint64_t seed, metrics::Registry& registry,
    std::shared_ptr<const serving::Router> router) {
  if (flags.secure_serving.secure_port == 0) return nullptr;
  std::unique_ptr<SecureServing> made(new SecureServing(registry));
  auto client = MakeClient("authentication-kubeconfig", flags.authentication.kubeconfig, seed,
                           made->request_metrics_, clock);
  if (!client) return Fail(client.error());
  made->authentication_ = std::move(*client);
  serving::AccessApis apis{made->authentication_.get(), made->authentication_.get()};
  if (flags.authorization.kubeconfig != flags.authentication.kubeconfig) {
    client = MakeClient("authorization-kubeconfig", flags.authorization.kubeconfig, seed,
                        made->request_metrics_, clock);
    if (!client) return Fail(client.error());
    made->authorization_ = std::move(*client);
    apis.authorization = made->authorization_.get();
  }
  serving::ServerOptions options = OptionsOf(flags);
  options.observer = &made->access_metrics_;
  auto server = serving::Server::Make(std::move(options), apis, clock, std::move(router));
  if (!server) return Fail(server.error());
  made->server_ = std::move(*server);
  return made;
}

SecureServing::~SecureServing() {
  // Their last answers go to the server's thread.
  if (authentication_ != nullptr) authentication_->Close();
  if (authorization_ != nullptr) authorization_->Close();
  server_.reset();
}

}  // namespace berth::app
