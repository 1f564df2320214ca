// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "src/cel/environment.h"
#include "src/cel/pattern.h"
#include "src/cel/value.h"

// What a checked tree is compiled to: instructions for a stack machine (src/cel/machine.h).
//
// Thread safety: a program never changes once it is built.
namespace berth::cel {

enum class Op : uint8_t {
  kConstant,   // pushes constants[a]
  kVariable,   // pushes variable a of the environment
  kLocal,      // pushes local a
  kTakeLocal,  // the same and leaves the local empty: the step overwrites it
  // Pushes local a, whose value is computed by the code at b when it is first asked for.
  kLazyLocal,
  kForget,       // makes local a lazy again
  kReturnLocal,  // ends the code that kLazyLocal ran: the top is local a's value

  // A chain selects from the value on top, then from what was selected, and so on. An error, or an
  // optional without value, passes to its end.
  kBeginChain,  // takes the value out of an optional
  kSelect,      // by the key constants[a]; b: Selection bits
  kGuard,       // to a when there is nothing to select from
  kIndex,       // by the key on top; b: Selection bits
  kEndChain,    // into an optional again if it came from one; costs a

  kJump,      // to a
  kAndShort,  // to a when the top is false
  kAnd,       // of the top two
  kOrShort,   // to a when the top is true
  kOr,
  kBranch,      // pops a bool: on when true, to a when false; else pushes an error and goes to b
  kOrOptional,  // keeps an optional that has a value, or an error, and goes to a; else pops it
  kOrValue,     // the same, and takes out the value

  kCall,         // calls[a]
  kStopOnError,  // when the top is an error: drops the a values below it and goes to b
  kEqual,
  kNotEqual,
  kInSet,  // of the top, in the keys of the map constants[a]
  kList,   // of literals[a]
  kMap,    // of literals[a]

  kLoop,      // pops what loops[a] goes over; to b when it cannot
  kNext,      // to b when loops[a] is at its end, else sets its variables
  kContinue,  // pops a condition; to b when it is false
  kSetLocal,  // pops into local a
  kEndLoop,   // loops[a]
};

// Of kEndChain: the chain was has()'s, and of such a one that it selected from a choice, which gets
// back what it cost.
inline constexpr uint32_t kHas = 1;
inline constexpr uint32_t kHasOfChoice = 2;

// Of kSelect and kIndex.
inline constexpr uint32_t kOptionalKey = 1;  // ".?", "[?"
inline constexpr uint32_t kPresence = 2;     // has()

struct Instruction {
  Op op;
  uint32_t a = 0;
  uint32_t b = 0;
};

struct CallSite {
  const Function* function = nullptr;
  // The one that the checker found; nullptr: the arguments say which.
  const Overload* overload = nullptr;
  uint32_t count = 0;
  Cost cost = Cost::kOne;
  // Of a constant pattern, for matches, find and findAll.
  std::shared_ptr<const Pattern> pattern;
};

struct Literal {
  uint32_t count = 0;          // elements, or entries
  std::vector<bool> optional;  // empty: none is
};

struct Loop {
  uint32_t first = 0;  // locals
  uint32_t second = 0;
  bool two = false;
};

struct Program {
  std::vector<Instruction> code;
  std::vector<Value> constants;
  std::vector<CallSite> calls;
  std::vector<Literal> literals;
  std::vector<Loop> loops;
  uint32_t locals = 0;
};

}  // namespace berth::cel
