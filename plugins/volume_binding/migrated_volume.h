// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "berth/api/persistent_volume.h"
#include "berth/api/storage.h"
#include "berth/result.h"

namespace berth::plugins {

// Of CSINodes: the in-tree plugins, joined by commas, whose volumes a CSI driver serves there.
inline constexpr std::string_view kMigratedPluginsAnnotation =
    "storage.alpha.kubernetes.io/migrated-plugins";

// The in-tree plugin of the volume, if its volumes can be served by a CSI driver instead; else "".
std::string_view MigratablePlugin(const api::PersistentVolume& volume);

// Whether the node's volumes of the plugin are served by a CSI driver. nullptr: not known of.
bool IsMigratedOn(const api::CSINode* node, std::string_view plugin);

// The node affinity of the volume, whose plugin is migratable, as its CSI driver has it: the zone
// stands under the driver's own key. Errors: the volume cannot be served by the driver, in
// kube-scheduler's words.
Result<std::optional<api::VolumeNodeAffinity>> MigratedAffinity(
    const api::PersistentVolume& volume);

}  // namespace berth::plugins
