// SPDX-License-Identifier: Apache-2.0
#include <curl/curl.h>

#include <cstdlib>
#include <memory>

#include "src/base/file.h"
#include "src/base/text.h"
#include "src/client/kubeconfig.h"

namespace berth::client {
namespace {

std::string FromEnvironment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

std::string UrlPart(CURLU* url, CURLUPart part, unsigned flags = 0) {
  char* text = nullptr;
  if (curl_url_get(url, part, &text, flags) != CURLUE_OK || text == nullptr) return {};
  std::string out = text;
  curl_free(text);
  return out;
}

std::string Bracketed(const std::string& host) {
  return base::Contains(host, ":") ? base::Concat("[", host, "]") : host;
}

}  // namespace

std::string ServerAddress::HostPort() const { return base::Concat(Bracketed(host), ":", port); }

Result<ServerAddress> ParseServerAddress(const std::string& server, bool tls_configured) {
  const auto fail = [&server](std::string_view why) {
    return Fail(base::Concat("server \"", server, "\": ", why));
  };
  if (server.empty()) return fail("must be given");
  const bool bare = !base::Contains(server, "://");
  const std::string full =
      bare ? base::Concat(tls_configured ? "https://" : "http://", server) : server;
  const std::unique_ptr<CURLU, void (*)(CURLU*)> url(curl_url(), curl_url_cleanup);
  const CURLUcode code = curl_url_set(url.get(), CURLUPART_URL, full.c_str(), 0);
  if (code != CURLUE_OK) return fail(curl_url_strerror(code));

  ServerAddress address;
  address.scheme = UrlPart(url.get(), CURLUPART_SCHEME);
  if (address.scheme != "https" && address.scheme != "http") return fail("must be http or https");
  address.host = UrlPart(url.get(), CURLUPART_HOST);
  // IPv6 comes in its brackets.
  if (address.host.starts_with('[')) address.host = address.host.substr(1, address.host.size() - 2);
  address.port = UrlPart(url.get(), CURLUPART_PORT, CURLU_DEFAULT_PORT);
  address.path = UrlPart(url.get(), CURLUPART_PATH);
  const size_t begin = full.find("://") + 3;
  address.authority = full.substr(begin, full.find_first_of("/?#", begin) - begin);
  while (address.path.ends_with('/')) address.path.pop_back();
  if (!UrlPart(url.get(), CURLUPART_USER).empty()) return fail("must not hold a user name");
  if (!UrlPart(url.get(), CURLUPART_QUERY).empty()) return fail("must not hold a query");
  return address;
}

Result<ServerConfig> InClusterConfig(const InClusterOptions& options) {
  const std::string host =
      options.host.empty() ? FromEnvironment("KUBERNETES_SERVICE_HOST") : options.host;
  const std::string port =
      options.port.empty() ? FromEnvironment("KUBERNETES_SERVICE_PORT") : options.port;
  if (host.empty() || port.empty()) {
    return Fail(
        "not in a cluster: KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are not set, and no "
        "kubeconfig was given");
  }
  ServerConfig config;
  config.cluster.server = base::Concat("https://", Bracketed(host), ":", port);
  config.cluster.ca_file = options.folder + "/ca.crt";
  config.user.token_file = options.folder + "/token";
  for (const std::string* path : {&config.cluster.ca_file, &config.user.token_file}) {
    if (auto content = base::ReadFile(*path); !content) {
      return Fail(content.error().Within("in-cluster credentials"));
    }
  }
  if (auto name = base::ReadFile(options.folder + "/namespace")) {
    config.default_namespace = base::Trim(*name);
  }
  return config;
}

Result<ServerConfig> FindServer(const std::string& kubeconfig, const std::string& master) {
  if (!kubeconfig.empty())
    return LoadKubeconfig({.path = kubeconfig, .context = {}, .master = master});
  if (master.empty()) return InClusterConfig();
  ServerConfig config;
  config.cluster.server = master;
  return config;
}

}  // namespace berth::client
