// SPDX-License-Identifier: Apache-2.0
#include "berth/volumes.h"

#include <algorithm>

namespace berth {
namespace {

// A plugin that was built into Kubernetes, and the CSI driver that stands for it.
struct Migration {
  std::string_view plugin;
  std::string_view driver;
  std::string_view zone_label = "";
};

constexpr Migration kAwsEbs = {"kubernetes.io/aws-ebs", "ebs.csi.aws.com",
                               "topology.ebs.csi.aws.com/zone"};
constexpr Migration kAzureDisk = {"kubernetes.io/azure-disk", "disk.csi.azure.com"};
constexpr Migration kAzureFile = {"kubernetes.io/azure-file", "file.csi.azure.com"};
constexpr Migration kCinder = {"kubernetes.io/cinder", "cinder.csi.openstack.org",
                               "topology.cinder.csi.openstack.org/zone"};
constexpr Migration kGcePd = {"kubernetes.io/gce-pd", "pd.csi.storage.gke.io",
                              "topology.gke.io/zone"};
constexpr Migration kPortworx = {"kubernetes.io/portworx-volume", "pxd.portworx.com"};
constexpr Migration kVsphere = {"kubernetes.io/vsphere-volume", "csi.vsphere.vmware.com"};
constexpr Migration kMigrations[] = {kAwsEbs, kAzureDisk, kAzureFile, kCinder,
                                     kGcePd,  kPortworx,  kVsphere};

const Migration* FindMigration(std::string_view plugin) {
  const auto* migration = std::ranges::find(kMigrations, plugin, &Migration::plugin);
  return migration == std::end(kMigrations) ? nullptr : migration;
}

// A pod's volume and a PersistentVolume's spec name their sources alike.
template <typename Sources>
std::string_view PluginOf(const Sources& sources) {
  if (sources.aws_elastic_block_store) return kAwsEbs.plugin;
  if (sources.azure_disk) return kAzureDisk.plugin;
  if (sources.azure_file) return kAzureFile.plugin;
  if (sources.cinder) return kCinder.plugin;
  if (sources.gce_persistent_disk) return kGcePd.plugin;
  if (sources.portworx_volume) return kPortworx.plugin;
  if (sources.vsphere_volume) return kVsphere.plugin;
  return "";
}

}  // namespace

std::string_view StorageClassOf(const api::PersistentVolume& volume) {
  const std::string* old = api::Find(volume.metadata.annotations, kStorageClassAnnotation);
  return old != nullptr ? *old : volume.spec.storage_class_name;
}

std::string_view StorageClassOf(const api::PersistentVolumeClaim& claim) {
  const std::string* old = api::Find(claim.metadata.annotations, kStorageClassAnnotation);
  if (old != nullptr) return *old;
  return claim.spec.storage_class_name ? *claim.spec.storage_class_name : std::string_view();
}

std::string_view InTreePluginOf(const api::Volume& volume) { return PluginOf(volume); }

std::string_view InTreePluginOf(const api::PersistentVolume& volume) {
  return PluginOf(volume.spec);
}

std::string_view CsiDriverOf(std::string_view in_tree_plugin) {
  const Migration* migration = FindMigration(in_tree_plugin);
  return migration == nullptr ? "" : migration->driver;
}

std::string_view CsiZoneLabelOf(std::string_view in_tree_plugin) {
  const Migration* migration = FindMigration(in_tree_plugin);
  return migration == nullptr ? "" : migration->zone_label;
}

std::optional<std::string> ClaimNameOf(const api::Pod& pod, const api::Volume& volume) {
  if (volume.persistent_volume_claim) return volume.persistent_volume_claim->claim_name;
  if (volume.ephemeral) return pod.metadata.name + "-" + volume.name;
  return std::nullopt;
}

bool IsMadeFor(const api::PersistentVolumeClaim& claim, const api::Pod& pod) {
  return claim.metadata.namespace_ == pod.metadata.namespace_ &&
         std::ranges::any_of(claim.metadata.owner_references, [&](const auto& owner) {
           return owner.controller && owner.uid == pod.metadata.uid;
         });
}

bool IsFullyBound(const api::PersistentVolumeClaim& claim) {
  return !claim.spec.volume_name.empty() &&
         api::Find(claim.metadata.annotations, kBindCompletedAnnotation) != nullptr;
}

bool IsPromisedTo(const api::PersistentVolume& volume, const api::PersistentVolumeClaim& claim) {
  const auto& reference = volume.spec.claim_ref;
  return reference && reference->name == claim.metadata.name &&
         reference->namespace_ == claim.metadata.namespace_ &&
         (reference->uid.empty() || reference->uid == claim.metadata.uid);
}

const api::Quantity& StorageIn(const api::ResourceList& list) {
  static const api::Quantity kNothing;
  const api::Quantity* storage = api::Find(list, "storage");
  return storage == nullptr ? kNothing : *storage;
}

bool MayServe(const api::PersistentVolume& volume, const api::PersistentVolumeClaim& claim) {
  const auto mode = [](const auto& spec) {
    return spec.volume_mode ? std::string_view(*spec.volume_mode) : "Filesystem";
  };
  return StorageIn(volume.spec.capacity) >= StorageIn(claim.spec.resources.requests) &&
         mode(volume.spec) == mode(claim.spec) &&
         volume.spec.volume_attributes_class_name.value_or("") ==
             claim.spec.volume_attributes_class_name.value_or("") &&
         !volume.metadata.deletion_timestamp;
}

bool HasModes(const api::PersistentVolume& volume, const api::PersistentVolumeClaim& claim) {
  return std::ranges::all_of(claim.spec.access_modes, [&](const std::string& mode) {
    return std::ranges::find(volume.spec.access_modes, mode) != volume.spec.access_modes.end();
  });
}

}  // namespace berth
