// SPDX-License-Identifier: Apache-2.0
#include "src/serving/tls_settings.h"

#include <openssl/ssl.h>

#include <algorithm>
#include <array>
#include <set>
#include <span>
#include <string_view>

#include "src/base/logging.h"

namespace berth::serving {
namespace {

constexpr auto kTls13Suites = std::to_array<std::string_view>(
    {"TLS_AES_128_GCM_SHA256", "TLS_AES_256_GCM_SHA384", "TLS_CHACHA20_POLY1305_SHA256"});

// All others that Go has, also those that it holds to be insecure.
constexpr auto kOlderSuites = std::to_array<std::string_view>({
    "TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA",
    "TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA256",
    "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256",
    "TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA",
    "TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384",
    "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305",
    "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256",
    "TLS_ECDHE_ECDSA_WITH_RC4_128_SHA",
    "TLS_ECDHE_RSA_WITH_3DES_EDE_CBC_SHA",
    "TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA",
    "TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA256",
    "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256",
    "TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA",
    "TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384",
    "TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305",
    "TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256",
    "TLS_ECDHE_RSA_WITH_RC4_128_SHA",
    "TLS_RSA_WITH_3DES_EDE_CBC_SHA",
    "TLS_RSA_WITH_AES_128_CBC_SHA",
    "TLS_RSA_WITH_AES_128_CBC_SHA256",
    "TLS_RSA_WITH_AES_128_GCM_SHA256",
    "TLS_RSA_WITH_AES_256_CBC_SHA",
    "TLS_RSA_WITH_AES_256_GCM_SHA384",
    "TLS_RSA_WITH_RC4_128_SHA",
});

bool Has(std::span<const std::string_view> suites, std::string_view name) {
  return std::ranges::find(suites, name) != suites.end();
}

}  // namespace

Result<int> ParseTlsVersion(const std::string& name) {
  if (name == "VersionTLS10") return TLS1_VERSION;
  if (name == "VersionTLS11") return TLS1_1_VERSION;
  if (name.empty() || name == "VersionTLS12") return TLS1_2_VERSION;
  if (name == "VersionTLS13") return TLS1_3_VERSION;
  return Fail("unknown tls version \"" + name + "\"");
}

Result<std::string> ParseCipherSuites(const std::vector<std::string>& names) {
  // Forward secrecy only; those with CBC are for old clients, and last.
  if (names.empty()) {
    return ParseCipherSuites(
        {"TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256", "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256",
         "TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384", "TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384",
         "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256",
         "TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256", "TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA",
         "TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA", "TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA",
         "TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA"});
  }
  std::string list;
  std::string left_out;
  for (const std::string& name : names) {
    if (Has(kTls13Suites, name)) continue;
    if (!Has(kOlderSuites, name)) {
      return Fail("Cipher suite " + name + " not supported or doesn't exist");
    }
    // An older name of Go's lacks the hash.
    const std::string standard = name.ends_with("_POLY1305") ? name + "_SHA256" : name;
    const std::string cipher = OPENSSL_cipher_name(standard.c_str());
    const bool known = cipher != "(NONE)";
    std::string& target = known ? list : left_out;
    target += (target.empty() ? "" : ":") + (known ? cipher : name);
  }
  if (!left_out.empty()) {
    base::LogWarning("OpenSSL does not have these cipher suites", {{"suites", left_out}});
  }
  return list;
}

Result<std::string> ParseCurves(const std::vector<int32_t>& curves) {
  // Go's default begins with X25519MLKEM768 and its kin.
  if (curves.empty()) return ParseCurves({4588, 4587, 4589, 29, 23, 24, 25});
  std::string list;
  std::set<int32_t> known;
  for (const int32_t curve : curves) {
    const std::string preference = "curve preference " + std::to_string(curve);
    if (curve < 1 || curve > 65535) {
      return Fail(preference + " is out of range (must be 1-65535)");
    }
    if (!known.insert(curve).second) return Fail("duplicate " + preference);
    const char* name = nullptr;
    if (curve == 23) name = "P-256";
    if (curve == 24) name = "P-384";
    if (curve == 25) name = "P-521";
    if (curve == 29) name = "X25519";
    // X25519MLKEM768 and its kin.
    if (curve == 4587 || curve == 4588 || curve == 4589) continue;
    if (name == nullptr) return Fail(preference + " is not supported");
    list += (list.empty() ? "" : ":") + std::string(name);
  }
  if (list.empty() && !curves.empty()) return Fail("none of the curves is supported");
  return list;
}

}  // namespace berth::serving
