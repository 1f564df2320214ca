// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "berth/api/pod.h"
#include "berth/api/resource_claim.h"
#include "berth/in_tree/claim_tracker.h"

namespace berth::plugins {

// Follows which claims hold devices, for one that counts them.
//
// Thread safety: the scheduling thread.
class ClaimHolders {
 public:
  // Called for an allocated claim once when it begins to hold its devices, and once, in the same
  // version, when it holds them no more.
  using Change = std::function<void(const api::ResourceClaim& claim, bool holds)>;
  explicit ClaimHolders(Change change) : change_(std::move(change)) {}
  ClaimHolders(const ClaimHolders&) = delete;
  ClaimHolders& operator=(const ClaimHolders&) = delete;

  // Tells of all that has changed since the last call.
  void Update(const ClaimTracker& claims);

 private:
  void Hold(const ClaimPtr& claim);
  void Release(const ClaimPtr& claim);

  const Change change_;
  std::optional<uint64_t> generation_;
  absl::flat_hash_map<std::string, ClaimPtr> holders_;  // by uid
};

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
    // The consumer's reservation of an earlier attempt may still be being taken out of the claim.
    bool is_being_removed = false;
  };

  std::vector<Claim> claims;
  std::vector<api::ContainerExtendedResourceRequest> mappings;
};

}  // namespace berth::plugins
