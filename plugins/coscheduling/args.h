// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "plugins/shared/args_kind.h"

namespace berth::plugins {

// Those of scheduler-plugins 0.34, and how many decisions a search may take.
struct CoschedulingArgs {
  // How long a pod that has a node waits for the others of its group, where the group does not say
  // it. 0: a minute.
  int64_t permit_waiting_time_seconds = 60;
  // How long a group that was rejected backs off at least; the scheduler heeds it.
  int64_t pod_group_backoff_seconds = 0;
  // Taken, and of no effect: a group is rejected only once none of its pods hold anything.
  int32_t pod_group_reject_percentage = 10;
  // As that of GangSchedulingArgs.
  int32_t search_steps = 1000;

  friend bool operator==(const CoschedulingArgs&, const CoschedulingArgs&) = default;
};

// Errors: values out of range.
extern const ArgsKind<CoschedulingArgs> kCoschedulingArgs;

}  // namespace berth::plugins
