// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "berth/result.h"

namespace berth::profiling {

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
