// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "src/client/api_client.h"

namespace berth::binding {

// In the API server's own words where it answered.
inline std::string Text(const client::ApiError& error) {
  return error.code != 0 && !error.message.empty() ? error.message : error.ToString();
}

}  // namespace berth::binding
