// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "src/serving/http.h"

namespace berth::serving {

// Thread safety: any thread.

// A packet's worth: less is not sent faster for being smaller.
inline constexpr size_t kWorthwhileBytes = 1400;

// Whether the client takes gzip.
bool TakesGzip(const Request& request);
// The text as a gzip file.
std::string Gzip(std::string_view text);

}  // namespace berth::serving
