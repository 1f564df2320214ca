// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "berth/result.h"

// The TLS flags' words, Go's, in OpenSSL's.
//
// Thread safety: any thread.
namespace berth::serving {

// The protocol number of "VersionTLS12" (0x0303); "" means that one. Errors: another word.
Result<int> ParseTlsVersion(const std::string& name);
// The suites of TLS 1.3, which are always on, as in Go.
inline constexpr const char* kTls13CipherSuites =
    "TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256";
// A cipher list for up to TLS 1.2; of no names, those that Go has on by default. A suite that Go
// has and OpenSSL has not is left out, which the log says. Errors: a suite that Go does not have.
Result<std::string> ParseCipherSuites(const std::vector<std::string>& names);
// A group list; of no curves, Go's default. Errors: a curve that is unknown; those that only newer
// OpenSSLs know are left out where another remains.
Result<std::string> ParseCurves(const std::vector<int32_t>& curves);

}  // namespace berth::serving
