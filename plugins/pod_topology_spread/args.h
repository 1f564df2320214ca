// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "berth/api/pod.h"
#include "plugins/shared/args_kind.h"

namespace berth::plugins {

struct PodTopologySpreadArgs {
  // Kubernetes' own default constraints: spread over nodes and zones.
  bool system_defaulting = true;
  // For pods that have no constraints of their own; their selectors come from what owns or serves
  // the pod. Empty with system defaulting.
  std::vector<api::TopologySpreadConstraint> default_constraints;
};

// Errors: values out of range, constraints with a selector or given twice, constraints next to
// system defaulting.
extern const ArgsKind<PodTopologySpreadArgs> kPodTopologySpreadArgs;

}  // namespace berth::plugins
