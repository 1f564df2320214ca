// SPDX-License-Identifier: Apache-2.0
#include "src/serving/tls_settings.h"

#include <openssl/ssl.h>

#include <algorithm>

namespace berth::serving {

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
  constexpr const char* kTls13[] = {"TLS_AES_128_GCM_SHA256", "TLS_AES_256_GCM_SHA384",
                                    "TLS_CHACHA20_POLY1305_SHA256"};
  std::string list;
  for (const std::string& name : names) {
    if (std::find(std::begin(kTls13), std::end(kTls13), name) != std::end(kTls13)) continue;
    // An older name of Go's lacks the hash.
    const std::string standard = name.ends_with("_POLY1305") ? name + "_SHA256" : name;
    const std::string cipher = OPENSSL_cipher_name(standard.c_str());
    if (cipher == "(NONE)") {
      return Fail("Cipher suite " + name + " not supported or doesn't exist");
    }
    list += (list.empty() ? "" : ":") + cipher;
  }
  return list;
}

Result<std::string> ParseCurves(const std::vector<int32_t>& curves) {
  // Go's default begins with X25519MLKEM768 and its kin.
  if (curves.empty()) return ParseCurves({4588, 4587, 4589, 29, 23, 24, 25});
  std::string list;
  for (const int32_t curve : curves) {
    const char* name = nullptr;
    if (curve == 23) name = "P-256";
    if (curve == 24) name = "P-384";
    if (curve == 25) name = "P-521";
    if (curve == 29) name = "X25519";
    // X25519MLKEM768 and its kin.
    if (curve == 4587 || curve == 4588 || curve == 4589) continue;
    if (name == nullptr) return Fail("unknown curve " + std::to_string(curve));
    list += (list.empty() ? "" : ":") + std::string(name);
  }
  if (list.empty() && !curves.empty()) return Fail("none of the curves is supported");
  return list;
}

}  // namespace berth::serving
