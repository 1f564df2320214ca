// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>

#include "berth/api/node.h"
#include "plugins/dynamic_resources/allocator/claims_to_allocate.h"
#include "plugins/dynamic_resources/allocator/device_inventory.h"
#include "plugins/dynamic_resources/allocator/expressions.h"
#include "plugins/dynamic_resources/allocator/node_pools.h"

namespace berth::plugins::dra {

// A request that a node has enough devices for by itself, but not beside those before it.
struct CrowdedRequest {
  size_t claim = 0;
  // Which of the devices that would do are given to which request, which take more of a counter or
  // a capacity than is left, or do not meet a constraint, in words for people. "": this does not
  // tell.
  std::string problem = {};
};

// The first request, in the order of the claims, that cannot be satisfied together with those
// before it on a node where the claims cannot be allocated. What is left is told of one way to
// satisfy those before it, the first that the search finds.
//
// Searches once for each request: for explanations, not for scheduling.
CrowdedRequest FindCrowdedRequest(const ClaimsToAllocate& claims, const api::Node& node,
                                  const PoolsOfNode& pools, const DeviceInventory& inventory,
                                  DeviceExpressions& expressions);

}  // namespace berth::plugins::dra
