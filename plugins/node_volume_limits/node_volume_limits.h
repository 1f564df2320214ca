// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "berth/in_tree/handle.h"
#include "berth/in_tree/points.h"
#include "plugins/node_volume_limits/node_attachments.h"

namespace berth::plugins {

// Keeps a pod off nodes that cannot attach its volumes besides those that they have: a CSI driver
// says in the node's CSINode how many volumes it takes. With the gate VolumeLimitScaling also off
// nodes without the driver, where the CSIDriver asks for that.
//
// Attached are the volumes of all pods of the node and those of its VolumeAttachments; one that
// several have counts once.
//
// The rejections are Unschedulable, since evicting pods detaches volumes.
//
// Thread safety: Filter and FilterNodes may run concurrently; the rest on the scheduling thread.
class NodeVolumeLimits final : public PreFilterPlugin,
                               public ColumnFilterPlugin,
                               public MemoryPlugin,
                               public EnqueueExtensions {
 public:
  static constexpr std::string_view kName = "NodeVolumeLimits";
  static constexpr std::string_view kReason = "node(s) exceed max volume count";

  explicit NodeVolumeLimits(Handle& handle)
      : handle_(&handle), rejection_(handle.reasons().Make(Code::kUnschedulable, kReason)) {}

  // The claims are the pod's own.
  Inputs DeclaredInputs() const { return Inputs::EachPod(); }

  // Skips pods without claims and disks that a driver may attach.
  PreFilterResult PreFilter(CycleState& state, const PodInfo& pod,
                            const Snapshot& snapshot) override;
  // A claim of the pod that does not exist is UnschedulableAndUnresolvable.
  Status Filter(const CycleState& state, const PodInfo& pod, const NodeView& node) const override;
  // By what NodeAttachments keeps; as of the last PreFilter.
  Status FilterNodes(const CycleState& state, const PodInfo& pod, const Snapshot& snapshot,
                     NodeSet& nodes) const override;

  // Queues the pod when a CSINode comes or takes more volumes, a placed pod goes that had volumes,
  // one of the pod's claims comes, and when a volume is detached.
  std::vector<ClusterEventWithHint> EventsToRegister() const override;

  size_t kept_bytes() const override { return attachments_.bytes(); }
  const NodeAttachments& attachments() const { return attachments_; }

 private:
  Handle* handle_;
  NodeAttachments attachments_;
  Status rejection_;
};

}  // namespace berth::plugins
