// SPDX-License-Identifier: Apache-2.0
#include "src/scheduler/watched_events.h"

#include <algorithm>

#include "src/base/logging.h"

namespace berth::scheduler {

std::optional<EventResource> EventResourceOf(informers::Kind kind) {
  if (const auto own = informers::PluginKindOf(kind)) return berth::EventResourceOf(*own);
  switch (kind) {
    case informers::Kind::kNode:
      return EventResource::kNode;
    case informers::Kind::kNamespace:
      return EventResource::kNamespace;
    case informers::Kind::kPersistentVolume:
      return EventResource::kPersistentVolume;
    case informers::Kind::kPersistentVolumeClaim:
      return EventResource::kPersistentVolumeClaim;
    case informers::Kind::kStorageClass:
      return EventResource::kStorageClass;
    case informers::Kind::kCsiNode:
      return EventResource::kCsiNode;
    case informers::Kind::kCsiDriver:
      return EventResource::kCsiDriver;
    case informers::Kind::kCsiStorageCapacity:
      return EventResource::kCsiStorageCapacity;
    case informers::Kind::kVolumeAttachment:
      return EventResource::kVolumeAttachment;
    case informers::Kind::kResourceClaim:
      return EventResource::kResourceClaim;
    case informers::Kind::kDeviceClass:
      return EventResource::kDeviceClass;
    case informers::Kind::kResourceSlice:
      return EventResource::kResourceSlice;
    case informers::Kind::kPodGroup:
    case informers::Kind::kCoschedulingPodGroup:
      return EventResource::kPodGroup;
    case informers::Kind::kCompositePodGroup:
      return EventResource::kCompositePodGroup;
    case informers::Kind::kNodeResourceTopology:
      return EventResource::kNodeResourceTopology;
    case informers::Kind::kElasticQuota:
      return EventResource::kElasticQuota;
    case informers::Kind::kPod:
    case informers::Kind::kFirstPluginKind:
    case informers::Kind::kService:
    case informers::Kind::kReplicationController:
    case informers::Kind::kReplicaSet:
    case informers::Kind::kStatefulSet:
    case informers::Kind::kPodDisruptionBudget:
    case informers::Kind::kVolumeAttributesClass:
    case informers::Kind::kResourceClaimTemplate:
    case informers::Kind::kDeviceTaintRule:
    case informers::Kind::kWorkload:
      break;
  }
  return std::nullopt;
}

bool IsWatched(EventResource resource, const Features& features) {
  switch (resource) {
    case EventResource::kWildcard:
    case EventResource::kPod:
    case EventResource::kAssignedPod:
    case EventResource::kUnscheduledPod:
    case EventResource::kTargetPod:
    case EventResource::kNodeMetrics:
      return true;
    default:
      return std::ranges::any_of(
          informers::WatchedKinds(features),
          [resource](informers::Kind kind) { return EventResourceOf(kind) == resource; });
  }
}

void WarnOfUnwatchedEvents(const framework::Profile& profile, const Features& features) {
  for (const framework::RegisteredEvent& registered : profile.events()) {
    if (!registered.named || IsWatched(registered.event.event.resource, features)) continue;
    base::LogWarning("A plugin registers for events of a kind that is not watched; none will come",
                     {{"plugin", registered.plugin},
                      {"profile", profile.scheduler_name()},
                      {"event", registered.event.event.Label()}});
  }
}

}  // namespace berth::scheduler
