// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "src/cel/environment.h"

namespace berth::cel {

// What a call costs, its result known. nullopt: the rule cannot be applied to these arguments.
// `steps`: of values that may be looked at.
std::optional<uint64_t> CostOf(Cost rule, std::span<const Value> args, const Value& result,
                               uint64_t& steps);

// Of == and !=: a tenth of the smaller side; 1 for extensions without a size to compare.
uint64_t CostOfEquality(const Value& a, const Value& b, bool negated);

}  // namespace berth::cel
