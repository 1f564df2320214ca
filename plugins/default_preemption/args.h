// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "plugins/shared/args_kind.h"

namespace berth::plugins {

// DefaultPreemptionArgs of kubescheduler.config.k8s.io/v1.
struct DefaultPreemptionArgs {
  // How many candidate nodes a search looks for: this percentage of the nodes where preemption may
  // help, but at least the absolute number.
  int32_t min_candidate_nodes_percentage = 10;
  int32_t min_candidate_nodes_absolute = 100;

  friend bool operator==(const DefaultPreemptionArgs&, const DefaultPreemptionArgs&) = default;
};

// Errors: a percentage outside [0, 100], a negative number, both 0.
extern const ArgsKind<DefaultPreemptionArgs> kDefaultPreemptionArgs;

}  // namespace berth::plugins
