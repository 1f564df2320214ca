// SPDX-License-Identifier: Apache-2.0
#include "src/app/flags_without_effect.h"

#include <array>

#include "src/app/flag_values.h"

namespace berth::app {
namespace {

template <typename T>
Result<void> Is(const std::string& value) {
  const auto read = ReadFlagValue<T>(value);
  if (!read) return Fail(read.error());
  return {};
}

Result<void> IsPort(const std::string& value) {
  const auto port = ReadFlagValue<int32_t>(value);
  if (!port) return Fail(port.error());
  if (*port < 0 || *port > 65535) {
    return Fail("must be between 0 and 65535, inclusive. 0 for turning off secure port");
  }
  return {};
}

constexpr std::string_view kServing = "Secure serving flags";
constexpr std::string_view kAuthentication = "Authentication flags";
constexpr std::string_view kAuthorization = "Authorization flags";
constexpr std::string_view kMetrics = "Metrics flags";
constexpr std::string_view kLogs = "Logs flags";

constexpr auto kFlags = std::to_array<FlagWithoutEffect>({
    {kServing, "bind-address", "ip"},
    {kServing, "secure-port", "int", IsPort},
    {kServing, "cert-dir", "string"},
    {kServing, "tls-cert-file", "string"},
    {kServing, "tls-private-key-file", "string"},
    {kServing, "tls-sni-cert-key", "cert,key"},
    {kServing, "tls-min-version", "string"},
    {kServing, "tls-cipher-suites", "strings"},
    {kServing, "tls-curve-preferences", "ints"},
    {kServing, "http2-max-streams-per-connection", "int", Is<int32_t>},
    {kServing, "disable-http2-serving", "", Is<bool>},
    {kServing, "permit-port-sharing", "", Is<bool>},
    {kServing, "permit-address-sharing", "", Is<bool>},
    {kAuthentication, "authentication-kubeconfig", "string"},
    {kAuthentication, "authentication-skip-lookup", "", Is<bool>},
    {kAuthentication, "authentication-tolerate-lookup-failure", "", Is<bool>},
    {kAuthentication, "authentication-token-webhook-cache-ttl", "duration", Is<Duration>},
    {kAuthentication, "client-ca-file", "string"},
    {kAuthentication, "requestheader-client-ca-file", "string"},
    {kAuthentication, "requestheader-allowed-names", "strings"},
    {kAuthentication, "requestheader-username-headers", "strings"},
    {kAuthentication, "requestheader-group-headers", "strings"},
    {kAuthentication, "requestheader-uid-headers", "strings"},
    {kAuthentication, "requestheader-extra-headers-prefix", "strings"},
    {kAuthorization, "authorization-kubeconfig", "string"},
    {kAuthorization, "authorization-always-allow-paths", "strings"},
    {kAuthorization, "authorization-webhook-cache-authorized-ttl", "duration", Is<Duration>},
    {kAuthorization, "authorization-webhook-cache-unauthorized-ttl", "duration", Is<Duration>},
    {kMetrics, "show-hidden-metrics-for-version", "string"},
    {kMetrics, "disabled-metrics", "strings"},
    {kMetrics, "allow-metric-labels", "key=values"},
    {kMetrics, "allow-metric-labels-manifest", "string"},
    {kLogs, "vmodule", "pattern=level,..."},
    {kLogs, "log-flush-frequency", "duration", Is<Duration>},
    {kLogs, "log-text-split-stream", "", Is<bool>},
    {kLogs, "log-text-info-buffer-size", "quantity"},
    {kLogs, "log-json-split-stream", "", Is<bool>},
    {kLogs, "log-json-info-buffer-size", "quantity"},
});

}  // namespace

std::span<const FlagWithoutEffect> FlagsWithoutEffect() { return kFlags; }

}  // namespace berth::app
