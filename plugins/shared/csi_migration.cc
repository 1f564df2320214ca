// SPDX-License-Identifier: Apache-2.0
#include "plugins/shared/csi_migration.h"

#include <algorithm>
#include <optional>
#include <set>
#include <vector>

namespace berth::plugins {
namespace {

struct Migration {
  std::string_view plugin;
  std::string_view driver;
};

constexpr Migration kAwsEbs = {"kubernetes.io/aws-ebs", "ebs.csi.aws.com"};
constexpr Migration kAzureDisk = {"kubernetes.io/azure-disk", "disk.csi.azure.com"};
constexpr Migration kAzureFile = {"kubernetes.io/azure-file", "file.csi.azure.com"};
constexpr Migration kCinder = {"kubernetes.io/cinder", "cinder.csi.openstack.org"};
constexpr Migration kGcePd = {"kubernetes.io/gce-pd", "pd.csi.storage.gke.io"};
constexpr Migration kPortworx = {"kubernetes.io/portworx-volume", "pxd.portworx.com"};
constexpr Migration kVsphere = {"kubernetes.io/vsphere-volume", "csi.vsphere.vmware.com"};
constexpr Migration kMigrations[] = {kAwsEbs, kAzureDisk, kAzureFile, kCinder,
                                     kGcePd,  kPortworx,  kVsphere};

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

// "aws://us-east-1a/vol-1" and "aws:///vol-1" are vol-1; all else is taken for the disk's own name.
Result<std::string> EbsHandle(const std::string& volume_id) {
  constexpr std::string_view kScheme = "aws://";
  if (!volume_id.starts_with(kScheme)) return volume_id;
  const size_t slash = volume_id.find('/', kScheme.size());
  std::string_view name;
  if (slash != volume_id.npos) name = std::string_view(volume_id).substr(slash);
  while (name.starts_with('/')) name.remove_prefix(1);
  while (name.ends_with('/')) name.remove_suffix(1);
  if (name.starts_with("vol-") && name.find('/') == name.npos) return std::string(name);
  return Fail("failed to translate Kubernetes ID to EBS Volume ID Invalid format for AWS volume (" +
              volume_id + ")");
}

Result<std::string> AzureHandle(const api::AzureDiskVolumeSource& disk) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; };
  if (disk.kind && !std::ranges::equal(*disk.kind, std::string_view("managed"), {}, lower)) {
    return Fail("kind(" + *disk.kind + ") is not supported in csi migration");
  }
  return disk.disk_uri;
}

std::string GceHandle(std::string_view place, std::string_view where, const std::string& disk) {
  return "projects/UNSPECIFIED/" + std::string(place) + "/" + std::string(where) + "/disks/" + disk;
}

// `zones` are "a__b". Errors: they are not of one region.
Result<std::string> GceRegionOf(std::string_view zones) {
  constexpr std::string_view kDelimiter = "__";
  std::set<std::string_view> regions;
  for (bool last = false; !last;) {
    const size_t end = zones.find(kDelimiter);
    last = end == zones.npos;
    const std::string_view zone = zones.substr(0, end);
    if (!last) zones.remove_prefix(end + kDelimiter.size());
    if (std::ranges::count(zone, '-') != 2) {
      return Fail(
          "failed to get region from zones: zone in unexpected format, expected: "
          "{locale}-{region}-{zone}, got: " +
          std::string(zone));
    }
    regions.insert(zone.substr(0, zone.rfind('-')));
  }
  if (regions.size() != 1) {
    return Fail("failed to get region from zones: multiple or no regions gotten from zones");
  }
  return std::string(*regions.begin());
}

// Only a PersistentVolume says in which zone or zones the disk is.
Result<std::string> GceHandle(const std::string& disk, const api::StringMap& labels) {
  constexpr std::string_view kUnspecified = "UNSPECIFIED";
  const std::string* zones = api::Find(labels, "failure-domain.beta.kubernetes.io/zone");
  if (zones == nullptr || zones->empty()) {
    zones = api::Find(labels, "topology.kubernetes.io/zone");
  }
  if (zones == nullptr || zones->empty()) return GceHandle("zones", kUnspecified, disk);
  if (zones->find("__") == zones->npos) return GceHandle("zones", *zones, disk);
  const auto region = GceRegionOf(*zones);
  if (!region) return Fail(region.error());
  return GceHandle("regions", *region, disk);
}

template <typename Sources>
Result<std::string> HandleOf(const Sources& sources, const api::StringMap& labels) {
  if (sources.aws_elastic_block_store) return EbsHandle(sources.aws_elastic_block_store->volume_id);
  if (sources.azure_disk) return AzureHandle(*sources.azure_disk);
  if (sources.cinder) return sources.cinder->volume_id;
  if (sources.gce_persistent_disk) return GceHandle(sources.gce_persistent_disk->pd_name, labels);
  if (sources.portworx_volume) return sources.portworx_volume->volume_id;
  return std::string();
}

}  // namespace

std::string_view InTreePluginOf(const api::Volume& volume) { return PluginOf(volume); }

std::string_view InTreePluginOf(const api::PersistentVolume& volume) {
  return PluginOf(volume.spec);
}

std::string_view CsiDriverOf(std::string_view in_tree_plugin) {
  const auto* migration = std::ranges::find(kMigrations, in_tree_plugin, &Migration::plugin);
  return migration == std::end(kMigrations) ? "" : migration->driver;
}

bool IsMigratedOn(const api::CSINode* node, std::string_view plugin) {
  if (node == nullptr) return false;
  const std::string* plugins = api::Find(node->metadata.annotations, kMigratedPluginsAnnotation);
  if (plugins == nullptr) return false;
  std::string_view rest = *plugins;
  for (;;) {
    const size_t comma = rest.find(',');
    if (rest.substr(0, comma) == plugin) return true;
    if (comma == std::string_view::npos) return false;
    rest.remove_prefix(comma + 1);
  }
}

Result<std::string> CsiHandleOf(const api::Volume& volume) { return HandleOf(volume, {}); }

Result<std::string> CsiHandleOf(const api::PersistentVolume& volume) {
  return HandleOf(volume.spec, volume.metadata.labels);
}

}  // namespace berth::plugins
