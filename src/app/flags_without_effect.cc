// SPDX-License-Identifier: Apache-2.0
#include "src/app/flags_without_effect.h"

#include <array>

namespace berth::app {
namespace {

constexpr auto kFlags = std::to_array<std::string_view>({
    "authentication-kubeconfig",
    "authentication-skip-lookup",
    "authentication-token-webhook-cache-ttl",
    "authentication-tolerate-lookup-failure",
    "authorization-always-allow-paths",
    "authorization-kubeconfig",
    "authorization-webhook-cache-authorized-ttl",
    "authorization-webhook-cache-unauthorized-ttl",
    "bind-address",
    "cert-dir",
    "client-ca-file",
    "contention-profiling",
    "disable-http2-serving",
    "http2-max-streams-per-connection",
    "log-flush-frequency",
    "log-json-info-buffer-size",
    "log-text-info-buffer-size",
    "permit-address-sharing",
    "permit-port-sharing",
    "profiling",
    "requestheader-allowed-names",
    "requestheader-client-ca-file",
    "requestheader-extra-headers-prefix",
    "requestheader-group-headers",
    "requestheader-uid-headers",
    "requestheader-username-headers",
    "secure-port",
    "tls-cert-file",
    "tls-cipher-suites",
    "tls-curve-preferences",
    "tls-min-version",
    "tls-private-key-file",
    "tls-sni-cert-key",
});

}  // namespace

std::span<const std::string_view> FlagsWithoutEffect() { return kFlags; }

}  // namespace berth::app
