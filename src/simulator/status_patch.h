// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "berth/api/pod.h"
#include "berth/api/scheduling.h"
#include "berth/config_value.h"
#include "berth/result.h"

namespace berth::simulator {

// Lays a strategic merge patch of a pod's status over `status`: conditions, merged by their type,
// nominatedNodeName, extendedResourceClaimStatus and
// nodeAllocatableResourceClaimStatuses as a whole; null takes a value away. Other
// members are passed over. Errors: a value of the wrong type.
//
// Thread safety: any thread.
Result<void> ApplyStatusPatch(const ConfigValue& patch, api::PodStatus& status);
// The same for the conditions of a pod group.
Result<void> ApplyStatusPatch(const ConfigValue& patch, api::PodGroupStatus& status);

}  // namespace berth::simulator
