// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "berth/api/persistent_volume.h"
#include "berth/api/persistent_volume_claim.h"
#include "berth/api/pod.h"
#include "berth/api/scheduling.h"
#include "berth/config_value.h"
#include "berth/result.h"

// Lays a strategic merge patch over a volume or a claim: annotations, and a volume's claimRef.
// Other members are passed over, and so are values of the wrong type.
//
// Thread safety: any thread.

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

void ApplyPatch(const ConfigValue& patch, api::PersistentVolume& volume);
void ApplyPatch(const ConfigValue& patch, api::PersistentVolumeClaim& claim);

}  // namespace berth::simulator
