// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "berth/api/pod.h"
#include "berth/api/storage.h"
#include "berth/listers.h"

// The volumes that a pod attaches to its node, by the CSI driver that attaches them.
namespace berth::plugins {

struct AttachedVolume {
  std::string driver;
  // What the driver calls the volume; of a claim whose volume is not there yet its own name, marked
  // as such.
  std::string handle;

  friend auto operator<=>(const AttachedVolume&, const AttachedVolume&) = default;
};

// Whether the volume may have to be attached by a CSI driver: a claim, or a disk of a plugin that
// one stands for.
bool MayBeAttached(const api::Volume& volume);

// Why a pod's volumes are not known.
struct VolumeProblem {
  std::string message = {};  // "": there is none
  bool claim_missing = false;
};

// Adds the pod's volumes to `out`. Disks of built-in plugins count only with `migrated`. A claim
// that does not exist is a problem for a new pod; for one that is placed it counts for nothing, and
// so do, for both, claims of no class or of none that is there, and volumes of no CSI driver. Stops
// at the first problem.
VolumeProblem AddVolumesOf(const api::Pod& pod, bool migrated, bool is_new, const Listers& listers,
                           std::vector<AttachedVolume>& out);

// Calls `visit` for each VolumeAttachment that says that a volume is attached to the node, or is to
// be.
void ForEachAttachmentOf(
    const std::string& node_name, const Listers& listers,
    const std::function<void(const api::VolumeAttachment&, AttachedVolume)>& visit);

// Adds the volumes of ForEachAttachmentOf().
void AddAttachmentsOf(const std::string& node_name, const Listers& listers,
                      std::vector<AttachedVolume>& out);

// What people call the volume: its handle, or "claim shop/data" while it is not there.
std::string NameOf(const AttachedVolume& volume);

// Sorts, and drops what stands twice.
void MakeUnique(std::vector<AttachedVolume>& volumes);

}  // namespace berth::plugins
