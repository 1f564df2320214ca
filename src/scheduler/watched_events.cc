// SPDX-License-Identifier: Apache-2.0
#include "src/scheduler/watched_events.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "src/base/logging.h"

namespace berth::scheduler {
namespace {

// Of the other kinds no events are made.
constexpr std::pair<informers::Kind, EventResource> kResources[] = {
    {informers::Kind::kNode, EventResource::kNode},
    {informers::Kind::kNamespace, EventResource::kNamespace},
    {informers::Kind::kPersistentVolume, EventResource::kPersistentVolume},
    {informers::Kind::kPersistentVolumeClaim, EventResource::kPersistentVolumeClaim},
    {informers::Kind::kStorageClass, EventResource::kStorageClass},
    {informers::Kind::kCsiNode, EventResource::kCsiNode},
    {informers::Kind::kCsiDriver, EventResource::kCsiDriver},
    {informers::Kind::kCsiStorageCapacity, EventResource::kCsiStorageCapacity},
    {informers::Kind::kVolumeAttachment, EventResource::kVolumeAttachment},
    {informers::Kind::kResourceClaim, EventResource::kResourceClaim},
    {informers::Kind::kDeviceClass, EventResource::kDeviceClass},
    {informers::Kind::kResourceSlice, EventResource::kResourceSlice},
    {informers::Kind::kPodGroup, EventResource::kPodGroup},
    {informers::Kind::kCoschedulingPodGroup, EventResource::kPodGroup},
    {informers::Kind::kCompositePodGroup, EventResource::kCompositePodGroup},
    {informers::Kind::kNodeResourceTopology, EventResource::kNodeResourceTopology},
    {informers::Kind::kElasticQuota, EventResource::kElasticQuota},
};

}  // namespace

std::optional<EventResource> EventResourceOf(informers::Kind kind) {
  if (const auto own = informers::PluginKindOf(kind)) return berth::EventResourceOf(*own);
  const auto found =
      std::ranges::find(kResources, kind, &std::pair<informers::Kind, EventResource>::first);
  if (found == std::end(kResources)) return std::nullopt;
  return found->second;
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
