// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "src/cel/program.h"

// Runs programs.
//
// Thread safety: any thread, several at once on one program.
namespace berth::cel {

struct Evaluation {
  Value value;  // an error value when the expression fails
  uint64_t cost = 0;
};

// `variables`: one value for each of the environment's, in their order. An evaluation that would
// cost more than `cost_limit`, or hold too much in memory, ends with an error that nothing in the
// expression can absorb.
Evaluation Run(const Program& program, std::span<const Value> variables, uint64_t cost_limit);

// One call, its cost not counted.
Value Invoke(const CallSite& site, Budget& budget, std::span<Value> args);

// matches, find or findAll with a pattern that is compiled already; the first argument is a string.
Value ApplyPattern(const Pattern& pattern, std::string_view function, std::span<const Value> args,
                   Budget& budget);

}  // namespace berth::cel
