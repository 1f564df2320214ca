// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "berth/api/node.h"
#include "berth/api/resource_claim.h"
#include "berth/random.h"
#include "berth/result.h"
#include "berth/snapshot.h"
#include "plugins/dynamic_resources/allocator/claims_to_allocate.h"
#include "plugins/dynamic_resources/allocator/device_inventory.h"
#include "plugins/dynamic_resources/allocator/expressions.h"
#include "plugins/dynamic_resources/allocator/node_pools.h"
#include "plugins/dynamic_resources/allocator/search.h"

namespace berth::plugins::dra {

struct AllocatorLimits {
  // About a step for each microsecond that upstream's allocator takes: its filterTimeout of 10 s.
  static constexpr uint64_t kStepsPerSecond = 1'000'000;

  // How many bytes of expressions' answers are kept; the expressions used longest ago go first.
  size_t answer_bytes = size_t{64} << 20;
};

// Chooses devices for a pod's claims on one node: the same that kube-scheduler's structured
// allocator chooses ("incubating", and "experimental" where a gate asks for it).
//
// Thread safety: the scheduling thread only.
class Allocator {
 public:
  // Both must outlive the allocator.
  Allocator(DeviceInventory& inventory, DeviceExpressions& expressions,
            const AllocatorLimits& limits = {});

  // Claims without an allocation, read once for all nodes. Claims and classes must outlive what is
  // returned. Errors are kept there: Allocate reports them about each node.
  ClaimsToAllocate Prepare(std::span<const api::ResourceClaim* const> claims,
                           const FindDeviceClass& find_class);

  // The devices that the node, which stands on `row`, would give the claims. `max_steps` limits the
  // work: AllocationOutcome::kOutOfSteps.
  void Allocate(const ClaimsToAllocate& claims, NodeRow row, const api::Node& node,
                uint64_t max_steps, NodeAllocation& found);

  // Why the node has not enough for one of the claims, in words for people; after Allocate() on the
  // node. Where it has enough for each by itself, what those before leave of it for the first claim
  // that has too few then. "": not for want of this claim's devices, or this does not tell.
  std::string DescribeShortage(const ClaimsToAllocate& claims, size_t claim, NodeRow row,
                               const api::Node& node);

  // Which pools that the node reaches cannot be read, and why: "driver/pool: ..."; "": none.
  std::string DescribeInvalidPools(NodeRow row, const api::Node& node);

  size_t kept_answer_bytes() const { return expression_table_.kept_bytes(); }

 private:
  DeviceInventory& inventory_;
  DeviceExpressions& expressions_;
  ExpressionTable expression_table_;
  NodePools node_pools_;
  Search search_;
};

// What is written into each claim's status.allocation, in the order of the claims, for what
// Allocate found on the node: outcome kAllocated, and the slices have not changed since. `random`
// makes the ids of shares. Errors: in upstream's words; the cycle ends with them.
Result<std::vector<api::AllocationResult>> MakeAllocationResults(const ClaimsToAllocate& claims,
                                                                 const api::Node& node,
                                                                 const NodeAllocation& found,
                                                                 const AllocatorFeatures& features,
                                                                 Random& random);

}  // namespace berth::plugins::dra
