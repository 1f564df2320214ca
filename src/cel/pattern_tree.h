// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "src/cel/rune_set.h"

namespace berth::cel {

enum class PatternOp : uint8_t {
  kEmpty,
  kLiteral,
  kSet,
  kAny,        // any code point
  kAnyInLine,  // any but \n
  kBeginText,
  kEndText,
  kBeginLine,
  kEndLine,
  kWordBoundary,
  kNoWordBoundary,
  kGroup,
  kStar,
  kPlus,
  kQuest,
  kRepeat,
  kConcat,
  kAlternate
};

// A part of a regular expression.
struct PatternNode {
  PatternOp op = PatternOp::kEmpty;
  bool greedy = true;     // of repetitions
  bool any_case = false;  // of literals
  int32_t min = 0;        // of kRepeat
  int32_t max = 0;        // -1: no limit
  std::u32string runes;   // of literals
  RuneSet set;            // clean
  std::vector<const PatternNode*> parts;

  // How many nodes there are from here to the lowest, this one included.
  uint32_t height = 1;
  // The most copies of one of its parts that counted repetitions make.
  uint32_t copies = 1;
  // How many instructions it takes: Go's, and, about, RE2's. Of literals see the functions.
  uint64_t go_instructions = 1;
  uint64_t re2_instructions = 1;
  // How many instructions that read nothing lead out of it in RE2's program.
  uint64_t exits = 0;
};

// What the tree's functions count stays below.
constexpr uint64_t kMostPatternInstructions = uint64_t{1} << 40;

uint64_t GoInstructions(const PatternNode& node);
uint64_t Re2Instructions(const PatternNode& node);

// Sets height, copies, instructions and exits, from the parts if it has any.
void Measure(PatternNode& node);

// The node as RE2 reads it: any code point by its number, names and flags resolved. It captures
// nothing of use.
std::string Re2Text(const PatternNode& node);

// Owns the nodes.
using PatternTree = std::deque<PatternNode>;

}  // namespace berth::cel
