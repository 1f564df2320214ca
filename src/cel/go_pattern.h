// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "berth/result.h"

namespace berth::cel {

// A regular expression as Go's package regexp reads it, in the words of RE2. The two share most of
// their syntax; this reads what they do not share: names of groups, names and tables of Unicode,
// \C, repetitions of what is left out.
//
// Thread safety: a value.
struct GoPattern {
  // Captures nothing of use, and says the same with any options of RE2 but Latin-1.
  std::string re2;
  // About how many RE2 takes for it, of which kMost is the limit.
  uint64_t instructions = 0;
  // How many parts its tree has.
  uint64_t nodes = 0;
  // It has \B, which RE2 finds between the bytes of one character, too.
  bool has_no_word_boundary = false;

  static constexpr uint64_t kMost = 1'600'000;
  // Longer texts are not read.
  static constexpr size_t kMaxBytes = size_t{128} << 10;

  // Errors: Go's, word by word: text that is no regular expression, or one nested too deeply or too
  // large for Go or for RE2. `work`, if given, gets what sets of code points took, of errors, too,
  // in steps; it has a limit.
  static Result<GoPattern> Read(std::string_view text, uint64_t* work = nullptr);
};

}  // namespace berth::cel
