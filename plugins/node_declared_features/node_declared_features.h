// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "berth/in_tree/handle.h"
#include "berth/in_tree/points.h"

namespace berth::plugins {

// Keeps a pod off nodes that do not declare every feature that its spec needs.
//
// The rejection is UnschedulableAndUnresolvable: evicting pods teaches a node nothing.
//
// Thread safety: immutable; every method may run concurrently.
class NodeDeclaredFeatures final : public PreFilterPlugin,
                                   public FilterPlugin,
                                   public EnqueueExtensions {
 public:
  static constexpr std::string_view kName = "NodeDeclaredFeatures";
  static constexpr bool kSkipsDeferredResizes = true;
  static constexpr std::string_view kReason = "node(s) didn't match Pod's required features";

  explicit NodeDeclaredFeatures(Handle& handle)
      : rejection_(handle.reasons().Make(Code::kUnschedulableAndUnresolvable, kReason)) {}

  Inputs DeclaredInputs() const { return Inputs::Of(pod_part::kNodeFeatures, {{Reach::kNode}}); }

  // Skips pods that need no feature.
  PreFilterResult PreFilter(CycleState& state, const PodInfo& pod,
                            const Snapshot& snapshot) override;
  Status Filter(const CycleState& state, const PodInfo& pod, const NodeView& node) const override;

  // Queues the pod when a node comes or declares other features, or the pod needs others.
  std::vector<ClusterEventWithHint> EventsToRegister() const override;

 private:
  Status rejection_;
};

}  // namespace berth::plugins
