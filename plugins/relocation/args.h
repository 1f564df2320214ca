// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "plugins/shared/args_kind.h"

namespace berth::plugins {

struct RelocationArgs {
  // For how long a pod must have fitted nowhere before pods are moved for it.
  int64_t min_pending_seconds = 60;
  // How many pods are moved in an hour, for all pods of the profile.
  int64_t max_moves_per_hour = 60;
  // The same for one pod, for as long as it waits.
  int64_t max_moves_per_pod = 3;

  friend bool operator==(const RelocationArgs&, const RelocationArgs&) = default;
};

// Errors: fewer seconds than 0 or more than a day; fewer moves than 1, or more than 10,000 an hour
// or 100 for a pod.
extern const ArgsKind<RelocationArgs> kRelocationArgs;

}  // namespace berth::plugins
