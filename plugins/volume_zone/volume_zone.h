// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "berth/api/node.h"
#include "berth/api/persistent_volume.h"
#include "berth/in_tree/claim_preview.h"
#include "berth/in_tree/handle.h"
#include "berth/in_tree/points.h"
#include "berth/node_set.h"
#include "berth/snapshot.h"

namespace berth::plugins {

// Where a volume is, by one of its labels.
struct VolumeTopology {
  std::string_view key;             // one of the zone and region labels
  std::vector<std::string> values;  // sorted, unique; of several any will do

  friend bool operator==(const VolumeTopology&, const VolumeTopology&) = default;
};

// What the volume's labels say; one that cannot be read says nothing.
std::vector<VolumeTopology> TopologiesOf(const api::PersistentVolume& volume);

// Whether the node is where all of them are, or has no zone or region label at all. A node's
// present label stands for an old one that it lacks.
bool IsWithin(std::span<const VolumeTopology> topologies, const api::Node& node);

// Takes the others out of `nodes`.
void KeepWithin(std::span<const VolumeTopology> topologies, const Snapshot& snapshot,
                NodeSet& nodes);

// Keeps a pod off nodes that are in another zone or region than the volumes of its claims say by
// their labels.
//
// Every rejection is UnschedulableAndUnresolvable: no eviction moves a volume.
//
// Thread safety: Filter and FilterNodes may run concurrently; the rest on the scheduling thread.
class VolumeZone final : public PreFilterPlugin,
                         public ColumnFilterPlugin,
                         public EnqueueExtensions,
                         public InTheWayPlugin {
 public:
  static constexpr std::string_view kName = "VolumeZone";
  static constexpr bool kSkipsDeferredResizes = true;
  static constexpr std::string_view kReason = "node(s) had no available volume zone";

  explicit VolumeZone(Handle& handle)
      : handle_(&handle),
        rejection_(handle.reasons().Make(Code::kUnschedulableAndUnresolvable, kReason)) {}

  // The claims are the pod's own.
  Inputs DeclaredInputs() const { return Inputs::EachPod(); }

  // Skips pods none of whose volumes has such labels. Claims that are not there, have no volume and
  // do not wait for their first consumer, or whose volume is not there, reject the pod.
  PreFilterResult PreFilter(CycleState& state, const PodInfo& pod,
                            const Snapshot& snapshot) override;
  // A node without any such label may have every volume.
  Status Filter(const CycleState& state, const PodInfo& pod, const NodeView& node) const override;
  Status FilterNodes(const CycleState& state, const PodInfo& pod, const Snapshot& snapshot,
                     NodeSet& nodes) const override;

  // Queues the pod when a class comes that waits for the first consumer, a node comes or changes
  // its labels, one of its claims comes or changes, and when any volume comes or changes its zone.
  std::vector<ClusterEventWithHint> EventsToRegister() const override;

  // The first volume that is elsewhere, and where.
  std::string InTheWayOf(const api::Pod& pod, const NodeView& node) const override;
  // Where the claim's volume is, if that is elsewhere.
  std::string ProblemOfClaim(const api::Pod& pod, std::string_view claim,
                             const NodeView& node) const override;

 private:
  Handle* handle_;
  Status rejection_;
};

}  // namespace berth::plugins
