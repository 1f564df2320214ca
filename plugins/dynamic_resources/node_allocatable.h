// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <vector>

#include "berth/api/node.h"
#include "berth/api/pod.h"
#include "berth/api/resource_claim.h"
#include "berth/result.h"
#include "berth/snapshot.h"
#include "plugins/dynamic_resources/allocator/device_inventory.h"

// Devices that stand for a part of what their node has of cpu, memory, ephemeral storage or huge
// pages, or that cost some of it beside themselves: Device::node_allocatable_resources, behind the
// gate DRANodeAllocatableResources. Source of the rules: kube-scheduler's
// nodeallocatabledynamicresources.go.
namespace berth::plugins {

// A claim of the pod with what it has or would be given.
struct GivenClaim {
  const api::ResourceClaim* claim = nullptr;
  const api::AllocationResult* allocation = nullptr;
};

// What the claims take of the node, one entry for each claim that takes something, by name. A claim
// without such a device on this node is left out. Errors, in kube-scheduler's words: another device
// of a claim that has one is not known on the node, or an allocation does not say how much of the
// device it consumes.
Result<std::vector<api::NodeAllocatableResourceClaimStatus>> NodeAllocatableStatuses(
    const api::Pod& pod, std::span<const GivenClaim> claims, const dra::DeviceInventory& inventory,
    const api::Node& node);

// Whether a device of the allocation stands for a part of its node: then only one pod may use it.
bool IsMappedToNode(const api::AllocationResult& allocation, const dra::DeviceInventory& inventory);

// Why a pod that asks for so much does not fit on the node, in kube-scheduler's words and order;
// empty: it does. `never`: not even on the empty node.
struct NodeShortage {
  std::vector<std::string> reasons;
  bool never = false;
};
NodeShortage FindShortage(const api::ResourceList& demand, const NodeView& node);

}  // namespace berth::plugins
