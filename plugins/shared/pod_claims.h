// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>

#include "berth/api/persistent_volume_claim.h"
#include "berth/api/pod.h"

// Which claims are a pod's.
namespace berth::plugins {

// Calls visit(name) for each persistentVolumeClaim volume, as often as a claim is named.
template <typename Visit>
void ForEachClaimName(const api::Pod& pod, Visit visit) {
  for (const api::Volume& volume : pod.spec.volumes) {
    if (volume.persistent_volume_claim) visit(volume.persistent_volume_claim->claim_name);
  }
}

// Whether a persistentVolumeClaim volume of the pod names the claim.
inline bool UsesClaim(const api::Pod& pod, std::string_view name) {
  return std::ranges::any_of(pod.spec.volumes, [&](const api::Volume& volume) {
    return volume.persistent_volume_claim && volume.persistent_volume_claim->claim_name == name;
  });
}

// The same for a claim of any namespace.
inline bool IsClaimOf(const api::Pod& pod, const api::PersistentVolumeClaim& claim) {
  return claim.metadata.namespace_ == pod.metadata.namespace_ &&
         UsesClaim(pod, claim.metadata.name);
}

// The name of the claim that is made for an ephemeral volume of the pod.
inline std::string EphemeralClaimName(const api::Pod& pod, const api::Volume& volume) {
  return pod.metadata.name + "-" + volume.name;
}

// The claim that the volume stands for; nullopt: none.
inline std::optional<std::string> ClaimNameOf(const api::Pod& pod, const api::Volume& volume) {
  if (volume.persistent_volume_claim) return volume.persistent_volume_claim->claim_name;
  if (volume.ephemeral) return EphemeralClaimName(pod, volume);
  return std::nullopt;
}

// Whether the claim was made for the pod, not for one that had its name before, or by hand.
inline bool IsOwnedBy(const api::PersistentVolumeClaim& claim, const api::Pod& pod) {
  const auto& owners = claim.metadata.owner_references;
  const auto owner = std::ranges::find_if(owners, [](const auto& o) { return o.controller; });
  return owner != owners.end() && owner->uid == pod.metadata.uid &&
         claim.metadata.namespace_ == pod.metadata.namespace_;
}

// Texts of kube-scheduler.
inline std::string ClaimNotFound(std::string_view name) {
  return "persistentvolumeclaim \"" + std::string(name) + "\" not found";
}
inline std::string ClaimNotOwned(const api::PersistentVolumeClaim& claim, const api::Pod& pod) {
  return "PVC " + claim.metadata.Key() + " was not created for pod " + pod.metadata.Key() +
         " (pod is not owner)";
}

}  // namespace berth::plugins
