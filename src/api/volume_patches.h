// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "berth/api/persistent_volume.h"
#include "berth/api/persistent_volume_claim.h"

// Bodies of the patches by which volumes and claims are bound, as strategic merge patches. Each
// names the object's uid and resourceVersion: the API server refuses (409) once it has another
// version. It lays such a patch over the object's fields without writing them as JSON, so that even
// text that is not UTF-8 stays as it is; after a JSON merge patch it does not, and where a volume's
// source has such text, that patch is refused.
//
// Thread safety: any thread.
namespace berth::api {

// PATCH persistentvolumes/<name>: spec.claimRef, and the annotation that the binding is the
// scheduler's where the volume has it.
std::string VolumePatch(const PersistentVolume& volume);

// PATCH .../persistentvolumeclaims/<name>: the annotation that names the selected node.
std::string ClaimPatch(const PersistentVolumeClaim& claim);

}  // namespace berth::api
