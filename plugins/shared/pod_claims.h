// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

#include "berth/api/persistent_volume_claim.h"
#include "berth/api/pod.h"
#include "berth/volumes.h"
#include "plugins/shared/hint_objects.h"

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

// Of the addition or a change of a claim: whether a volume of the pod stands for the claim.
inline Result<QueueingHint> AfterClaim(const api::Pod& pod, const api::ObjectPtr& old_object,
                                       const api::ObjectPtr& new_object) {
  const auto change = AsUpdate<api::PersistentVolumeClaim>(old_object, new_object);
  if (!change) return Fail(change.error());
  const api::ObjectMeta& claim = change->new_object->metadata;
  if (claim.namespace_ != pod.metadata.namespace_) return QueueingHint::kQueueSkip;
  return QueueIf(std::ranges::any_of(pod.spec.volumes, [&](const api::Volume& volume) {
    return ClaimNameOf(pod, volume) == claim.name;
  }));
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
