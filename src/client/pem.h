// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

// Whether PEM files are whole: one that is being replaced may be read half-written.
namespace berth::client {

// One certificate at least, each readable, and no block that is cut off.
bool HoldsCertificates(std::string_view pem);

// The same, and `key_pem` holds the private key of the first certificate. A key with a password
// counts as unreadable.
bool IsPair(std::string_view certificate_pem, std::string_view key_pem);

}  // namespace berth::client
