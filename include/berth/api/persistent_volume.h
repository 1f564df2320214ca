// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "berth/api/boxed.h"
#include "berth/api/meta.h"
#include "berth/api/pod.h"
#include "berth/api/quantity.h"
#include "berth/api/volume_sources.h"

namespace berth::api {

inline constexpr std::string_view kVolumeAvailable = "Available";
inline constexpr std::string_view kVolumeBound = "Bound";
inline constexpr std::string_view kVolumeReleased = "Released";

struct VolumeNodeAffinity {
  std::optional<NodeSelector> required;

  friend bool operator==(const VolumeNodeAffinity&, const VolumeNodeAffinity&) = default;
};

// Sources that scheduling does not read leave all source members empty.
struct PersistentVolumeSpec {
  ResourceList capacity;
  Boxed<GCEPersistentDiskVolumeSource> gce_persistent_disk;
  Boxed<AWSElasticBlockStoreVolumeSource> aws_elastic_block_store;
  Boxed<HostPathVolumeSource> host_path;
  Boxed<RBDVolumeSource> rbd;
  Boxed<ISCSIVolumeSource> iscsi;
  Boxed<CinderVolumeSource> cinder;
  Boxed<AzureFilePersistentVolumeSource> azure_file;
  Boxed<VsphereVirtualDiskVolumeSource> vsphere_volume;
  Boxed<AzureDiskVolumeSource> azure_disk;
  Boxed<PortworxVolumeSource> portworx_volume;
  Boxed<LocalVolumeSource> local;
  Boxed<CSIPersistentVolumeSource> csi;
  std::vector<std::string> access_modes;
  // The claim that the volume is bound to, or promised to while it has no uid.
  std::optional<ObjectReference> claim_ref;
  std::string persistent_volume_reclaim_policy;
  std::string storage_class_name;
  // Filesystem where absent.
  std::optional<std::string> volume_mode;
  // nullopt: every node reaches the volume.
  std::optional<VolumeNodeAffinity> node_affinity;
  std::optional<std::string> volume_attributes_class_name;

  friend bool operator==(const PersistentVolumeSpec&, const PersistentVolumeSpec&) = default;
};

struct PersistentVolumeStatus {
  std::string phase;

  friend bool operator==(const PersistentVolumeStatus&, const PersistentVolumeStatus&) = default;
};

// v1.
struct PersistentVolume {
  ObjectMeta metadata;
  PersistentVolumeSpec spec;
  PersistentVolumeStatus status;

  friend bool operator==(const PersistentVolume&, const PersistentVolume&) = default;
};

}  // namespace berth::api
