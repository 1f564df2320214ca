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

// The name of the plugin whose disk the volume is, "kubernetes.io/aws-ebs"; "" where no CSI driver
// stands for it.
std::string_view InTreePluginOf(const api::Volume& volume);
std::string_view InTreePluginOf(const api::PersistentVolume& volume);

// The driver that stands for the plugin, "ebs.csi.aws.com"; "" where there is none.
std::string_view CsiDriverOf(std::string_view in_tree_plugin);

// Of CSINodes: the in-tree plugins, joined by commas, whose volumes a CSI driver serves there.
inline constexpr std::string_view kMigratedPluginsAnnotation =
    "storage.alpha.kubernetes.io/migrated-plugins";

// Whether the node's volumes of the plugin are served by a CSI driver. nullptr: not known of.
bool IsMigratedOn(const api::CSINode* node, std::string_view plugin);

// What that driver calls the disk. The volume must be one of those plugins'; of Azure Files and
// vSphere volumes only that they are. Errors: the driver cannot serve it, in kube-scheduler's
// words.
Result<std::string> CsiHandleOf(const api::Volume& volume);
Result<std::string> CsiHandleOf(const api::PersistentVolume& volume);

}  // namespace berth::plugins
