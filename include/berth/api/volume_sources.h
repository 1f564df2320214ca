// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "berth/api/boxed.h"
#include "berth/api/meta.h"
#include "berth/api/persistent_volume_claim.h"

// Where the data of a volume is, as a pod or a PersistentVolume names it: what identifies the
// volume, and what decides whether two pods may share it. core/v1.
namespace berth::api {

struct EmptyDirVolumeSource {
  // "" for the node's disk, Memory, HugePages...
  std::string medium;

  friend bool operator==(const EmptyDirVolumeSource&, const EmptyDirVolumeSource&) = default;
};

struct GCEPersistentDiskVolumeSource {
  std::string pd_name;
  int32_t partition = 0;
  bool read_only = false;

  friend bool operator==(const GCEPersistentDiskVolumeSource&,
                         const GCEPersistentDiskVolumeSource&) = default;
};

struct AWSElasticBlockStoreVolumeSource {
  // "vol-1" or "aws://us-east-1a/vol-1".
  std::string volume_id;
  int32_t partition = 0;
  bool read_only = false;

  friend bool operator==(const AWSElasticBlockStoreVolumeSource&,
                         const AWSElasticBlockStoreVolumeSource&) = default;
};

struct ISCSIVolumeSource {
  std::string target_portal;
  std::string iqn;
  int32_t lun = 0;
  bool read_only = false;

  friend bool operator==(const ISCSIVolumeSource&, const ISCSIVolumeSource&) = default;
};

struct RBDVolumeSource {
  std::vector<std::string> monitors;
  std::string image;
  std::string pool;
  bool read_only = false;

  friend bool operator==(const RBDVolumeSource&, const RBDVolumeSource&) = default;
};

struct AzureDiskVolumeSource {
  std::string disk_name;
  std::string disk_uri;
  // Shared, Dedicated or Managed.
  std::optional<std::string> kind;
  std::optional<bool> read_only;

  friend bool operator==(const AzureDiskVolumeSource&, const AzureDiskVolumeSource&) = default;
};

struct AzureFileVolumeSource {
  std::string secret_name;
  std::string share_name;
  bool read_only = false;

  friend bool operator==(const AzureFileVolumeSource&, const AzureFileVolumeSource&) = default;
};

struct AzureFilePersistentVolumeSource {
  std::string secret_name;
  std::string share_name;
  bool read_only = false;
  std::optional<std::string> secret_namespace;

  friend bool operator==(const AzureFilePersistentVolumeSource&,
                         const AzureFilePersistentVolumeSource&) = default;
};

// Stands for CinderPersistentVolumeSource, too.
struct CinderVolumeSource {
  std::string volume_id;
  bool read_only = false;

  friend bool operator==(const CinderVolumeSource&, const CinderVolumeSource&) = default;
};

struct PortworxVolumeSource {
  std::string volume_id;
  bool read_only = false;

  friend bool operator==(const PortworxVolumeSource&, const PortworxVolumeSource&) = default;
};

struct VsphereVirtualDiskVolumeSource {
  std::string volume_path;

  friend bool operator==(const VsphereVirtualDiskVolumeSource&,
                         const VsphereVirtualDiskVolumeSource&) = default;
};

// A volume that lives as long as its pod.
struct CSIVolumeSource {
  std::string driver;
  std::optional<bool> read_only;
  StringMap volume_attributes;

  friend bool operator==(const CSIVolumeSource&, const CSIVolumeSource&) = default;
};

struct CSIPersistentVolumeSource {
  std::string driver;
  std::string volume_handle;
  bool read_only = false;
  StringMap volume_attributes;

  friend bool operator==(const CSIPersistentVolumeSource&,
                         const CSIPersistentVolumeSource&) = default;
};

struct LocalVolumeSource {
  std::string path;

  friend bool operator==(const LocalVolumeSource&, const LocalVolumeSource&) = default;
};

struct HostPathVolumeSource {
  std::string path;

  friend bool operator==(const HostPathVolumeSource&, const HostPathVolumeSource&) = default;
};

struct PersistentVolumeClaimVolumeSource {
  std::string claim_name;
  bool read_only = false;

  friend bool operator==(const PersistentVolumeClaimVolumeSource&,
                         const PersistentVolumeClaimVolumeSource&) = default;
};

struct PersistentVolumeClaimTemplate {
  ObjectMeta metadata;
  PersistentVolumeClaimSpec spec;

  friend bool operator==(const PersistentVolumeClaimTemplate&,
                         const PersistentVolumeClaimTemplate&) = default;
};

// The claim is "<pod>-<volume>" in the pod's namespace, and is owned by the pod.
struct EphemeralVolumeSource {
  Boxed<PersistentVolumeClaimTemplate> volume_claim_template;

  friend bool operator==(const EphemeralVolumeSource&, const EphemeralVolumeSource&) = default;
};

struct ImageVolumeSource {
  std::string reference;

  friend bool operator==(const ImageVolumeSource&, const ImageVolumeSource&) = default;
};

}  // namespace berth::api
