// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "berth/api/persistent_volume.h"
#include "berth/api/persistent_volume_claim.h"
#include "berth/config_value.h"

// Lays a strategic merge patch over a volume or a claim: annotations, and a volume's claimRef.
// Other members are passed over, and so are values of the wrong type.
//
// Thread safety: any thread.
namespace berth::simulator {

void ApplyPatch(const ConfigValue& patch, api::PersistentVolume& volume);
void ApplyPatch(const ConfigValue& patch, api::PersistentVolumeClaim& claim);

}  // namespace berth::simulator
