// SPDX-License-Identifier: Apache-2.0
#include "plugins/node_resources_fit/queueing_hints.h"

#include <algorithm>

#include "plugins/shared/hint_objects.h"

namespace berth::plugins {
namespace {

using api::ResourceList;

// In the units of the scheduler; 0 when the list does not have it.
int64_t AmountOf(const ResourceList& list, std::string_view name) {
  const api::Quantity* amount = api::Find(list, name);
  if (amount == nullptr) return 0;
  return name == "cpu" ? amount->MilliValue() : amount->Value();
}

bool IsCounted(std::string_view name) {
  return name == "cpu" || name == "memory" || name == "ephemeral-storage" ||
         IsScalarResourceName(name);
}

// Whether the node has the resource by devices, if it has it at all.
bool IsOfDevices(const ExtendedResourceClasses& classes, std::string_view name,
                 const ResourceList& allocatable) {
  return IsDeviceResourceName(name) && AmountOf(allocatable, name) <= 0 &&
         classes.Find(name) != nullptr;
}

// On the node without any pod. Ignored resources count here too, as upstream.
bool FitsEmptyNode(const ExtendedResourceClasses& classes, const ResourceList& requests,
                   const api::Node& node) {
  const ResourceList& allocatable = node.status.allocatable;
  if (AmountOf(allocatable, "pods") < 1) return false;
  return std::all_of(requests.begin(), requests.end(), [&](const auto& entry) {
    if (!IsCounted(entry.first)) return true;
    const int64_t amount = AmountOf(requests, entry.first);
    return amount <= 0 || amount <= AmountOf(allocatable, entry.first) ||
           IsOfDevices(classes, entry.first, allocatable);
  });
}

bool AnyRequestedGrew(const ExtendedResourceClasses& classes, const ResourceList& requests,
                      const api::Node& before, const api::Node& after) {
  const auto grew = [&](std::string_view name) {
    return AmountOf(after.status.allocatable, name) > AmountOf(before.status.allocatable, name);
  };
  return grew("pods") || std::any_of(requests.begin(), requests.end(), [&](const auto& entry) {
           return IsCounted(entry.first) && AmountOf(requests, entry.first) != 0 &&
                  (grew(entry.first) ||
                   IsOfDevices(classes, entry.first, after.status.allocatable));
         });
}

Result<QueueingHint> AfterPodDelete(const api::ObjectPtr& old_object,
                                    const api::ObjectPtr& new_object) {
  const auto change = AsChange<api::Pod>(old_object, new_object);
  if (!change) return Fail(change.error());
  if (change->old_object == nullptr) return Fail("the event has no deleted object");
  return QueueIf(IsPlaced(*change->old_object));
}

Result<QueueingHint> AfterNodeChange(const ExtendedResourceClasses& classes,
                                     const PodRequestsOptions& options, const api::Pod& pod,
                                     const api::ObjectPtr& old_object,
                                     const api::ObjectPtr& new_object) {
  const auto change = AsUpdate<api::Node>(old_object, new_object);
  if (!change) return Fail(change.error());
  const ResourceList requests = PodRequests(pod, options);
  if (!FitsEmptyNode(classes, requests, *change->new_object)) return QueueingHint::kQueueSkip;
  if (change->old_object == nullptr ||
      AnyRequestedGrew(classes, requests, *change->old_object, *change->new_object)) {
    return QueueingHint::kQueue;
  }
  return QueueingHint::kQueueSkip;
}

Result<QueueingHint> AfterClassChange(const api::Pod& pod, const api::ObjectPtr& old_object,
                                      const api::ObjectPtr& new_object) {
  const auto change = AsUpdate<api::DeviceClass>(old_object, new_object);
  if (!change) return Fail(change.error());
  const ResourceList requests = PodRequests(pod, {});
  const api::DeviceClass& after = *change->new_object;
  const auto& resource = after.spec.extended_resource_name;
  if (change->old_object != nullptr) {
    // The name, and with it the implicit resource, stays.
    if (change->old_object->spec.extended_resource_name.value_or("") == resource.value_or("")) {
      return QueueingHint::kQueueSkip;
    }
  } else if (api::Find(requests, ImplicitResourceOf(after.metadata.name)) != nullptr) {
    return QueueingHint::kQueue;
  }
  return QueueIf(resource && api::Find(requests, *resource) != nullptr);
}

Result<QueueingHint> AfterPodScaleDown(const PodRequestsOptions& options, const api::Pod& pod,
                                       const api::ObjectPtr& old_object,
                                       const api::ObjectPtr& new_object) {
  const auto change = AsUpdate<api::Pod>(old_object, new_object);
  if (!change) return Fail(change.error());
  if (change->old_object == nullptr) return Fail("the event has no old object");
  if (change->new_object->spec.node_name.empty()) return QueueingHint::kQueueSkip;
  const ResourceList before = PodRequests(*change->old_object, options);
  const ResourceList after = PodRequests(*change->new_object, options);
  const ResourceList wanted = PodRequests(pod, options);
  const bool freed = std::any_of(wanted.begin(), wanted.end(), [&](const auto& entry) {
    const auto& [name, amount] = entry;
    return !amount.IsZero() && IsCounted(name) && AmountOf(before, name) > AmountOf(after, name);
  });
  return QueueIf(freed);
}

}  // namespace

std::vector<ClusterEventWithHint> FitEvents(const ExtendedResourceClasses& classes,
                                            const FitHintOptions& options) {
  return {
      {{EventResource::kAssignedPod, action::kDelete},
       [](const api::Pod&, const api::ObjectPtr& old_object, const api::ObjectPtr& new_object) {
         return AfterPodDelete(old_object, new_object);
       }},
      {{EventResource::kNode, action::kAdd | action::kUpdateNodeAllocatable},
       [&classes, options = options.pod](const api::Pod& pod, const api::ObjectPtr& old_object,
                                         const api::ObjectPtr& new_object) {
         return AfterNodeChange(classes, options, pod, old_object, new_object);
       }},
      {{EventResource::kDeviceClass, action::kAdd | action::kUpdate},
       [](const api::Pod& pod, const api::ObjectPtr& old_object, const api::ObjectPtr& new_object) {
         return AfterClassChange(pod, old_object, new_object);
       }},
      {{EventResource::kAssignedPod, action::kUpdatePodScaleDown},
       [options = options.placed_pod](const api::Pod& pod, const api::ObjectPtr& old_object,
                                      const api::ObjectPtr& new_object) {
         return AfterPodScaleDown(options, pod, old_object, new_object);
       }},
      {{EventResource::kTargetPod, action::kUpdatePodScaleDown}, nullptr},
  };
}

}  // namespace berth::plugins
