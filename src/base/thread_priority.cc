// SPDX-License-Identifier: Apache-2.0
#include "src/base/thread_priority.h"

#include <sys/resource.h>

namespace berth::base {

void LowerThreadPriority() {
  // On Linux 0 is the calling thread, not its process. Every thread may become nicer.
  constexpr int kNicest = 19;
  setpriority(PRIO_PROCESS, 0, kNicest);
}

}  // namespace berth::base
