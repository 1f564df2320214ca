// SPDX-License-Identifier: Apache-2.0
#include "plugins/shared/csi_migration.h"

#include <algorithm>
#include <set>

#include "berth/volumes.h"

namespace berth::plugins {
namespace {

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
  if (regions.size() == 1) return std::string(*regions.begin());
  std::string list;
  for (const std::string_view region : regions) {
    list.append(list.empty() ? "" : " ").append(region).append(":{}");
  }
  return Fail(
      "failed to get region from zones: multiple or no regions gotten from zones, got: map[" +
      list + "]");
}

// Only a PersistentVolume says in which zone or zones the disk is.
Result<std::string> GceHandle(const std::string& disk, const api::StringMap& labels) {
  constexpr std::string_view kUnspecified = "UNSPECIFIED";
  const std::string* zones = api::Find(labels, "failure-domain.beta.kubernetes.io/zone");
  if (zones == nullptr || zones->empty()) zones = api::Find(labels, "topology.kubernetes.io/zone");
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

bool IsMigrated(std::string_view plugin) {
  return !CsiDriverOf(plugin).empty() && plugin != "kubernetes.io/azure-file" &&
         plugin != "kubernetes.io/vsphere-volume";
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
