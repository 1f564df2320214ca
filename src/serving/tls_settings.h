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
// A cipher list for up to TLS 1.2; suites of TLS 1.3 are always on, as in Go. Errors: a suite that
// is unknown or not offered by OpenSSL.
Result<std::string> ParseCipherSuites(const std::vector<std::string>& names);
// A group list. Errors: a curve that is unknown; those that only newer OpenSSLs know are left out
// where another remains.
Result<std::string> ParseCurves(const std::vector<int32_t>& curves);

}  // namespace berth::serving
