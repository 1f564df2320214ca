// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "berth/api/resource_claim.h"
#include "berth/result.h"
#include "berth/time.h"

// What devices demand before a pod that has them may be bound: conditions that their driver sets.
//
// Thread safety: any thread.
namespace berth::plugins {

bool HasBindingConditions(const api::AllocationResult& allocation);

// What the error of IsReadyForBinding begins with.
inline constexpr std::string_view kBindingFailed = "device binding failed";

// Whether the claim is allocated and all conditions of its devices hold. Error: one that says that
// binding has failed holds.
Result<bool> IsReadyForBinding(const api::ResourceClaim& claim);
// Whether the claim's conditions have had `timeout` since it was allocated.
bool IsBindingTimedOut(const api::ResourceClaim& claim, Duration timeout, Time now);

}  // namespace berth::plugins
