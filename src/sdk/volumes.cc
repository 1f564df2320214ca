// SPDX-License-Identifier: Apache-2.0
#include "berth/volumes.h"

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

}  // namespace berth
