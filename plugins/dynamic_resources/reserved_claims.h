// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "berth/api/pod.h"
#include "berth/api/resource_claim.h"
#include "berth/in_tree/claim_tracker.h"

namespace berth::plugins {

// The name of a claim for extended resources that is not made yet; no claim can be named so.
inline constexpr std::string_view kMadeUpName = "<extended-resources>";

// What a pod is given between Reserve and the end of its binding cycle. Made by Reserve, changed by
// PreBind, read by Unreserve: one at a time.
struct ReservedClaims {
  struct Claim {
    // The newest version that is known.
    ClaimPtr claim;
    api::ResourceClaimConsumerReference consumer;
    // What is to be written; nullptr: the claim was allocated before.
    std::shared_ptr<const api::AllocationResult> allocation;
    // Under which uid the allocation is pending; "": it is not.
    std::string pending_uid;
    // It stands for the pod's extended resources; it is made in PreBind.
    bool extended = false;
    bool to_be_made = false;
    // Other pods of the pod's group may write the same allocation.
    bool of_group = false;
  };

  std::vector<Claim> claims;
  std::vector<api::ContainerExtendedResourceRequest> mappings;
};

}  // namespace berth::plugins
