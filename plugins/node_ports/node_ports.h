// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "berth/in_tree/handle.h"
#include "berth/in_tree/points.h"

namespace berth::plugins {

// Keeps a pod off nodes where one of its host ports is taken.
//
// The rejection is Unschedulable: evicting the pod that holds the port helps.
//
// Thread safety: immutable; every method may run concurrently.
class NodePorts final : public PreFilterPlugin,
                        public ColumnFilterPlugin,
                        public EnqueueExtensions {
 public:
  static constexpr std::string_view kName = "NodePorts";
  static constexpr bool kSkipsDeferredResizes = true;
  static constexpr std::string_view kReason =
      "node(s) didn't have free ports for the requested pod ports";

  explicit NodePorts(Handle& handle)
      : rejection_(handle.reasons().Make(Code::kUnschedulable, kReason)) {}

  Inputs DeclaredInputs() const { return Inputs::Of(pod_part::kHostPorts, {{Reach::kUsage}}); }

  // Skips pods without host ports.
  PreFilterResult PreFilter(CycleState& state, const PodInfo& pod,
                            const Snapshot& snapshot) override;
  Status Filter(const CycleState& state, const PodInfo& pod, const NodeView& node) const override;
  Status FilterNodes(const CycleState& state, const PodInfo& pod, const Snapshot& snapshot,
                     NodeSet& nodes) const override;

  // Queues the pod when a node comes, or when a pod on a node goes that held one of its ports.
  std::vector<ClusterEventWithHint> EventsToRegister() const override;

 private:
  Status rejection_;
};

}  // namespace berth::plugins
