// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "berth/in_tree/claim_preview.h"
#include "berth/in_tree/handle.h"
#include "berth/in_tree/points.h"
#include "berth/listers.h"
#include "berth/node_set.h"
#include "berth/snapshot.h"
#include "plugins/node_volume_limits/attached_volumes.h"

namespace berth::plugins {

// What each node has attached and how much it takes, driver by driver, so that a pod is held
// against all nodes at once. Kept from one pod to the next: Update() looks again only at the rows
// that something has happened to, by what the snapshot and the listers tell of their changes.
//
// What is said of a row depends on its node's name, the pods on it, their claims, the volumes and
// classes of these, the node's CSINode and its VolumeAttachments.
//
// Thread safety: Update() on the scheduling thread; between two, any number of readers.
class NodeAttachments {
 public:
  // Makes everything what it is now. Always to be called with the same listers.
  void Update(const Snapshot& snapshot, const Listers& listers);
  // Whether nothing has changed since the last Update().
  bool IsCurrent(const Snapshot& snapshot, const Listers& listers) const {
    return known_ && generation_ == snapshot.generation() &&
           volumes_generation_ == listers.volumes_generation();
  }

  // The rows with a CSINode.
  const NodeSet& with_csi_node() const { return with_csi_node_; }
  // The rows whose CSINode lists the driver; nullptr: none does.
  const NodeSet* RowsWith(std::string_view driver) const;
  // Takes out of `nodes` the rows that have no room for `count` more volumes of the driver.
  void KeepRoomFor(std::string_view driver, int32_t count, NodeSet& nodes) const;
  // Adds to `rows` those where a pod has one of the volumes, and perhaps others.
  void AddRowsWith(std::span<const AttachedVolume> volumes, NodeSet& rows) const;
  // The rows with a pod whose volumes are not known: what is said of them is not the truth.
  const NodeSet& unknown() const { return unknown_; }

  // How many rows the last Update() looked at.
  size_t num_updated() const { return num_updated_; }
  // About how much memory this takes.
  size_t bytes() const;

 private:
  static constexpr int32_t kNoLimit = INT32_MAX;

  struct Driver {
    NodeSet listed;
    std::vector<int32_t> limits;    // by row
    std::vector<int32_t> attached;  // by row; of rows with a limit
  };
  struct Row {
    std::vector<std::pair<std::string, Driver*>> drivers;
    std::vector<uint64_t> traces;  // of what it depends on, and of its pods' volumes
  };

  void Resize(size_t rows);
  void FindStale(const Snapshot& snapshot, const Listers& listers);
  void MarkChanged(const Snapshot& snapshot, const VolumeChange& change);
  void MarkTraces(uint64_t trace, NodeSet& rows) const;
  void Forget(NodeRow row);
  void Look(NodeRow row, const Snapshot& snapshot, const Listers& listers);
  void LookAtPods(NodeRow row, const Snapshot& snapshot, const Listers& listers);
  void Trace(uint64_t trace, NodeRow row);

  bool known_ = false;
  uint64_t generation_ = 0;
  uint64_t volumes_generation_ = 0;
  size_t num_updated_ = 0;
  size_t num_traces_ = 0;  // of all rows together
  size_t num_listed_ = 0;  // drivers of all rows together
  std::vector<Row> rows_;
  NodeSet with_csi_node_;
  NodeSet unknown_;
  std::map<std::string, Driver, std::less<>> drivers_;
  // The rows, ascending, of each trace, which is a hash: two things that share one cost a look too
  // many, and nothing else.
  std::unordered_map<uint64_t, std::vector<NodeRow>> rows_by_trace_;
  NodeSet stale_;
  std::vector<NodeRow> changed_rows_;
  std::vector<AttachedVolume> attached_;
};

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
                               public InTheWayPlugin,
                               public MemoryPlugin,
                               public EnqueueExtensions {
 public:
  static constexpr std::string_view kName = "NodeVolumeLimits";
  static constexpr bool kSkipsDeferredResizes = true;
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
  // By what NodeAttachments keeps. Where pods have come or gone since PreFilter, as when a pod
  // group preempts, the nodes are judged one by one.
  Status FilterNodes(const CycleState& state, const PodInfo& pod, const Snapshot& snapshot,
                     NodeSet& nodes) const override;

  // Queues the pod when a CSINode comes or takes more volumes, a placed pod goes that had volumes,
  // one of the pod's claims comes, and when a volume is detached.
  std::vector<ClusterEventWithHint> EventsToRegister() const override;

  // The volumes of a driver that takes no more, each with the pod that has it there, or with its
  // VolumeAttachment.
  std::string InTheWayOf(const api::Pod& pod, const NodeView& node) const override;

  size_t kept_bytes() const override { return attachments_.bytes(); }
  const NodeAttachments& attachments() const { return attachments_; }

 private:
  Handle* handle_;
  NodeAttachments attachments_;
  Status rejection_;
};

}  // namespace berth::plugins
