// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "berth/result.h"
#include "berth/time.h"

namespace berth::profiling {

// The addresses of a call stack, the innermost first; all but that one are return addresses.
using Stack = std::vector<uintptr_t>;

struct ValueType {
  std::string_view type;  // "cpu"
  std::string_view unit;  // "nanoseconds"
};

// A profile of this process in the form that pprof reads: profile.proto of
// github.com/google/pprof, not compressed. It names the files that are mapped, by build id, and the
// functions as far as those files have symbols; of a program without, `go tool pprof PROGRAM FILE`
// finds them where PROGRAM is the same build with symbols.
//
// Thread safety: one owner.
class Profile {
 public:
  // What each sample counts, in this order. `period` is of the last of them, and is what one
  // sample stands for.
  Profile(std::vector<ValueType> types, int64_t period)
      : types_(std::move(types)), period_(period) {}

  void Add(const Stack& stack, const std::vector<int64_t>& values);
  void SetTime(Time start, Duration duration) { start_ = start, duration_ = duration; }

  std::string Serialize() const;

 private:
  std::vector<ValueType> types_;
  int64_t period_;
  Time start_{};
  Duration duration_{};
  std::map<Stack, std::vector<int64_t>> samples_;
};

// Where the memory was allocated that is in use now, as pprof reads it: the sample types are those
// of Go's heap profile. By jemalloc's profile of a part of all allocations, which has to be on
// since the process started: MALLOC_CONF=prof:true. Errors: it is not, or the program has another
// allocator; its file cannot be written to the folder for temporary files.
//
// Thread safety: any thread, one at a time.
Result<std::string> HeapProfile();

// The same of a file that jemalloc wrote ("heap_v2"). Errors: it is none.
Result<std::string> ConvertHeapProfile(std::string_view jemalloc);

}  // namespace berth::profiling
