// SPDX-License-Identifier: Apache-2.0
#include "plugins/node_volume_limits/attached_volumes.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "berth/result.h"
#include "berth/volumes.h"
#include "plugins/shared/csi_migration.h"
#include "plugins/shared/pod_claims.h"

namespace berth::plugins {
namespace {

// No handle of a driver can begin like this: what is counted under a claim's name is no volume.
std::string ClaimHandle(const api::PersistentVolumeClaim& claim) {
  return std::string(1, '\0') + claim.metadata.Key();
}

std::optional<AttachedVolume> VolumeToBeMade(const api::PersistentVolumeClaim& claim, bool migrated,
                                             const Listers& listers) {
  const std::string_view name = StorageClassOf(claim);
  if (name.empty()) return std::nullopt;
  const api::StorageClass* storage_class = listers.Find<api::StorageClass>(name);
  if (storage_class == nullptr) return std::nullopt;
  const std::string& provisioner = storage_class->provisioner;
  const std::string_view driver = CsiDriverOf(provisioner);
  if (driver.empty()) {
    if (provisioner.empty()) return std::nullopt;
    return AttachedVolume{provisioner, ClaimHandle(claim)};
  }
  if (!migrated || !IsMigrated(provisioner)) return std::nullopt;
  return AttachedVolume{std::string(driver), ClaimHandle(claim)};
}

std::optional<AttachedVolume> VolumeOf(const api::PersistentVolumeClaim& claim, bool migrated,
                                       const Listers& listers) {
  const api::PersistentVolume* volume =
      claim.spec.volume_name.empty() ? nullptr
                                     : listers.Find<api::PersistentVolume>(claim.spec.volume_name);
  if (volume == nullptr) return VolumeToBeMade(claim, migrated, listers);
  if (const auto& csi = volume->spec.csi) {
    if (csi->driver.empty() || csi->volume_handle.empty()) return std::nullopt;
    return AttachedVolume{csi->driver, csi->volume_handle};
  }
  const std::string_view plugin = InTreePluginOf(*volume);
  if (!migrated || !IsMigrated(plugin)) return std::nullopt;
  auto handle = CsiHandleOf(*volume);
  if (!handle || handle->empty()) return std::nullopt;
  return AttachedVolume{std::string(CsiDriverOf(plugin)), std::move(*handle)};
}

VolumeProblem AddDisk(const api::Volume& volume, bool migrated, std::vector<AttachedVolume>& out) {
  const std::string_view plugin = InTreePluginOf(volume);
  if (!migrated || !IsMigrated(plugin)) return {};
  auto handle = CsiHandleOf(volume);
  if (!handle) {
    return {"converting volume(" + volume.name + ") from inline to csi: " + handle.error().message};
  }
  out.push_back({std::string(CsiDriverOf(plugin)), std::move(*handle)});
  return {};
}

VolumeProblem AddVolume(const api::Pod& pod, const api::Volume& volume, bool migrated, bool is_new,
                        const Listers& listers, std::vector<AttachedVolume>& out) {
  const auto name = ClaimNameOf(pod, volume);
  if (!name) return AddDisk(volume, migrated, out);
  if (name->empty()) return {"PersistentVolumeClaim had no name"};
  const std::string& namespace_ = pod.metadata.namespace_;
  const api::PersistentVolumeClaim* claim =
      listers.Find<api::PersistentVolumeClaim>(namespace_, *name);
  if (claim == nullptr) {
    if (!is_new) return {};
    return {"looking up PVC " + namespace_ + "/" + *name + ": " + ClaimNotFound(*name), true};
  }
  if (volume.ephemeral && !IsMadeFor(*claim, pod)) return {ClaimNotOwned(*claim, pod)};
  if (auto attached = VolumeOf(*claim, migrated, listers)) out.push_back(std::move(*attached));
  return {};
}

}  // namespace

bool MayBeAttached(const api::Volume& volume) {
  return volume.persistent_volume_claim || volume.ephemeral || !InTreePluginOf(volume).empty();
}

VolumeProblem AddVolumesOf(const api::Pod& pod, bool migrated, bool is_new, const Listers& listers,
                           std::vector<AttachedVolume>& out) {
  for (const api::Volume& volume : pod.spec.volumes) {
    VolumeProblem problem = AddVolume(pod, volume, migrated, is_new, listers, out);
    if (!problem.message.empty()) return problem;
  }
  return {};
}

void ForEachAttachmentOf(
    const std::string& node_name, const Listers& listers,
    const std::function<void(const api::VolumeAttachment&, AttachedVolume)>& visit) {
  listers.ForEachBy<api::VolumeAttachment>(node_name, [&](const api::VolumeAttachment& attachment) {
    const auto& volume_name = attachment.spec.source.persistent_volume_name;
    if (attachment.spec.attacher.empty() || !volume_name) return;
    const api::PersistentVolume* volume = listers.Find<api::PersistentVolume>(*volume_name);
    if (volume == nullptr || !volume->spec.csi) return;
    visit(attachment, {attachment.spec.attacher, volume->spec.csi->volume_handle});
  });
}

void AddAttachmentsOf(const std::string& node_name, const Listers& listers,
                      std::vector<AttachedVolume>& out) {
  ForEachAttachmentOf(node_name, listers,
                      [&out](const api::VolumeAttachment&, AttachedVolume volume) {
                        out.push_back(std::move(volume));
                      });
}

std::string NameOf(const AttachedVolume& volume) {
  const std::string& handle = volume.handle;
  return handle.starts_with('\0') ? "claim " + handle.substr(1) : handle;
}

void MakeUnique(std::vector<AttachedVolume>& volumes) {
  std::ranges::sort(volumes);
  const auto repeated = std::ranges::unique(volumes);
  volumes.erase(repeated.begin(), repeated.end());
}

}  // namespace berth::plugins
