// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "berth/in_tree/handle.h"
#include "berth/in_tree/points.h"

namespace berth::plugins {

// What may help a pod that DynamicResources rejected. `handle` must outlive the hints.
std::vector<ClusterEventWithHint> DynamicResourcesEvents(Handle& handle);

}  // namespace berth::plugins
