// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "berth/api/object.h"
#include "berth/result.h"

namespace berth {

// What happened to an object, as bits; the order and the values are kube-scheduler's, since an
// event matches a registration only when its value is not greater than the registered one.
using ActionType = uint32_t;
namespace action {
inline constexpr ActionType kNone = 0;
inline constexpr ActionType kAdd = 1u << 0;
inline constexpr ActionType kDelete = 1u << 1;
inline constexpr ActionType kUpdateNodeAllocatable = 1u << 2;
inline constexpr ActionType kUpdateNodeLabel = 1u << 3;
inline constexpr ActionType kUpdateNodeTaint = 1u << 4;
inline constexpr ActionType kUpdateNodeCondition = 1u << 5;
inline constexpr ActionType kUpdateNodeAnnotation = 1u << 6;
inline constexpr ActionType kUpdateNodeDeclaredFeature = 1u << 7;
inline constexpr ActionType kUpdateNodePreemptionPolicy = 1u << 8;
inline constexpr ActionType kUpdatePodLabel = 1u << 9;
inline constexpr ActionType kUpdatePodScaleDown = 1u << 10;
inline constexpr ActionType kUpdatePodScaleUp = 1u << 11;
inline constexpr ActionType kUpdatePodToleration = 1u << 12;
inline constexpr ActionType kUpdatePodSchedulingGatesEliminated = 1u << 13;
inline constexpr ActionType kUpdatePodGeneratedResourceClaim = 1u << 14;
inline constexpr ActionType kAll = (1u << 15) - 1;
inline constexpr ActionType kUpdate = kAll & ~(kAdd | kDelete);
}  // namespace action

enum class EventResource : uint8_t {
  kWildcard,
  kPod,  // As a registration: each of the next three.
  kAssignedPod,
  kUnscheduledPod,
  kTargetPod,
  kNode,
  kNamespace,
  kPersistentVolume,
  kPersistentVolumeClaim,
  kCsiNode,
  kCsiDriver,
  kVolumeAttachment,
  kCsiStorageCapacity,
  kStorageClass,
  kResourceClaim,
  kResourceSlice,
  kDeviceClass,
  kPodGroup,
  kCompositePodGroup,
  kNodeResourceTopology,
  kElasticQuota,
  kNodeMetrics,  // what nodes are measured to use
  // Of the first kind that plugins of libraries ask for; those of the others follow.
  kFirstPluginKind,
};

constexpr EventResource EventResourceOf(api::PluginKindId kind) {
  return static_cast<EventResource>(static_cast<size_t>(EventResource::kFirstPluginKind) + kind);
}

// A change in the cluster that may make a parked pod schedulable.
struct ClusterEvent {
  EventResource resource = EventResource::kWildcard;
  ActionType action = action::kAll;
  // A label of the queue's own events (ForceActivate, UnschedulableTimeout, ...), else "".
  std::string_view custom_label = {};

  bool wildcard() const { return resource == EventResource::kWildcard && action == action::kAll; }
  // The metrics label: `<Resource><Action>`, e.g. NodeAdd, or custom_label.
  std::string Label() const;
  // Whether `incoming` is an event that this registration covers.
  bool Matches(const ClusterEvent& incoming) const;
  friend bool operator==(const ClusterEvent& a, const ClusterEvent& b) {
    return a.resource == b.resource && a.action == b.action;
  }
};

enum class QueueingHint : uint8_t { kQueueSkip, kQueue };

// Whether the event can make `pod`, which this plugin rejected, schedulable. `old_object` is none
// for an addition, `new_object` for a deletion. A failure counts as kQueue.
// Called on the scheduling thread.
using QueueingHintFn = std::function<Result<QueueingHint>(
    const api::Pod& pod, const api::ObjectPtr& old_object, const api::ObjectPtr& new_object)>;

struct ClusterEventWithHint {
  ClusterEvent event;
  QueueingHintFn hint = nullptr;  // nullptr: every such event queues the pod
};

// Every event a plugin that registers nothing itself is taken to want. `pod_groups`: the feature
// gate GenericWorkload is on.
std::vector<ClusterEventWithHint> AllClusterEvents(bool pod_groups);

// What changed between two versions of a pod or a node, one event each, in kube-scheduler's order.
// A pod update that changed nothing a plugin registers for yields the generic kUpdate; a node
// update of that kind yields nothing. `resource` is kAssignedPod, kUnscheduledPod or kTargetPod;
// `pod_level_status`: the feature gate InPlacePodLevelResourcesVerticalScaling is on.
std::vector<ClusterEvent> PodUpdateEvents(EventResource resource, const api::Pod& old_pod,
                                          const api::Pod& new_pod, bool pod_level_status = true);
std::vector<ClusterEvent> NodeUpdateEvents(const api::Node& old_node, const api::Node& new_node);

}  // namespace berth
