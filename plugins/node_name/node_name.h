// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "berth/in_tree/handle.h"
#include "berth/in_tree/points.h"

namespace berth::plugins {

// Keeps a pod that names its node (spec.nodeName) off every other node.
//
// The rejection is UnschedulableAndUnresolvable: evicting pods cannot rename a node, so preemption
// must not try.
//
// Thread safety: immutable; every method may run concurrently.
class NodeName final : public PreFilterPlugin, public ColumnFilterPlugin, public EnqueueExtensions {
 public:
  static constexpr std::string_view kName = "NodeName";
  static constexpr std::string_view kReason = "node(s) didn't match the requested node name";

  explicit NodeName(Handle& handle)
      : rejection_(handle.reasons().Make(Code::kUnschedulableAndUnresolvable, kReason)) {}

  Inputs DeclaredInputs() const;

  // Narrows the search to the node the pod names.
  PreFilterResult PreFilter(CycleState& state, const PodInfo& pod,
                            const Snapshot& snapshot) override;
  Status Filter(const CycleState& state, const PodInfo& pod, const NodeView& node) const override;
  Status FilterNodes(const CycleState& state, const PodInfo& pod, const Snapshot& snapshot,
                     NodeSet& nodes) const override;

  // Only a new node can carry the wanted name.
  std::vector<ClusterEventWithHint> EventsToRegister() const override;

 private:
  Status rejection_;
};

}  // namespace berth::plugins
