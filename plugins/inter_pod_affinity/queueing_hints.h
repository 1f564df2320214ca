// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "berth/cluster_event.h"

// Which events may help a pod that InterPodAffinity rejected.
namespace berth::plugins {

// In a hint, namespace selectors see namespaces as if they had no labels, as upstream: those that
// select by a label that must be there match nothing.
std::vector<ClusterEventWithHint> InterPodAffinityEvents();

}  // namespace berth::plugins
