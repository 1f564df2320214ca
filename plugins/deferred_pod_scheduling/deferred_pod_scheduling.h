// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "berth/in_tree/handle.h"
#include "berth/in_tree/points.h"

namespace berth::plugins {

// Leads a pod whose resize is deferred (PodInfo::resize_deferred) through a scheduling cycle: on
// its own node alone, only where that lets pods be evicted for a resize, and never to a bind. Has
// nothing to say about other pods.
//
// Every rejection is UnschedulableAndUnresolvable: evicting pods changes neither the node nor its
// policy, and after Permit there is room already.
//
// Thread safety: immutable; every method may run concurrently.
class DeferredPodScheduling final : public PreFilterPlugin,
                                    public FilterPlugin,
                                    public PermitPlugin,
                                    public EnqueueExtensions {
 public:
  static constexpr std::string_view kName = "DeferredPodScheduling";
  static constexpr std::string_view kOtherNode = "pod assigned to different node";
  static constexpr std::string_view kDisabled = "node had resize preemption disabled";
  static constexpr std::string_view kFits = "pod resize fits, waiting for Kubelet actuation";

  explicit DeferredPodScheduling(Handle& handle);

  Inputs DeclaredInputs() const;

  PreFilterResult PreFilter(CycleState&, const PodInfo& pod, const Snapshot&) override {
    return {pod.resize_deferred ? Status::Success() : Status::Skip()};
  }
  Status Filter(const CycleState& state, const PodInfo& pod, const NodeView& node) const override;
  // Rejects: the pod waits for the kubelet.
  PermitResult Permit(CycleState&, const PodInfo& pod, std::string_view) override {
    return {pod.resize_deferred ? fits_ : Status::Success()};
  }

  // Queues the pod when its node comes or allows preemption again, and when what fitted may fit no
  // more: the node gets pods or they ask for more there, or the node's resources change.
  std::vector<ClusterEventWithHint> EventsToRegister() const override;

 private:
  const bool enabled_;
  Status other_node_;
  Status disabled_;
  Status fits_;
};

}  // namespace berth::plugins
