// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "berth/api/persistent_volume.h"
#include "berth/api/persistent_volume_claim.h"
#include "berth/api/pod.h"
#include "berth/api/resource_claim.h"
#include "berth/result.h"

// What is sent when ResourceClaims are written. Claims that exist are written whole, from the bytes
// that they were read from: the API server takes what it patches apart and puts it together in its
// own way, drivers' parameters too, and then refuses the patch, since they must not change.
//
// Thread safety: any thread.

namespace berth::api {

// Bodies of the patches by which volumes and claims are bound, as strategic merge patches. Each
// names the object's uid and resourceVersion: the API server refuses (409) once it has another
// version. It lays such a patch over the object's fields without writing them as JSON, so that even
// text that is not UTF-8 stays as it is; after a JSON merge patch it does not, and where a volume's
// source has such text, that patch is refused.
//
// Thread safety: any thread.

// PATCH persistentvolumes/<name>: spec.claimRef, and the annotation that the binding is the
// scheduler's where the volume has it.
std::string VolumePatch(const PersistentVolume& volume);

// PATCH .../persistentvolumeclaims/<name>: the annotation that names the selected node.
std::string ClaimPatch(const PersistentVolumeClaim& claim);

// The claim with kClaimFinalizer, or without; nullopt: it is so already.
std::optional<StoredForm> WithFinalizer(const StoredForm& claim);
std::optional<StoredForm> WithoutFinalizer(const StoredForm& claim);
// The claim with this allocation and these consumers in its status. Consumers that it has already
// keep their bytes. So does an allocation that is there, since it cannot become another one; a
// timestamp is added to it where it has none. What drivers say of devices is theirs, and stays.
// Allocation and devices go where `status` has none. Errors: the claim cannot be read.
Result<StoredForm> WithStatus(const StoredForm& claim, const ResourceClaimStatus& status);

// POST .../resourceclaims: namespace, labels, annotations, owners and spec of `claim`.
std::string NewClaimBody(const ResourceClaim& claim, std::string_view generate_name);

// Strategic merge patch of the pod's status.
std::string ExtendedResourceClaimStatusPatch(const Pod& pod,
                                             const PodExtendedResourceClaimStatus& status);
inline constexpr std::string_view kMergePatchContentType = "application/merge-patch+json";
// Merge patch of the pod's status, as kube-scheduler writes it: the list takes the place of what is
// there; none of it remains where it is empty.
std::string NodeAllocatableClaimStatusesPatch(
    const Pod& pod, const std::vector<NodeAllocatableResourceClaimStatus>& statuses);

}  // namespace berth::api
