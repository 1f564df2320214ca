// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

// What Go's package unicode knows of code points, of the Go that builds kube-scheduler: what
// patterns may name, and what differs by case alone. tests/oracle/patterns writes the tables and
// holds them to Go's.
//
// Thread safety: constants.
namespace berth::cel {

// Code points one after the other, the first run from 0: how many, and what they are.
struct UnicodeRun {
  uint32_t count;
  uint32_t value;
};

// `value` is the number of a bit.
std::span<const UnicodeRun> UnicodeCategoryRuns();
// `value` is the script's number; 0: of no script.
std::span<const UnicodeRun> UnicodeScriptRuns();

// A name as \p{...} finds it: first letter large, the others small, without '_', '-' and ' '.
struct UnicodeName {
  std::string_view name;
  uint32_t value;
};

// `value` has the bits of all categories that it stands for.
std::span<const UnicodeName> UnicodeCategoryNames();
// `value` is the script's number.
std::span<const UnicodeName> UnicodeScriptNames();

// Of the code points from `first` to `last`, each `step`-th one and the one `distance` after it
// differ by case alone. Those that do go around in a circle.
struct UnicodeFold {
  uint32_t first;
  uint32_t last;
  uint32_t step;
  int32_t distance;
};
std::span<const UnicodeFold> UnicodeFolds();

}  // namespace berth::cel
