// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "src/cel/value.h"

// What int(x), string(x), ... make of a value. An error: the value has no such form, or is out of
// range.
//
// Thread safety: any thread; no state.
namespace berth::cel {

Value ToBool(const Value& value);
Value ToBytes(const Value& value);
Value ToDouble(const Value& value);
Value ToDuration(const Value& value);
Value ToInt(const Value& value);
Value ToText(const Value& value);
Value ToTimestamp(const Value& value);
Value ToUint(const Value& value);

// Years 1 to 9999.
bool IsTimestampInRange(int64_t seconds);
inline Value TimestampOverflow() { return Value::Error("timestamp overflow"); }

}  // namespace berth::cel
