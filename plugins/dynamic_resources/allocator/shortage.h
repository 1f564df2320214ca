// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "plugins/dynamic_resources/allocator/claims_to_allocate.h"
#include "plugins/dynamic_resources/allocator/device_inventory.h"
#include "plugins/dynamic_resources/allocator/expressions.h"
#include "plugins/dynamic_resources/allocator/node_pools.h"

namespace berth::plugins::dra {

// Why the pools of a node have too few devices for a request, in words for people: how many do not
// match which expression, with what that reads of the first of them, have too little capacity, have
// taints, or are in use. "": each by itself there are enough; constraints, counters or other
// requests may still take them.
//
// Evaluates each expression for each device again: for explanations, not for scheduling.
std::string DescribeShortage(const RequestToAllocate& request, const PoolsOfNode& pools,
                             const DeviceInventory& inventory, DeviceExpressions& expressions);

// Why the usable devices of the node cannot meet one of `claims.constraints`: how many of them have
// a value of the attribute, and which values there are. "": they could, as far as this tells.
std::string DescribeConstraint(const ClaimsToAllocate& claims, size_t constraint,
                               const PoolsOfNode& pools, const DeviceInventory& inventory,
                               DeviceExpressions& expressions);

// Whether the request could be given the device, if claims were given no other one.
bool WouldDo(const RequestToAllocate& request, const ViewedDevice& viewed,
             const DeviceInventory& inventory, DeviceExpressions& expressions);

// What the device has of the attribute: "gpu-0 has 1", "gpu-0 has none".
std::string DescribeAttribute(const ViewedDevice& viewed, std::string_view attribute);

// "1 one" or "3 many".
std::string Are(int64_t count, std::string_view one, std::string_view many);

// Whether the request tolerates the taints that keep claims off the device.
bool ToleratesTaints(const RequestToAllocate& request, const api::Device& device);

}  // namespace berth::plugins::dra
