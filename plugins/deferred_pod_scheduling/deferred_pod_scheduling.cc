// SPDX-License-Identifier: Apache-2.0
#include "plugins/deferred_pod_scheduling/deferred_pod_scheduling.h"

#include "berth/resources.h"
#include "plugins/shared/hint_objects.h"

namespace berth::plugins {
namespace {

bool DisablesResizePreemption(const api::Node& node) {
  return node.spec.pod_preemption_policy &&
         !node.spec.pod_preemption_policy->disable_resize_preemption.empty();
}

Result<QueueingHint> AfterNodeChange(const api::Pod& pod, const api::ObjectPtr& old_object,
                                     const api::ObjectPtr& new_object) {
  if (!IsResizeDeferred(pod)) return QueueingHint::kQueueSkip;
  const auto change = AsUpdate<api::Node>(old_object, new_object);
  if (!change) return Fail(change.error());
  const api::Node& node = *change->new_object;
  return QueueIf(pod.spec.node_name == node.metadata.name && !DisablesResizePreemption(node) &&
                 (change->old_object == nullptr || DisablesResizePreemption(*change->old_object)));
}

Result<QueueingHint> AfterNodeResize(const api::Pod& pod, const api::ObjectPtr& old_object,
                                     const api::ObjectPtr& new_object) {
  const auto change = AsUpdate<api::Node>(old_object, new_object);
  if (!change) return Fail(change.error());
  return QueueIf(IsResizeDeferred(pod) && pod.spec.node_name == change->new_object->metadata.name);
}

Result<QueueingHint> AfterPodTakesMore(const api::Pod& pod, const api::ObjectPtr& old_object,
                                       const api::ObjectPtr& new_object) {
  const auto change = AsUpdate<api::Pod>(old_object, new_object);
  if (!change) return Fail(change.error());
  return QueueIf(IsResizeDeferred(pod) && pod.spec.node_name == change->new_object->spec.node_name);
}

}  // namespace

DeferredPodScheduling::DeferredPodScheduling(Handle& handle)
    : enabled_(handle.features().in_place_pod_vertical_scaling_scheduler_preemption),
      other_node_(handle.reasons().Make(Code::kUnschedulableAndUnresolvable, kOtherNode)),
      disabled_(handle.reasons().Make(Code::kUnschedulableAndUnresolvable, kDisabled)),
      fits_(handle.reasons().Make(Code::kUnschedulableAndUnresolvable, kFits)) {}

// A pod whose resize is deferred is in no class, so that what is said of it is never kept.
Inputs DeferredPodScheduling::DeclaredInputs() const {
  return Inputs::Of(pod_part::kNodeName, {{Reach::kNode}});
}

Status DeferredPodScheduling::Filter(const CycleState&, const PodInfo& pod,
                                     const NodeView& node) const {
  if (!pod.resize_deferred) return Status::Success();
  if (pod.pod->spec.node_name != node.node().metadata.name) return other_node_;
  return DisablesResizePreemption(node.node()) ? disabled_ : Status::Success();
}

std::vector<ClusterEventWithHint> DeferredPodScheduling::EventsToRegister() const {
  if (!enabled_) return {};
  return {
      {{EventResource::kNode, action::kAdd | action::kUpdateNodePreemptionPolicy}, AfterNodeChange},
      {{EventResource::kNode, action::kUpdateNodeAllocatable}, AfterNodeResize},
      {{EventResource::kAssignedPod, action::kAdd | action::kUpdatePodScaleUp}, AfterPodTakesMore},
      {{EventResource::kTargetPod, action::kUpdatePodScaleUp}, AfterPodTakesMore},
  };
}

}  // namespace berth::plugins
