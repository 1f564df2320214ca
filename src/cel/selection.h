// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "src/cel/value.h"

// How chains of selections (a.b[c].?d) go from value to value.
//
// Thread safety: any thread; no state.
namespace berth::cel {

// Whether a chain may select by the value: a name, a number or a truth value.
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
