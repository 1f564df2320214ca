// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "berth/api/persistent_volume.h"
#include "berth/api/persistent_volume_claim.h"

// What the annotations and fields of volumes and claims mean to all who read them.
//
// Thread safety: any thread.
namespace berth {

// The class of a volume or a claim before there was a field for it; it still goes first.
inline constexpr std::string_view kStorageClassAnnotation =
    "volume.beta.kubernetes.io/storage-class";

// The name of the class, "" where there is none. Views point into the object.
std::string_view StorageClassOf(const api::PersistentVolume& volume);
std::string_view StorageClassOf(const api::PersistentVolumeClaim& claim);

}  // namespace berth
