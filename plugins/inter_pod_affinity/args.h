// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "plugins/shared/args_kind.h"

namespace berth::plugins {

struct InterPodAffinityArgs {
  // What a required affinity term of a placed pod adds to the score where the incoming pod matches
  // it; 0..100.
  int32_t hard_pod_affinity_weight = 1;
  // Score nothing for pods that have no preferred terms of their own.
  bool ignore_preferred_terms_of_existing_pods = false;
};

// Errors: what kube-scheduler rejects, in its words.
extern const ArgsKind<InterPodAffinityArgs> kInterPodAffinityArgs;

}  // namespace berth::plugins
