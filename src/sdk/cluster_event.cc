// SPDX-License-Identifier: Apache-2.0
#include "berth/cluster_event.h"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "berth/plugin_kinds.h"
#include "berth/resources.h"
#include "src/sdk/resource_status.h"

namespace berth {
namespace {

constexpr auto kOwnKinds = static_cast<size_t>(EventResource::kFirstPluginKind);

// In the order of EventResource.
constexpr auto kResourceNames = std::to_array<std::string_view>({
    "*",
    "Pod",
    "AssignedPod",
    "UnscheduledPod",
    "TargetPod",
    "Node",
    "Namespace",
    "PersistentVolume",
    "PersistentVolumeClaim",
    "storage.k8s.io/CSINode",
    "storage.k8s.io/CSIDriver",
    "storage.k8s.io/VolumeAttachment",
    "storage.k8s.io/CSIStorageCapacity",
    "storage.k8s.io/StorageClass",
    "resource.k8s.io/ResourceClaim",
    "resource.k8s.io/ResourceSlice",
    "resource.k8s.io/DeviceClass",
    "scheduling.k8s.io/PodGroup",
    "scheduling.k8s.io/CompositePodGroup",
    "noderesourcetopologies.v1alpha2.topology.node.k8s.io",
    "elasticquotas.v1alpha1.scheduling.x-k8s.io",
    "nodes.v1beta1.metrics.k8s.io",
});
static_assert(kResourceNames.size() == kOwnKinds);

std::string_view ResourceName(EventResource resource) {
  const auto number = static_cast<size_t>(resource);
  if (number < kOwnKinds) return kResourceNames[number];
  return PluginKinds().EventName(static_cast<api::PluginKindId>(number - kOwnKinds));
}

constexpr auto kActionNames = std::to_array<std::pair<ActionType, std::string_view>>({
    {action::kAdd, "Add"},
    {action::kDelete, "Delete"},
    {action::kUpdateNodeAllocatable, "UpdateNodeAllocatable"},
    {action::kUpdateNodeLabel, "UpdateNodeLabel"},
    {action::kUpdateNodeTaint, "UpdateNodeTaint"},
    {action::kUpdateNodeCondition, "UpdateNodeCondition"},
    {action::kUpdateNodeAnnotation, "UpdateNodeAnnotation"},
    {action::kUpdateNodeDeclaredFeature, "UpdateNodeDeclaredFeature"},
    {action::kUpdateNodePreemptionPolicy, "UpdateNodePreemptionPolicy"},
    {action::kUpdatePodLabel, "UpdatePodLabel"},
    {action::kUpdatePodScaleDown, "UpdatePodScaleDown"},
    {action::kUpdatePodScaleUp, "UpdatePodScaleUp"},
    {action::kUpdatePodToleration, "UpdatePodToleration"},
    {action::kUpdatePodSchedulingGatesEliminated, "UpdatePodSchedulingGatesEliminated"},
    {action::kUpdatePodGeneratedResourceClaim, "UpdatePodGeneratedResourceClaim"},
    {action::kAll, "All"},
    {action::kUpdate, "Update"},
});

// A mixture of actions has no name.
std::string_view ActionName(ActionType action) {
  const auto named =
      std::ranges::find(kActionNames, action, &decltype(kActionNames)::value_type::first);
  return named == kActionNames.end() ? "" : named->second;
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
                                          const api::Pod& new_pod, bool pod_level_status) {
  std::vector<ClusterEvent> events;
  const auto add = [&](bool changed, ActionType action) {
    if (changed) events.push_back({resource, action});
  };
  add(old_pod.metadata.labels != new_pod.metadata.labels, action::kUpdatePodLabel);
  if (!SameRequests(old_pod, new_pod)) {
    const PodRequestsOptions options{.use_status = true, .pod_level_status = pod_level_status};
    const api::ResourceList old_requests = PodRequests(old_pod, options);
    const api::ResourceList new_requests = PodRequests(new_pod, options);
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
