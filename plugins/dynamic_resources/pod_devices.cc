// SPDX-License-Identifier: Apache-2.0
// What DynamicResources finds out about a pod before it looks at nodes.
#include "plugins/dynamic_resources/pod_devices.h"

#include <algorithm>

#include "plugins/dynamic_resources/device_claims.h"
#include "plugins/dynamic_resources/dynamic_resources.h"
#include "plugins/dynamic_resources/extended_resources.h"

namespace berth::plugins {

Status DynamicResources::CheckRequests(const CycleState& state,
                                       const api::ResourceClaim& claim) const {
  const auto check = [&](const std::string& device_class, const std::string& request) {
    if (device_class.empty()) {
      return state.reasons().Error("request " + request + ": unsupported request type");
    }
    if (handle_.listers().FindDeviceClass(device_class) != nullptr) return Status::Success();
    return state.reasons().Make(
        Code::kUnschedulableAndUnresolvable,
        "request " + request + ": device class " + device_class + " does not exist");
  };
  for (const api::DeviceRequest& request : claim.spec.devices.requests) {
    if (request.exactly) {
      if (Status status = check(request.exactly->device_class_name, request.name); !status.ok()) {
        return status;
      }
      continue;
    }
    if (request.first_available.empty()) {
      return state.reasons().Make(Code::kUnschedulableAndUnresolvable,
                                  "resource claim " + claim.metadata.Key() + ", request " +
                                      request.name + ": unknown request type");
    }
    for (const api::DeviceSubRequest& alternative : request.first_available) {
      Status status = check(alternative.device_class_name, request.name + "/" + alternative.name);
      if (!status.ok()) return status;
    }
  }
  return Status::Success();
}

ClaimPtr DynamicResources::FindExtendedClaim(const PodInfo& pod, const ResourceNames& names,
                                             PodDevices& devices) const {
  bool any = false;
  for (const auto& [id, amount] : pod.requests.scalars) {
    const std::string name(names.Name(id));
    if (amount == 0 || !IsDeviceResourceName(name)) continue;
    devices.extended_resources.emplace_back(name, id);
    any = any || devices_->FindClassOf(name) != nullptr;
  }
  if (!any) return nullptr;
  std::ranges::sort(devices.extended_resources);
  if (ClaimPtr made = handle_.claims().FindExtendedResourceClaim(*pod.pod)) return made;
  auto claim = std::make_shared<api::ResourceClaim>();
  const api::ObjectMeta& owner = pod.pod->metadata;
  claim->metadata.namespace_ = owner.namespace_;
  claim->metadata.name = kMadeUpName;
  // No claim that there is has such a uid.
  claim->metadata.uid = std::string(kMadeUpName) + owner.uid;
  claim->metadata.annotations.emplace_back(api::kExtendedResourceClaimAnnotation, "true");
  claim->metadata.owner_references.push_back({"v1", "Pod", owner.name, owner.uid, true});
  return claim;
}

std::string DynamicResources::GroupOf(const api::Pod& pod) const {
  const auto& group = pod.spec.scheduling_group;
  if (!handle_.features().generic_workload || !group || !group->pod_group_name) return "";
  return api::NamespacedKey(pod.metadata.namespace_, *group->pod_group_name);
}

std::shared_ptr<const api::AllocationResult> DynamicResources::FindSharedPending(
    const api::Pod& pod, const api::ResourceClaim& claim) const {
  const auto shared = pending_of_groups_.find(claim.metadata.uid);
  if (shared == pending_of_groups_.end() || shared->second != GroupOf(pod)) return nullptr;
  const api::AllocationResult* pending = handle_.claims().FindPending(claim.metadata.uid);
  return pending == nullptr ? nullptr : std::make_shared<const api::AllocationResult>(*pending);
}

Status DynamicResources::FindPodDevices(const CycleState& state, const PodInfo& info,
                                        const Snapshot& snapshot, PodDevices& devices) const {
  const api::Pod& pod = *info.pod;
  const Features& features = handle_.features();
  const auto rejected = [&](std::string_view text) {
    return state.reasons().Make(Code::kUnschedulableAndUnresolvable, text);
  };
  auto claims = FindDeviceClaims(pod, handle_.claims(), features);
  if (!claims) return rejected(claims.error().message);
  ClaimPtr extended = FindExtendedClaim(info, snapshot.resource_names(), devices);
  const api::PodGroup* group = nullptr;
  if (features.dra_workload_resource_claims && pod.spec.scheduling_group &&
      pod.spec.scheduling_group->pod_group_name) {
    const std::string& name = *pod.spec.scheduling_group->pod_group_name;
    group = handle_.listers().FindPodGroup(pod.metadata.namespace_, name);
    if (group == nullptr) return rejected("podgroup.scheduling.k8s.io \"" + name + "\" not found");
  }
  const auto consumers = FindConsumers(pod, group);
  if (!consumers) return rejected(consumers.error().message);
  if (claims->empty() && extended == nullptr) return Status::Skip();

  devices.has_extended = extended != nullptr;
  if (extended != nullptr) claims->push_back(extended);
  for (size_t i = 0; i < claims->size(); ++i) {
    PodDeviceClaim& used = devices.claims.emplace_back();
    used.claim = std::move((*claims)[i]);
    const bool of_group = group != nullptr && i < consumers->size();
    used.consumer = of_group ? (*consumers)[i] : ConsumerOf(pod);
    if (!used.claim->status.allocation) used.pending = FindSharedPending(pod, *used.claim);
    if (const api::AllocationResult* allocation = used.allocation()) {
      if (allocation->node_selector) {
        used.nodes = NodeSelectorMatcher::Make(*allocation->node_selector);
        if (!used.nodes->errors().empty()) {
          return state.reasons().Error(used.nodes->errors().front().message);
        }
      }
      continue;
    }
    devices.must_allocate = true;
    if (handle_.claims().FindPending(used.claim->metadata.uid) != nullptr) {
      return rejected("resource claim " + used.claim->metadata.Key() +
                      " is in the process of being allocated");
    }
    if (used.claim == extended) continue;
    if (Status status = CheckRequests(state, *used.claim); !status.ok()) return status;
  }
  return Status::Success();
}

}  // namespace berth::plugins
