// SPDX-License-Identifier: Apache-2.0
#include "plugins/legacy/disk_limits.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "plugins/shared/csi_migration.h"
#include "plugins/shared/pod_claims.h"

namespace berth::plugins {
namespace {

struct Problem {
  std::string message = {};  // "": there is none
  bool claim_missing = false;
};

struct DisksOfPod {
  std::set<std::string> disks;
  Problem problem;
};

// Of each plugin that looks for disks of its own kind.
struct PreFilterState {
  std::map<const DiskKind*, DisksOfPod> by_kind;
};

bool IsProvisionedBy(std::string_view in_tree_plugin, const api::PersistentVolumeClaim& claim,
                     const Listers& listers) {
  if (!claim.spec.storage_class_name) return false;
  const api::StorageClass* storage_class = listers.FindStorageClass(*claim.spec.storage_class_name);
  return storage_class != nullptr && storage_class->provisioner == in_tree_plugin;
}

// Adds what stands for the claim's disk where it is of the kind. A disk that is not known yet
// counts under the claim's name, which is no disk's.
void AddDiskOf(const DiskKind& kind, const api::PersistentVolumeClaim& claim,
               const Listers& listers, std::set<std::string>& disks) {
  const api::PersistentVolume* volume = claim.spec.volume_name.empty()
                                            ? nullptr
                                            : listers.FindPersistentVolume(claim.spec.volume_name);
  if (volume == nullptr) {
    if (IsProvisionedBy(kind.in_tree_plugin, claim, listers)) {
      disks.insert(std::string(1, '\0') + claim.metadata.Key());
    }
    return;
  }
  if (const std::string* id = kind.id_of_persistent_volume(*volume)) disks.insert(*id);
}

// Stops at the first problem. A claim that does not exist is one for a new pod only.
Problem AddDisksOf(const DiskKind& kind, const api::Pod& pod, bool is_new, const Listers& listers,
                   std::set<std::string>& disks) {
  const std::string& namespace_ = pod.metadata.namespace_;
  for (const api::Volume& volume : pod.spec.volumes) {
    if (const std::string* id = kind.id_of_volume(volume)) {
      disks.insert(*id);
      continue;
    }
    const auto name = ClaimNameOf(pod, volume);
    if (!name) continue;
    if (name->empty()) return {"PersistentVolumeClaim had no name"};
    const api::PersistentVolumeClaim* claim = listers.FindPersistentVolumeClaim(namespace_, *name);
    if (claim == nullptr) {
      if (!is_new) continue;
      return {"looking up PVC " + namespace_ + "/" + *name + ": " + ClaimNotFound(*name), true};
    }
    if (volume.ephemeral && !IsOwnedBy(*claim, pod)) return {ClaimNotOwned(*claim, pod)};
    AddDiskOf(kind, *claim, listers, disks);
  }
  return {};
}

DisksOfPod DisksFor(const DiskKind& kind, const api::Pod& pod, const Listers& listers) {
  DisksOfPod found;
  found.problem = AddDisksOf(kind, pod, /*is_new=*/true, listers, found.disks);
  return found;
}

Status StatusOf(const Problem& problem, const CycleState& state) {
  if (problem.message.empty()) return Status::Success();
  return state.reasons().Make(
      problem.claim_missing ? Code::kUnschedulableAndUnresolvable : Code::kError, problem.message);
}

template <typename Source, typename Id>
const std::string* IdOf(const api::Boxed<Source>& source, Id Source::* id) {
  return source ? &((*source).*id) : nullptr;
}

// Instance types with Nitro disks: c5, m5 and r5 with all that follows, and any name that has t3 or
// z1d in it, as the releases that knew them had it.
int64_t EbsLimitOf(const api::Node& node) {
  constexpr int64_t kLimit = 39;
  constexpr int64_t kNitroLimit = 25;
  const std::string* type = api::Find(node.metadata.labels, "node.kubernetes.io/instance-type");
  if (type == nullptr) {
    type = api::Find(node.metadata.labels, "beta.kubernetes.io/instance-type");
  }
  if (type == nullptr) return kLimit;
  const bool nitro = type->starts_with("c5") || type->starts_with("m5") ||
                     type->starts_with("r5") || type->find("t3") != type->npos ||
                     type->find("z1d") != type->npos;
  return nitro ? kNitroLimit : kLimit;
}

const DiskKind kEbs = {
    .in_tree_plugin = "kubernetes.io/aws-ebs",
    .limit_resource = "attachable-volumes-aws-ebs",
    .id_of_volume =
        [](const api::Volume& volume) {
          return IdOf(volume.aws_elastic_block_store,
                      &api::AWSElasticBlockStoreVolumeSource::volume_id);
        },
    .id_of_persistent_volume =
        [](const api::PersistentVolume& volume) {
          return IdOf(volume.spec.aws_elastic_block_store,
                      &api::AWSElasticBlockStoreVolumeSource::volume_id);
        },
    .limit_of_node = EbsLimitOf,
};

const DiskKind kGcePd = {
    .in_tree_plugin = "kubernetes.io/gce-pd",
    .limit_resource = "attachable-volumes-gce-pd",
    .default_limit = 16,
    .id_of_volume =
        [](const api::Volume& volume) {
          return IdOf(volume.gce_persistent_disk, &api::GCEPersistentDiskVolumeSource::pd_name);
        },
    .id_of_persistent_volume =
        [](const api::PersistentVolume& volume) {
          return IdOf(volume.spec.gce_persistent_disk,
                      &api::GCEPersistentDiskVolumeSource::pd_name);
        },
};

const DiskKind kAzureDisk = {
    .in_tree_plugin = "kubernetes.io/azure-disk",
    .limit_resource = "attachable-volumes-azure-disk",
    .default_limit = 16,
    .id_of_volume =
        [](const api::Volume& volume) {
          return IdOf(volume.azure_disk, &api::AzureDiskVolumeSource::disk_name);
        },
    .id_of_persistent_volume =
        [](const api::PersistentVolume& volume) {
          return IdOf(volume.spec.azure_disk, &api::AzureDiskVolumeSource::disk_name);
        },
};

const DiskKind kCinder = {
    .in_tree_plugin = "kubernetes.io/cinder",
    .limit_resource = "attachable-volumes-cinder",
    .default_limit = 256,
    .id_of_volume =
        [](const api::Volume& volume) {
          return IdOf(volume.cinder, &api::CinderVolumeSource::volume_id);
        },
    .id_of_persistent_volume =
        [](const api::PersistentVolume& volume) {
          return IdOf(volume.spec.cinder, &api::CinderVolumeSource::volume_id);
        },
};

}  // namespace

EBSLimits::EBSLimits(Handle& handle) : DiskLimits(kEbs, handle) {}
GCEPDLimits::GCEPDLimits(Handle& handle) : DiskLimits(kGcePd, handle) {}
AzureDiskLimits::AzureDiskLimits(Handle& handle) : DiskLimits(kAzureDisk, handle) {}
CinderLimits::CinderLimits(Handle& handle) : DiskLimits(kCinder, handle) {}

bool DiskLimits::IsMigrated(const api::Node& node) const {
  return IsMigratedOn(handle_->listers().FindCSINode(node.metadata.name), kind_.in_tree_plugin);
}

// What the node says goes before what the environment says, and that before the default.
int64_t DiskLimits::LimitOf(const api::Node& node) const {
  if (const api::Quantity* limit = api::Find(node.status.allocatable, kind_.limit_resource)) {
    return limit->Value();
  }
  if (const int32_t limit = handle_->features().max_pd_volumes; limit > 0) return limit;
  return kind_.limit_of_node == nullptr ? kind_.default_limit : kind_.limit_of_node(node);
}

PreFilterResult DiskLimits::PreFilter(CycleState& state, const PodInfo& pod, const Snapshot&) {
  DisksOfPod found = DisksFor(kind_, *pod.pod, handle_->listers());
  if (const Status status = StatusOf(found.problem, state); !status.ok()) return {.status = status};
  if (found.disks.empty()) return {.status = Status::Skip()};
  auto* data = state.Find<PreFilterState>();
  if (data == nullptr) data = &state.Write(PreFilterState());
  data->by_kind.insert_or_assign(&kind_, std::move(found));
  return {};
}

Status DiskLimits::Filter(const CycleState& state, const PodInfo& pod, const NodeView& node) const {
  const Listers& listers = handle_->listers();
  const auto* data = state.Find<PreFilterState>();
  const bool prepared = data != nullptr && data->by_kind.contains(&kind_);
  const DisksOfPod found = prepared ? data->by_kind.at(&kind_) : DisksFor(kind_, *pod.pod, listers);
  if (const Status status = StatusOf(found.problem, state); !status.ok()) return status;
  if (found.disks.empty() || IsMigrated(node.node())) return Status::Success();

  std::set<std::string> attached;
  Problem problem;
  node.ForEachPod([&](const PodInfo& placed) {
    if (!problem.message.empty()) return;
    problem = AddDisksOf(kind_, *placed.pod, /*is_new=*/false, listers, attached);
  });
  if (!problem.message.empty()) return state.reasons().Error(problem.message);
  const int64_t added = std::ranges::count_if(
      found.disks, [&](const std::string& disk) { return !attached.contains(disk); });
  const auto present = static_cast<int64_t>(attached.size());
  return present + added > LimitOf(node.node()) ? rejection_ : Status::Success();
}

std::vector<ClusterEventWithHint> DiskLimits::EventsToRegister() const {
  return {
      {{EventResource::kNode, action::kAdd}, nullptr},
      {{EventResource::kAssignedPod, action::kDelete}, nullptr},
  };
}

}  // namespace berth::plugins
