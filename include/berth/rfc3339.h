// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace berth {

// A time as RFC 3339 writes it.
struct Rfc3339Time {
  int64_t seconds = 0;  // since 1970, UTC
  int32_t nanos = 0;
  int16_t offset_minutes = 0;  // of the zone that it is written in, east of UTC
};

// "2006-01-02T15:04:05.999+02:00", read as Go does: an hour may have one digit, a comma may stand
// for the point, and finer digits than nanoseconds are cut off. nullopt: other text.
//
// Thread safety: any thread.
std::optional<Rfc3339Time> ParseRfc3339(std::string_view text);

}  // namespace berth
