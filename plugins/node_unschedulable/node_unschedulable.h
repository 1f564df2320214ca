// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "berth/in_tree/handle.h"
#include "berth/in_tree/points.h"

namespace berth::plugins {

// Keeps pods off cordoned nodes (spec.unschedulable), unless they tolerate the taint
// node.kubernetes.io/unschedulable:NoSchedule.
//
// Thread safety: immutable; every method may run concurrently.
class NodeUnschedulable final : public PreFilterPlugin,
                                public ColumnFilterPlugin,
                                public EnqueueExtensions {
 public:
  static constexpr std::string_view kName = "NodeUnschedulable";
  static constexpr bool kSkipsDeferredResizes = true;
  static constexpr std::string_view kReason = "node(s) were unschedulable";

  explicit NodeUnschedulable(Handle& handle);

  Inputs DeclaredInputs() const { return Inputs::Of(pod_part::kTolerations, {{Reach::kNode}}); }

  PreFilterResult PreFilter(CycleState&, const PodInfo&, const Snapshot&) override { return {}; }
  Status Filter(const CycleState& state, const PodInfo& pod, const NodeView& node) const override;
  Status FilterNodes(const CycleState& state, const PodInfo& pod, const Snapshot& snapshot,
                     NodeSet& nodes) const override;

  // Queues the pod when a schedulable node comes, when a node is uncordoned, and when the pod
  // starts to tolerate cordoned nodes.
  std::vector<ClusterEventWithHint> EventsToRegister() const override;

 private:
  bool ToleratesUnschedulable(const api::Pod& pod) const;

  Status rejection_;
  bool comparison_operators_;
};

}  // namespace berth::plugins
