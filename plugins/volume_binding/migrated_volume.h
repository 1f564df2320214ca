// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "berth/api/persistent_volume.h"
#include "berth/result.h"

namespace berth::plugins {

// The in-tree plugin of the volume, if a CSI driver stands for it (IsMigrated); else "".
std::string_view MigratedPluginOf(const api::PersistentVolume& volume);

// The node affinity of the volume, whose plugin is migrated, as its CSI driver has it: the zone
// stands under the driver's own key. Errors: the volume cannot be served by the driver, in
// kube-scheduler's words.
Result<std::optional<api::VolumeNodeAffinity>> MigratedAffinity(
    const api::PersistentVolume& volume);

}  // namespace berth::plugins
