// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "berth/result.h"
#include "berth/time.h"

// Times as the API writes them (RFC 3339, UTC).
namespace berth::api {

// "2006-01-02T15:04:05Z"; fractions of a second are cut off.
std::string FormatTime(Time time);
// "2006-01-02T15:04:05.000000Z".
std::string FormatMicroTime(Time time);

// Either form, with any number of fraction digits and any offset. Times that nanoseconds since 1970
// cannot hold (before 1677, after 2262) become the first or last that they can. Errors: other text.
Result<Time> ParseTime(std::string_view text);

// Seconds and nanoseconds since 1970, clamped in the same way.
Time TimeFromUnix(int64_t unix_seconds, int64_t nanos);

}  // namespace berth::api
