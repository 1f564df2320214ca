// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "berth/api/pod.h"
#include "berth/api/resource_claim.h"

// Bodies of the writes of ResourceClaims. Those that name a resourceVersion are refused by the API
// server (409) unless the claim is still of that version.
//
// Thread safety: any thread.
namespace berth::api {

inline constexpr std::string_view kJsonPatchContentType = "application/json-patch+json";

// Strategic merge patches of the claim: kClaimFinalizer added, or taken away.
std::string AddFinalizerPatch(const ResourceClaim& claim);
std::string RemoveFinalizerPatch(const ResourceClaim& claim);
// JSON patch of the claim's status: all of it is replaced. A merge patch would lose what a driver's
// parameters say by null.
std::string ClaimStatusPatch(const ResourceClaim& claim);
// Strategic merge patch of the status of any version of the claim.
std::string RemoveReservationPatch(const ResourceClaim& claim, std::string_view consumer_uid);
// POST .../resourceclaims: namespace, labels, annotations, owners and spec of `claim`.
std::string NewClaimBody(const ResourceClaim& claim, std::string_view generate_name);
// Strategic merge patch of the pod's status.
std::string ExtendedResourceClaimStatusPatch(const Pod& pod,
                                             const PodExtendedResourceClaimStatus& status);
// Merge patch of the pod's status: the list takes the place of what is there; none of it remains
// where it is empty.
std::string NodeAllocatableClaimStatusesPatch(
    const Pod& pod, const std::vector<NodeAllocatableResourceClaimStatus>& statuses);

}  // namespace berth::api
