// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "berth/result.h"

// Bytes in configuration files.
namespace berth::config {

// Standard alphabet with padding; line breaks are skipped. Errors: `illegal base64 data at input
// byte N`, as Go says it.
Result<std::string> DecodeBase64(std::string_view text);

}  // namespace berth::config
