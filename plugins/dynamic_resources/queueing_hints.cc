// SPDX-License-Identifier: Apache-2.0
#include "plugins/dynamic_resources/queueing_hints.h"

#include <algorithm>

#include "plugins/dynamic_resources/device_claims.h"
#include "plugins/shared/hint_objects.h"

namespace berth::plugins {
namespace {

using api::ObjectPtr;

// A device that becomes free may help any pod, else only a change of the pod's own claims.
Result<QueueingHint> AfterClaimChange(Handle& handle, const api::Pod& pod,
                                      const ObjectPtr& old_object, const ObjectPtr& new_object) {
  const auto change = AsChange<api::ResourceClaim>(old_object, new_object);
  if (!change) return Fail(change.error());
  const api::ResourceClaim* before = change->old_object;
  const api::ResourceClaim* after = change->new_object;
  if (after == nullptr) return QueueIf(before->status.allocation.has_value());
  const auto claims = FindDeviceClaims(pod, handle.claims(), handle.features());
  if (!claims) return QueueingHint::kQueueSkip;
  if (before != nullptr && before->status.allocation && !after->status.allocation) {
    return QueueingHint::kQueue;
  }
  const bool used = std::ranges::any_of(
      *claims, [&](const ClaimPtr& claim) { return claim->metadata.uid == after->metadata.uid; });
  return QueueIf(used && (before == nullptr || before->status != after->status));
}

Result<QueueingHint> AfterTargetPodUpdate(Handle& handle, const ObjectPtr& new_object) {
  const auto* pod = api::As<api::Pod>(new_object);
  if (pod == nullptr) return Fail("the event has no new pod");
  return QueueIf(FindDeviceClaims(*pod, handle.claims(), handle.features()).has_value());
}

}  // namespace

std::vector<ClusterEventWithHint> DynamicResourcesEvents(Handle& handle) {
  using namespace action;
  std::vector<ClusterEventWithHint> events = {
      {{EventResource::kNode, kAdd | kUpdateNodeLabel | kUpdateNodeAllocatable}},
      {{EventResource::kResourceClaim, kAdd | kUpdate | kDelete},
       [&handle](const api::Pod& pod, const ObjectPtr& old_object, const ObjectPtr& new_object) {
         return AfterClaimChange(handle, pod, old_object, new_object);
       }},
      {{EventResource::kTargetPod, kUpdatePodGeneratedResourceClaim},
       [&handle](const api::Pod&, const ObjectPtr&, const ObjectPtr& new_object) {
         return AfterTargetPodUpdate(handle, new_object);
       }},
      {{EventResource::kDeviceClass, kAdd | kUpdate}},
      {{EventResource::kResourceSlice, kAdd | kUpdate}},
  };
  // A pod that goes leaves what devices would take of its node.
  if (handle.features().dra_node_allocatable_resources) {
    events.push_back({{EventResource::kAssignedPod, kDelete}});
  }
  return events;
}

}  // namespace berth::plugins
