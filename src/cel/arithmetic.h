// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "src/cel/environment.h"
#include "src/cel/value.h"

namespace berth::cel {

// a + b of two numbers, strings, bytes, lists, durations, or a duration and a timestamp. May take
// what `a` holds. An error: overflow, or kinds that do not add.
Value Add(Budget& budget, Value& a, const Value& b);

// seconds since the epoch and nanoseconds, moved by a duration.
Value MoveTime(const Timestamp& time, int64_t nanos);
// a - b as a duration.
Value TimeBetween(const Timestamp& a, const Timestamp& b);

}  // namespace berth::cel
