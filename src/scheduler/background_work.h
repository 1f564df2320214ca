// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "berth/time.h"
#include "src/cache/cache.h"
#include "src/scheduler/pod_store.h"

namespace berth::scheduler {

// What looks at the scheduling state, changes nothing of it, and can wait.
//
// Thread safety: called on the scheduling thread, between cycles, once the first lists are in.
class BackgroundWork {
 public:
  virtual ~BackgroundWork() = default;

  // Does a part that takes well below a millisecond, and returns when the next is due. Between two
  // parts anything may change. `pending` are the pods without a node, and those on their way to
  // one.
  virtual Time Work(const cache::Cache& cache, const PodStore& pending, Time now) = 0;
};

}  // namespace berth::scheduler
