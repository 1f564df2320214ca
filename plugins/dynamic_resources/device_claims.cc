// SPDX-License-Identifier: Apache-2.0
#include "plugins/dynamic_resources/device_claims.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

namespace berth::plugins {
namespace {

constexpr std::string_view kSchedulingGroup = "scheduling.k8s.io";
constexpr std::string_view kPodGroups = "podgroups";
constexpr std::string_view kUnsupported = "none of the supported fields are set";

// "namespace/name", also where there is no namespace.
std::string NameOf(const api::ObjectMeta& meta) { return meta.namespace_ + "/" + meta.name; }

const std::string* GroupNameOf(const api::Pod& pod) {
  if (!pod.spec.scheduling_group || !pod.spec.scheduling_group->pod_group_name) return nullptr;
  return &*pod.spec.scheduling_group->pod_group_name;
}

struct ClaimName {
  // nullptr: no claim is needed.
  const std::string* name = nullptr;
  bool made_for_pod = false;
};

Result<ClaimName> NameOfClaim(const api::Pod& pod, const api::PodResourceClaim& entry) {
  if (entry.resource_claim_name) return ClaimName{&*entry.resource_claim_name};
  if (!entry.resource_claim_template_name) {
    return Fail("pod \"" + NameOf(pod.metadata) + "\", spec.resourceClaim \"" + entry.name +
                "\": " + std::string(kUnsupported));
  }
  for (const api::PodResourceClaimStatus& status : pod.status.resource_claim_statuses) {
    if (status.name != entry.name) continue;
    return ClaimName{status.resource_claim_name ? &*status.resource_claim_name : nullptr, true};
  }
  return Fail("pod \"" + NameOf(pod.metadata) + "\": ResourceClaim not created yet");
}

const api::OwnerReference* ControllerOf(const api::ResourceClaim& claim) {
  const auto& owners = claim.metadata.owner_references;
  const auto found = std::ranges::find_if(owners, &api::OwnerReference::controller);
  return found == owners.end() ? nullptr : &*found;
}

// nullopt: the claim was made for the pod, or for its group where that counts.
std::optional<Error> NotMadeFor(const api::Pod& pod, const api::ResourceClaim& claim,
                                const Features& features) {
  const api::OwnerReference* controller = ControllerOf(claim);
  if (controller != nullptr && controller->uid == pod.metadata.uid) return std::nullopt;
  const std::string text = "ResourceClaim " + NameOf(claim.metadata) + " was not created for Pod " +
                           NameOf(pod.metadata);
  const std::string* group = GroupNameOf(pod);
  if (!features.dra_workload_resource_claims || group == nullptr) {
    return Error{text + " (Pod is not owner)"};
  }
  const bool owned = controller != nullptr && controller->name == *group &&
                     controller->kind == "PodGroup" &&
                     controller->api_version.starts_with(std::string(kSchedulingGroup) + "/");
  if (owned) return std::nullopt;
  return Error{text + " (neither Pod nor PodGroup " + *group + " is the owner)"};
}

}  // namespace

Result<std::vector<ClaimPtr>> FindDeviceClaims(const api::Pod& pod, const ClaimTracker& claims,
                                               const Features& features) {
  std::vector<ClaimPtr> found;
  found.reserve(pod.spec.resource_claims.size());
  for (const api::PodResourceClaim& entry : pod.spec.resource_claims) {
    const auto name = NameOfClaim(pod, entry);
    if (!name) return Fail(name.error());
    if (name->name == nullptr) continue;
    ClaimPtr claim = claims.Find(pod.metadata.namespace_, *name->name);
    if (claim == nullptr) {
      return Fail("could not find ResourceClaim \"" + pod.metadata.namespace_ + "/" + *name->name +
                  "\"");
    }
    if (claim->metadata.deletion_timestamp) {
      return Fail("resourceclaim \"" + claim->metadata.name + "\" is being deleted");
    }
    if (name->made_for_pod) {
      if (auto error = NotMadeFor(pod, *claim, features)) return Fail(*std::move(error));
    }
    found.push_back(std::move(claim));
  }
  return found;
}

bool MayNameClaim(const api::Pod& pod, const api::ObjectMeta& claim) {
  if (pod.metadata.namespace_ != claim.namespace_) return false;
  const auto names_it = [&claim](const auto& entry) {
    return entry.resource_claim_name && *entry.resource_claim_name == claim.name;
  };
  return std::ranges::any_of(pod.spec.resource_claims, names_it) ||
         std::ranges::any_of(pod.status.resource_claim_statuses, names_it);
}

api::ResourceClaimConsumerReference ConsumerOf(const api::Pod& pod) {
  return {"", "pods", pod.metadata.name, pod.metadata.uid};
}

Result<std::vector<api::ResourceClaimConsumerReference>> FindConsumers(const api::Pod& pod,
                                                                       const api::PodGroup* group) {
  std::vector<api::ResourceClaimConsumerReference> consumers;
  for (const api::PodResourceClaim& entry : pod.spec.resource_claims) {
    if (!entry.resource_claim_name && !entry.resource_claim_template_name) {
      return Fail("Pod " + NameOf(pod.metadata) + " claim " + entry.name + ": " +
                  std::string(kUnsupported));
    }
    api::ResourceClaimConsumerReference consumer = ConsumerOf(pod);
    if (group != nullptr) {
      for (const api::PodGroupResourceClaim& of_group : group->spec.resource_claims) {
        if (!of_group.resource_claim_name && !of_group.resource_claim_template_name) {
          return Fail("PodGroup " + NameOf(group->metadata) + " claim " + of_group.name + ": " +
                      std::string(kUnsupported));
        }
        if (of_group.name != entry.name ||
            of_group.resource_claim_name != entry.resource_claim_name ||
            of_group.resource_claim_template_name != entry.resource_claim_template_name) {
          continue;
        }
        consumer = {std::string(kSchedulingGroup), std::string(kPodGroups), group->metadata.name,
                    group->metadata.uid};
        break;
      }
    }
    consumers.push_back(std::move(consumer));
  }
  return consumers;
}

Result<void> VisitGroupClaims(const api::PodGroup& group, const ClaimTracker& claims,
                              const std::function<bool(const ClaimPtr&)>& visit) {
  const std::string prefix = "PodGroup " + NameOf(group.metadata);
  for (const api::PodGroupResourceClaim& entry : group.spec.resource_claims) {
    const std::string* name = entry.resource_claim_name ? &*entry.resource_claim_name : nullptr;
    if (name == nullptr) {
      if (!entry.resource_claim_template_name) {
        return Fail(prefix + ", spec.resourceClaim " + entry.name + ": " +
                    std::string(kUnsupported));
      }
      const auto& statuses = group.status.resource_claim_statuses;
      const auto made = std::ranges::find(statuses, entry.name, &api::PodResourceClaimStatus::name);
      if (made == statuses.end()) return Fail(prefix + ": ResourceClaim not created yet");
      if (!made->resource_claim_name) continue;
      name = &*made->resource_claim_name;
    }
    const ClaimPtr claim = claims.Find(group.metadata.namespace_, *name);
    if (claim == nullptr) {
      return Fail("could not find ResourceClaim \"" + group.metadata.namespace_ + "/" + *name +
                  "\"");
    }
    if (!entry.resource_claim_name) {
      const api::OwnerReference* controller = ControllerOf(*claim);
      if (controller == nullptr || controller->uid != group.metadata.uid) continue;
    }
    if (!visit(claim)) return {};
  }
  return {};
}

bool IsReservedForPod(const api::Pod& pod, const api::ResourceClaim& claim,
                      GroupReservations groups) {
  const std::string* group = GroupNameOf(pod);
  return std::ranges::any_of(claim.status.reserved_for, [&](const auto& consumer) {
    if (consumer.uid == pod.metadata.uid) return true;
    // The pod does not know its group's uid.
    return groups == GroupReservations::kCount && group != nullptr &&
           consumer.api_group == kSchedulingGroup && consumer.resource == kPodGroups &&
           consumer.name == *group;
  });
}

}  // namespace berth::plugins
