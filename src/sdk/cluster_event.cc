// SPDX-License-Identifier: Apache-2.0
#include "berth/cluster_event.h"

#include <map>

#include "berth/plugin_kinds.h"
#include "berth/resources.h"
#include "src/sdk/resource_status.h"

namespace berth {
namespace {

std::string_view ResourceName(EventResource resource) {
  switch (resource) {
    case EventResource::kWildcard:
      return "*";
    case EventResource::kPod:
      return "Pod";
    case EventResource::kAssignedPod:
      return "AssignedPod";
    case EventResource::kUnscheduledPod:
      return "UnscheduledPod";
    case EventResource::kTargetPod:
      return "TargetPod";
    case EventResource::kNode:
      return "Node";
    case EventResource::kNamespace:
      return "Namespace";
    case EventResource::kPersistentVolume:
      return "PersistentVolume";
    case EventResource::kPersistentVolumeClaim:
      return "PersistentVolumeClaim";
    case EventResource::kCsiNode:
      return "storage.k8s.io/CSINode";
    case EventResource::kCsiDriver:
      return "storage.k8s.io/CSIDriver";
    case EventResource::kVolumeAttachment:
      return "storage.k8s.io/VolumeAttachment";
    case EventResource::kCsiStorageCapacity:
      return "storage.k8s.io/CSIStorageCapacity";
    case EventResource::kStorageClass:
      return "storage.k8s.io/StorageClass";
    case EventResource::kResourceClaim:
      return "resource.k8s.io/ResourceClaim";
    case EventResource::kResourceSlice:
      return "resource.k8s.io/ResourceSlice";
    case EventResource::kDeviceClass:
      return "resource.k8s.io/DeviceClass";
    case EventResource::kPodGroup:
      return "scheduling.k8s.io/PodGroup";
    case EventResource::kCompositePodGroup:
      return "scheduling.k8s.io/CompositePodGroup";
    case EventResource::kNodeResourceTopology:
      return "noderesourcetopologies.v1alpha2.topology.node.k8s.io";
    case EventResource::kElasticQuota:
      return "elasticquotas.v1alpha1.scheduling.x-k8s.io";
    case EventResource::kNodeMetrics:
      return "nodes.v1beta1.metrics.k8s.io";
    case EventResource::kFirstPluginKind:
      break;
  }
  return PluginKinds().EventName(static_cast<api::PluginKindId>(
      static_cast<size_t>(resource) - static_cast<size_t>(EventResource::kFirstPluginKind)));
}

// A mixture of actions has no name.
std::string_view ActionName(ActionType action) {
  switch (action) {
    case action::kAdd:
      return "Add";
    case action::kDelete:
      return "Delete";
    case action::kUpdateNodeAllocatable:
      return "UpdateNodeAllocatable";
    case action::kUpdateNodeLabel:
      return "UpdateNodeLabel";
    case action::kUpdateNodeTaint:
      return "UpdateNodeTaint";
    case action::kUpdateNodeCondition:
      return "UpdateNodeCondition";
    case action::kUpdateNodeAnnotation:
      return "UpdateNodeAnnotation";
    case action::kUpdateNodeDeclaredFeature:
      return "UpdateNodeDeclaredFeature";
    case action::kUpdateNodePreemptionPolicy:
      return "UpdateNodePreemptionPolicy";
    case action::kUpdatePodLabel:
      return "UpdatePodLabel";
    case action::kUpdatePodScaleDown:
      return "UpdatePodScaleDown";
    case action::kUpdatePodScaleUp:
      return "UpdatePodScaleUp";
    case action::kUpdatePodToleration:
      return "UpdatePodToleration";
    case action::kUpdatePodSchedulingGatesEliminated:
      return "UpdatePodSchedulingGatesEliminated";
    case action::kUpdatePodGeneratedResourceClaim:
      return "UpdatePodGeneratedResourceClaim";
    case action::kAll:
      return "All";
    case action::kUpdate:
      return "Update";
    default:
      return "";
  }
}

bool ResourceMatches(EventResource registered, EventResource incoming) {
  return registered == EventResource::kWildcard || registered == incoming ||
         (registered == EventResource::kPod &&
          (incoming == EventResource::kAssignedPod || incoming == EventResource::kUnscheduledPod ||
           incoming == EventResource::kTargetPod));
}

// Whether some resource in `from` is missing from `to` or smaller there.
bool AnyShrinks(const api::ResourceList& from, const api::ResourceList& to) {
  for (const auto& [name, amount] : from) {
    const api::Quantity* other = api::Find(to, name);
    if (other == nullptr || amount.MilliValue() > other->MilliValue()) return true;
  }
  return false;
}

// True only where both take the same, as is plain without adding anything up.
bool SameRequests(const api::Pod& one, const api::Pod& other) {
  return one.spec.containers == other.spec.containers &&
         one.spec.init_containers == other.spec.init_containers &&
         one.spec.overhead == other.spec.overhead && one.spec.resources == other.spec.resources &&
         !StatusTellsResources(one) && !StatusTellsResources(other);
}

// The last condition of a type counts.
std::map<std::string_view, std::string_view> ConditionStatuses(const api::Node& node) {
  std::map<std::string_view, std::string_view> statuses;
  for (const api::NodeCondition& condition : node.status.conditions) {
    statuses[condition.type] = condition.status;
  }
  return statuses;
}

}  // namespace

std::string ClusterEvent::Label() const {
  if (!custom_label.empty()) return std::string(custom_label);
  return std::string(ResourceName(resource)).append(ActionName(action));
}

bool ClusterEvent::Matches(const ClusterEvent& incoming) const {
  return wildcard() || (ResourceMatches(resource, incoming.resource) &&
                        (action & incoming.action) != 0 && incoming.action <= action);
}

std::vector<ClusterEventWithHint> AllClusterEvents(bool pod_groups) {
  std::vector<ClusterEventWithHint> events;
  for (EventResource resource :
       {EventResource::kAssignedPod, EventResource::kUnscheduledPod, EventResource::kTargetPod,
        EventResource::kNode, EventResource::kPersistentVolume,
        EventResource::kPersistentVolumeClaim, EventResource::kCsiNode, EventResource::kCsiDriver,
        EventResource::kCsiStorageCapacity, EventResource::kStorageClass,
        EventResource::kResourceClaim, EventResource::kDeviceClass}) {
    events.push_back({{resource, action::kAll}, nullptr});
  }
  if (pod_groups) events.push_back({{EventResource::kPodGroup, action::kAll}, nullptr});
  return events;
}

std::vector<ClusterEvent> PodUpdateEvents(EventResource resource, const api::Pod& old_pod,
                                          const api::Pod& new_pod) {
  std::vector<ClusterEvent> events;
  const auto add = [&](bool changed, ActionType action) {
    if (changed) events.push_back({resource, action});
  };
  add(old_pod.metadata.labels != new_pod.metadata.labels, action::kUpdatePodLabel);
  if (!SameRequests(old_pod, new_pod)) {
    const api::ResourceList old_requests = PodRequests(old_pod, {.use_status = true});
    const api::ResourceList new_requests = PodRequests(new_pod, {.use_status = true});
    add(AnyShrinks(old_requests, new_requests), action::kUpdatePodScaleDown);
    add(AnyShrinks(new_requests, old_requests), action::kUpdatePodScaleUp);
  }
  add(new_pod.spec.scheduling_gates.empty() && !old_pod.spec.scheduling_gates.empty(),
      action::kUpdatePodSchedulingGatesEliminated);
  // Tolerations can be added but neither changed nor removed, so their number tells.
  add(old_pod.spec.tolerations.size() != new_pod.spec.tolerations.size(),
      action::kUpdatePodToleration);
  add(old_pod.status.resource_claim_statuses != new_pod.status.resource_claim_statuses ||
          old_pod.status.extended_resource_claim_status !=
              new_pod.status.extended_resource_claim_status,
      action::kUpdatePodGeneratedResourceClaim);
  add(events.empty(), action::kUpdate);
  return events;
}

std::vector<ClusterEvent> NodeUpdateEvents(const api::Node& old_node, const api::Node& new_node) {
  std::vector<ClusterEvent> events;
  const auto add = [&](bool changed, ActionType action) {
    if (changed) events.push_back({EventResource::kNode, action});
  };
  add(old_node.spec.unschedulable && !new_node.spec.unschedulable, action::kUpdateNodeTaint);
  add(old_node.status.allocatable != new_node.status.allocatable, action::kUpdateNodeAllocatable);
  add(old_node.metadata.labels != new_node.metadata.labels, action::kUpdateNodeLabel);
  add(old_node.spec.taints != new_node.spec.taints, action::kUpdateNodeTaint);
  add(ConditionStatuses(old_node) != ConditionStatuses(new_node), action::kUpdateNodeCondition);
  add(old_node.metadata.annotations != new_node.metadata.annotations,
      action::kUpdateNodeAnnotation);
  add(old_node.spec.pod_preemption_policy != new_node.spec.pod_preemption_policy,
      action::kUpdateNodePreemptionPolicy);
  add(old_node.status.declared_features != new_node.status.declared_features,
      action::kUpdateNodeDeclaredFeature);
  return events;
}

}  // namespace berth
