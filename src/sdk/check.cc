// SPDX-License-Identifier: Apache-2.0
#include "berth/check.h"

#include <cstdio>
#include <cstdlib>

namespace berth::internal {

void CheckFailed(const char* file, int line, const char* text) {
  std::fprintf(stderr, "%s:%d: check failed: %s\n", file, line, text);
  std::abort();
}

}  // namespace berth::internal
