// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "berth/api/pod.h"
#include "berth/api/resource_claim.h"
#include "berth/in_tree/claim_tracker.h"
#include "berth/matching.h"
#include "berth/resources.h"
#include "plugins/dynamic_resources/allocator/allocator.h"

namespace berth::plugins {

// The name of a claim for extended resources that is not made yet; no claim can be named so.
inline constexpr std::string_view kMadeUpName = "<extended-resources>";

// A claim that the pod uses.
struct PodDeviceClaim {
  ClaimPtr claim;
  // Where its allocation can be used; nullopt: it has none, or everywhere.
  std::optional<NodeSelectorMatcher> nodes;
  // Its reservation, once the pod has it.
  api::ResourceClaimConsumerReference consumer;
  // What another pod of the pod's group is about to have written; nullptr: nothing that this pod
  // may share.
  std::shared_ptr<const api::AllocationResult> pending;

  // nullptr: it is to be allocated.
  const api::AllocationResult* allocation() const {
    return claim->status.allocation ? &*claim->status.allocation : pending.get();
  }
  bool allocated() const { return allocation() != nullptr; }
};

// The claims that are to be allocated where the node's extended resources come from the same
// devices: what Filter asks the allocator about such nodes.
struct NodeClaims {
  // The claim that stands for the extended resources, with their requests; nullptr: the node has
  // none that come from devices.
  ClaimPtr extended;
  std::vector<api::ContainerExtendedResourceRequest> mappings;
  // In the order of the pod's claims. Keeps what `prepared` points to.
  std::vector<ClaimPtr> claims;
  std::optional<dra::ClaimsToAllocate> prepared;
};

// What PreFilter found out about the pod; good for the running cycle.
struct PodDevices {
  // In the order of spec.resourceClaims; last the claim of extended resources, where there is one.
  std::vector<PodDeviceClaim> claims;
  bool has_extended = false;
  // Some claim has no allocation.
  bool must_allocate = false;
  // The scalar resources that the pod requests, but 0, that could be extended ones, by name.
  std::vector<std::pair<std::string, ResourceId>> extended_resources;
  // By which of them a node gets from devices, as bits. Filled as nodes are looked at.
  std::map<uint64_t, NodeClaims> by_resources;

  // What the pod asks of a node for itself and by its claims' devices, where these take of the
  // node; of the last node that was looked at: most of them give the same.
  struct Footprint {
    std::vector<api::NodeAllocatableResourceClaimStatus> statuses;
    api::ResourceList demand;
    // What its pod-level resources do not cover; "": nothing.
    std::string uncovered;
  };
  std::optional<Footprint> footprint;

  // Which of the claims Filter has found on some node that they cannot be used there, while all
  // others could be had.
  std::vector<bool> unavailable;

  const PodDeviceClaim* extended() const { return has_extended ? &claims.back() : nullptr; }
  size_t num_user_claims() const { return claims.size() - (has_extended ? 1 : 0); }
};

// What PreFilter leaves in the pod's cycle.
struct PodDevicesState {
  // Filter looks nodes up in it, and fills what depends on their extended resources. nullptr: the
  // pod needs no devices, or cannot have them.
  std::shared_ptr<PodDevices> devices;
};

}  // namespace berth::plugins
