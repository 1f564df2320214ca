// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "plugins/shared/args_kind.h"

namespace berth::plugins {

// Berth's own: kube-scheduler's plugin has no args.
struct GangSchedulingArgs {
  // How many decisions more may be spent on a gang of unequal pods that does not fit in the order
  // of the queue; 0: none.
  int32_t search_steps = 1000;

  friend bool operator==(const GangSchedulingArgs&, const GangSchedulingArgs&) = default;
};

// Errors: a negative number.
extern const ArgsKind<GangSchedulingArgs> kGangSchedulingArgs;

}  // namespace berth::plugins
