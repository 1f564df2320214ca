// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <malloc.h>

#include <cstddef>

namespace berth::test {

// How much memory is allocated now, in bytes; 0 always under a sanitizer, whose allocator does not
// say.
inline size_t HeapBytes() {
  const struct mallinfo2 info = mallinfo2();
  return info.uordblks + info.hblkhd;
}

}  // namespace berth::test
