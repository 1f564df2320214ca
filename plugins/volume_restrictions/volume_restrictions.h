// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "berth/api/pod.h"
#include "berth/in_tree/handle.h"
#include "berth/in_tree/points.h"

namespace berth::plugins {

// Whether the volume is a disk that a pod names itself and that others may be using: a GCE
// persistent disk, an AWS EBS volume, an iSCSI target or a Ceph RBD image.
bool HasDisk(const api::Volume& volume);

// Whether the pods name one disk and cannot both have it on one node. Two that only read may, but
// for EBS volumes.
bool DisksConflict(const api::Pod& pod, const api::Pod& other);

// Keeps a pod off nodes where another pod has a disk that the two cannot share, and off all nodes
// while another pod uses a claim with access mode ReadWriteOncePod.
//
// Both rejections are Unschedulable: evicting the other pod helps.
//
// Thread safety: Filter may run concurrently; the rest on the scheduling thread.
class VolumeRestrictions final : public PreFilterPlugin,
                                 public PreFilterExtensions,
                                 public FilterPlugin,
                                 public EnqueueExtensions {
 public:
  static constexpr std::string_view kName = "VolumeRestrictions";
  static constexpr bool kSkipsDeferredResizes = true;
  static constexpr std::string_view kDiskReason = "node(s) had no available disk";
  static constexpr std::string_view kClaimReason =
      "node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already "
      "in-use by another pod";
  static constexpr std::string_view kFilterWithoutPreFilter =
      "cannot read \"PreFilterVolumeRestrictions\" from cycleState";

  explicit VolumeRestrictions(Handle& handle);

  // The claims are the pod's own.
  Inputs DeclaredInputs() const { return Inputs::EachPod(); }

  // Skips pods without such disks whose claims of ReadWriteOncePod no placed pod uses. A claim that
  // does not exist rejects the pod.
  PreFilterResult PreFilter(CycleState& state, const PodInfo& pod,
                            const Snapshot& snapshot) override;
  Status AddPod(CycleState& state, const PodInfo& pod, const PodInfo& added,
                const NodeView& node) override;
  Status RemovePod(CycleState& state, const PodInfo& pod, const PodInfo& removed,
                   const NodeView& node) override;

  // Disks go before claims.
  Status Filter(const CycleState& state, const PodInfo& pod, const NodeView& node) const override;

  // Queues the pod when a placed pod of its namespace goes that had a disk in conflict or used one
  // of its claims, when a node comes, and when one of its claims comes.
  std::vector<ClusterEventWithHint> EventsToRegister() const override;

 private:
  Handle* handle_;
  Status disk_rejection_;
  Status claim_rejection_;
};

}  // namespace berth::plugins
