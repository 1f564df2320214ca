// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "src/cel/environment.h"
#include "src/cel/value.h"

// What conversions, operators and selections make of values.
//
// Thread safety: any thread; no state.
namespace berth::cel {

// int(x), string(x), ... An error: the value has no such form, or is out of range.
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

// a + b of two numbers, strings, bytes, lists, durations, or a duration and a timestamp. May take
// what `a` holds. An error: overflow, or kinds that do not add.
Value Add(Budget& budget, Value& a, const Value& b);

// seconds since the epoch and nanoseconds, moved by a duration.
Value MoveTime(const Timestamp& time, int64_t nanos);
// a - b as a duration.
Value TimeBetween(const Timestamp& a, const Timestamp& b);

// Chains of selections (a.b[c].?d) go from value to value. Whether one may select by the value: a
// name, a number or a truth value.
bool IsKey(const Value& key);

// Takes the value out of an optional, so that the chain selects from it.
void BeginChain(Value& value);

// Replaces `value` by what it has at the key, or by an error. `optional`: what is not there ends
// the chain with optional.none(). `presence`: by whether it is there. Returns the cost.
uint64_t Select(Value& value, const Value& key, bool optional, bool presence);

// `presence`: the chain was has()'s.
void EndChain(Value& value, bool presence);

// The name that messages have for what holds a value ("types.Int").
std::string ImplementationName(const Value& value);

}  // namespace berth::cel
