// SPDX-License-Identifier: Apache-2.0
#include "plugins/dynamic_resources/allocator/allocator.h"

#include <utility>

#include "plugins/dynamic_resources/allocator/shortage.h"
#include "plugins/dynamic_resources/allocator/together.h"

namespace berth::plugins::dra {
namespace {

// What one of the claims lacks by itself; "": nothing.
std::string DescribeClaim(const ClaimsToAllocate& claims, size_t claim, const PoolsOfNode& pools,
                          const DeviceInventory& inventory, DeviceExpressions& expressions) {
  for (const ClaimToAllocate::Request& request : claims.claims[claim].requests) {
    // Of alternatives the last is the one that asks for least.
    const RequestToAllocate& asked = claims.requests[request.first + request.count - 1];
    std::string text = dra::DescribeShortage(asked, pools, inventory, expressions);
    if (!text.empty()) return text;
  }
  for (const ClaimToAllocate::Request& request : claims.claims[claim].requests) {
    for (const auto& constraint : claims.requests[request.first].constraints) {
      std::string text =
          dra::DescribeConstraint(claims, constraint.constraint, pools, inventory, expressions);
      if (!text.empty()) return text;
    }
  }
  return "";
}

}  // namespace

Allocator::Allocator(DeviceInventory& inventory, DeviceExpressions& expressions,
                     const AllocatorLimits& limits)
    : inventory_(inventory),
      expressions_(expressions),
      expression_table_(limits.answer_bytes),
      node_pools_(inventory),
      search_(inventory, expressions) {}

ClaimsToAllocate Allocator::Prepare(std::span<const api::ResourceClaim* const> claims,
                                    const FindDeviceClass& find_class) {
  if (expression_table_.full()) {
    expression_table_.ForgetOldest();
    inventory_.DropForgottenAnswers();
  }
  return ReadClaims(claims, find_class, inventory_.features(), expression_table_);
}

void Allocator::Allocate(const ClaimsToAllocate& claims, NodeRow row, const api::Node& node,
                         uint64_t max_steps, NodeAllocation& found) {
  search_.Run(claims, node, node_pools_.Find(row, node), max_steps, found);
}

std::string Allocator::DescribeShortage(const ClaimsToAllocate& claims, size_t claim, NodeRow row,
                                        const api::Node& node) {
  const PoolsOfNode& pools = node_pools_.Find(row, node);
  for (size_t i = 0; i < claims.claims.size(); ++i) {
    std::string text = DescribeClaim(claims, i, pools, inventory_, expressions_);
    if (text.empty()) continue;
    return i == claim ? text : DescribeClaim(claims, claim, pools, inventory_, expressions_);
  }
  CrowdedRequest crowded = FindCrowdedRequest(claims, node, pools, inventory_, expressions_);
  return crowded.claim == claim ? std::move(crowded.problem) : "";
}

}  // namespace berth::plugins::dra
