// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "berth/api/persistent_volume.h"
#include "berth/api/persistent_volume_claim.h"

// Bodies of the patches by which volumes and claims are bound, as JSON merge patches. Each names
// the object's uid and resourceVersion: the API server refuses (409) once it has another version.
//
// Thread safety: any thread.
namespace berth::api {

inline constexpr std::string_view kMergePatchContentType = "application/merge-patch+json";

// PATCH persistentvolumes/<name>: spec.claimRef, and the annotation that the binding is the
// scheduler's where the volume has it.
std::string VolumePatch(const PersistentVolume& volume);

// PATCH .../persistentvolumeclaims/<name>: the annotation that names the selected node.
std::string ClaimPatch(const PersistentVolumeClaim& claim);

}  // namespace berth::api
