// SPDX-License-Identifier: Apache-2.0
#include "src/app/commands/daemon_client.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "src/app/commands/leader.h"
#include "src/app/version.h"
#include "src/base/clock.h"
#include "src/base/inbox.h"
#include "src/client/curl_client.h"

namespace berth::app {
namespace {

// The daemon gives up after 30 s.
constexpr Duration kPatience = std::chrono::seconds(35);

Result<void> CheckCredentials(const DaemonFlags& flags) {
  if (flags.client_certificate.empty() != flags.client_key.empty()) {
    return Fail("--client-certificate and --client-key go together");
  }
  if (flags.insecure_skip_tls_verify && !flags.certificate_authority.empty()) {
    return Fail("--certificate-authority and --insecure-skip-tls-verify exclude each other");
  }
  return {};
}

}  // namespace

void AddDaemon(FlagSet& flags, DaemonFlags& out, bool finds) {
  flags.Group("Daemon flags");
  if (finds) {
    flags.Add("daemon", "URL",
              "Asks this scheduler, such as https://127.0.0.1:10259, for its verdict and where the "
              "pod stands in its queue; without it the one that holds the lease, if one does, by "
              "`kubectl port-forward`; none: asks none.",
              [&out](const std::string& value) -> Result<void> {
                out.none = value == "none";
                out.url = out.none ? "" : value;
                return {};
              });
    out.lease = kDefaultLease;
    flags.Add(
        "lease", "NAMESPACE/NAME",
        std::string("The lease that the scheduler holds which is asked (") + kDefaultLease + ").",
        [&out](const std::string& value) -> Result<void> {
          const size_t slash = value.find('/');
          const bool whole = slash != std::string::npos && slash > 0 && slash + 1 < value.size() &&
                             value.rfind('/') == slash;
          if (!whole) return Fail("must be NAMESPACE/NAME");
          out.lease = value;
          return {};
        });
  } else {
    flags.AddText(
        "daemon", "URL",
        "Asks the scheduler that runs, such as https://127.0.0.1:10259, instead: its verdict, and "
        "where the pod stands in its queue.",
        out.url);
  }
  flags.AddText("token", "TOKEN", "The bearer token to show to the daemon.", out.token);
  flags.AddText("token-file", "FILE", "The file that holds the token.", out.token_file);
  flags.AddText("client-certificate", "FILE", "The certificate to show to the daemon.",
                out.client_certificate);
  flags.AddText("client-key", "FILE", "The key of the certificate.", out.client_key);
  flags.AddText(
      "certificate-authority", "FILE",
      "Who signed the daemon's certificate; without it, the authorities of the system count.",
      out.certificate_authority);
  flags.AddText(
      "tls-server-name", "NAME",
      "The name that the daemon's certificate is to have, where it is not the URL's host.",
      out.tls_server_name);
  flags.Value(
      "insecure-skip-tls-verify",
      "Does not look at the daemon's certificate, so that any program that answers gets the "
      "credentials.",
      out.insecure_skip_tls_verify);
}

Result<void> CheckDaemon(const DaemonFlags& flags) {
  // Where the leader is looked for, they are for that one.
  if (flags.url.empty() && !flags.lease.empty() && !flags.none) return CheckCredentials(flags);
  if (flags.url.empty()) {
    for (const auto& [name, value] : {std::pair("token", &flags.token),
                                      {"token-file", &flags.token_file},
                                      {"client-certificate", &flags.client_certificate},
                                      {"client-key", &flags.client_key},
                                      {"certificate-authority", &flags.certificate_authority},
                                      {"tls-server-name", &flags.tls_server_name}}) {
      if (!value->empty()) return Fail("--" + std::string(name) + " goes with --daemon");
    }
    if (flags.insecure_skip_tls_verify) {
      return Fail("--insecure-skip-tls-verify goes with --daemon");
    }
    return {};
  }
  const auto address = client::ParseServerAddress(flags.url, true);
  if (!address) return Fail(address.error().Within("--daemon"));
  if (!address->tls()) return Fail("--daemon: must be an https:// URL");
  return CheckCredentials(flags);
}

client::ServerConfig ServerOf(const DaemonFlags& flags, client::UserConfig user) {
  client::ServerConfig server;
  server.cluster.server = flags.url;
  server.cluster.ca_file = flags.certificate_authority;
  server.cluster.tls_server_name = flags.tls_server_name;
  server.cluster.insecure_skip_tls_verify = flags.insecure_skip_tls_verify;
  const bool own =
      !flags.token.empty() || !flags.token_file.empty() || !flags.client_certificate.empty();
  if (!own) {
    server.user = std::move(user);
    return server;
  }
  server.user.token = flags.token;
  server.user.token_file = flags.token_file;
  server.user.client_certificate_file = flags.client_certificate;
  server.user.client_key_file = flags.client_key;
  return server;
}

client::ResponseResult AskDaemon(client::ServerConfig server, const std::string& path,
                                 Duration longest) {
  const Duration patience = longest > Duration::zero() ? std::min(longest, kPatience) : kPatience;
  return Get(std::move(server), path, "*/*", patience);
}

client::ResponseResult Get(client::ServerConfig server, const std::string& path,
                           const std::string& accept, Duration timeout) {
  const base::RealClock clock;
  client::ClientOptions options;
  options.server = std::move(server);
  options.user_agent = client::UserAgent(kVersion, kKubernetesVersion, "explain");
  auto client = client::CurlClient::Make(std::move(options), clock);
  if (!client) return tl::unexpected(client::ApiError{.message = client.error().message});
  client::Request request;
  request.path = path;
  request.accept = accept;
  request.timeout = timeout;
  request.max_retries = 0;
  base::Inbox<client::ResponseResult> answers;
  const auto call = (*client)->Send(std::move(request), [&answers](client::ResponseResult result) {
    answers.Push(std::move(result));
  });
  std::vector<client::ResponseResult> got;
  answers.Drain(got, std::nullopt);
  return std::move(got.front());
}

}  // namespace berth::app
