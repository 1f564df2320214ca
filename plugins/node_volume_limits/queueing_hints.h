// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "berth/cluster_event.h"

namespace berth::plugins {

// Which events may let a node attach what NodeVolumeLimits kept off it.
std::vector<ClusterEventWithHint> VolumeLimitEvents();

}  // namespace berth::plugins
