// SPDX-License-Identifier: Apache-2.0
#include "berth/volumes.h"

#include <algorithm>

namespace berth {

std::string_view StorageClassOf(const api::PersistentVolume& volume) {
  const std::string* old = api::Find(volume.metadata.annotations, kStorageClassAnnotation);
  return old != nullptr ? *old : volume.spec.storage_class_name;
}

std::string_view StorageClassOf(const api::PersistentVolumeClaim& claim) {
  const std::string* old = api::Find(claim.metadata.annotations, kStorageClassAnnotation);
  if (old != nullptr) return *old;
  return claim.spec.storage_class_name ? *claim.spec.storage_class_name : std::string_view();
}

std::optional<std::string> ClaimNameOf(const api::Pod& pod, const api::Volume& volume) {
  if (volume.persistent_volume_claim) return volume.persistent_volume_claim->claim_name;
  if (volume.ephemeral) return pod.metadata.name + "-" + volume.name;
  return std::nullopt;
}

bool IsMadeFor(const api::PersistentVolumeClaim& claim, const api::Pod& pod) {
  return claim.metadata.namespace_ == pod.metadata.namespace_ &&
         std::ranges::any_of(claim.metadata.owner_references, [&](const auto& owner) {
           return owner.controller && owner.uid == pod.metadata.uid;
         });
}

bool IsFullyBound(const api::PersistentVolumeClaim& claim) {
  return !claim.spec.volume_name.empty() &&
         api::Find(claim.metadata.annotations, kBindCompletedAnnotation) != nullptr;
}

bool IsPromisedTo(const api::PersistentVolume& volume, const api::PersistentVolumeClaim& claim) {
  const auto& reference = volume.spec.claim_ref;
  return reference && reference->name == claim.metadata.name &&
         reference->namespace_ == claim.metadata.namespace_ &&
         (reference->uid.empty() || reference->uid == claim.metadata.uid);
}

}  // namespace berth
