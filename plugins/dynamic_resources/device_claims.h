// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <vector>

#include "berth/api/pod.h"
#include "berth/api/resource_claim.h"
#include "berth/api/scheduling.h"
#include "berth/in_tree/claim_tracker.h"
#include "berth/in_tree/features.h"
#include "berth/result.h"

// Which ResourceClaims a pod uses, and whom they are reserved for.
//
// Thread safety: as the claims' owner says.
namespace berth::plugins {

// The latest versions of the claims of spec.resourceClaims, in that order; an entry that turned out
// to need no claim is left out. Errors, in kube-scheduler's words: a claim is not made yet, is not
// there, is going, or was made for another pod.
Result<std::vector<ClaimPtr>> FindDeviceClaims(const api::Pod& pod, const ClaimTracker& claims,
                                               const Features& features);

// False: FindDeviceClaims cannot find the claim for the pod.
bool MayNameClaim(const api::Pod& pod, const api::ObjectMeta& claim);

// Whom each of the pod's claims is to be reserved for, one for each entry of spec.resourceClaims:
// the pod, or its group where that has the same entry. `group` may be nullptr. Errors: a group or
// an entry that cannot be.
Result<std::vector<api::ResourceClaimConsumerReference>> FindConsumers(const api::Pod& pod,
                                                                       const api::PodGroup* group);
api::ResourceClaimConsumerReference ConsumerOf(const api::Pod& pod);

// Calls `visit` with the latest versions of the claims of the group's spec.resourceClaims, in that
// order, without those that need none or were made for another group, until it returns false.
// Errors, in kube-scheduler's words, at such an entry: as above.
Result<void> VisitGroupClaims(const api::PodGroup& group, const ClaimTracker& claims,
                              const std::function<bool(const ClaimPtr&)>& visit);

enum class GroupReservations : uint8_t { kIgnored, kCount };
bool IsReservedForPod(const api::Pod& pod, const api::ResourceClaim& claim,
                      GroupReservations groups);

}  // namespace berth::plugins
