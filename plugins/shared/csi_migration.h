// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "berth/api/persistent_volume.h"
#include "berth/api/pod.h"
#include "berth/api/storage.h"
#include "berth/result.h"

// Disks of cloud providers that Kubernetes once attached itself, by plugins built into it, and that
// CSI drivers serve today.
namespace berth::plugins {

// Whether kube-scheduler lets the plugin's driver (berth::CsiDriverOf) stand for it. Azure Files
// and vSphere volumes have drivers, too; it takes them for what they were.
bool IsMigrated(std::string_view plugin);

// Of CSINodes: the in-tree plugins, joined by commas, whose volumes a CSI driver serves there.
inline constexpr std::string_view kMigratedPluginsAnnotation =
    "storage.alpha.kubernetes.io/migrated-plugins";

// Whether the node's volumes of the plugin are served by a CSI driver. nullptr: not known of.
bool IsMigratedOn(const api::CSINode* node, std::string_view plugin);

// What the driver of the volume's plugin calls the disk; "" where the plugin is not migrated.
// Errors: the driver cannot serve it, in kube-scheduler's words.
Result<std::string> CsiHandleOf(const api::Volume& volume);
Result<std::string> CsiHandleOf(const api::PersistentVolume& volume);

}  // namespace berth::plugins
