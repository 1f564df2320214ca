// SPDX-License-Identifier: Apache-2.0
#include "plugins/dynamic_resources/node_allocatable.h"

#include <algorithm>
#include <limits>
#include <map>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "berth/resources.h"
#include "plugins/dynamic_resources/device_claims.h"
#include "plugins/dynamic_resources/dynamic_resources.h"

namespace berth::plugins {
namespace {

using api::NodeAllocatableOverheadResources;
using api::NodeAllocatableResourceClaimStatus;
using api::Quantity;

constexpr std::string_view kHugePagesPrefix = "hugepages-";

// Exact to a nanounit, rounded up, and 2^63-1 units at most.
Quantity Times(const Quantity& amount, const Quantity& factor) {
  constexpr Quantity::Nanos kUnit = 1'000'000'000;
  constexpr Quantity::Nanos kMost = Quantity::Nanos{std::numeric_limits<int64_t>::max()} * kUnit;
  const Quantity::Nanos a = amount.nanos();
  const Quantity::Nanos b = factor.nanos();
  if (a <= 0 || b <= 0) return Quantity::FromNanos(0, amount.format());
  // Neither above 10^33: the product of whole units and what is left of them stays in range.
  const Quantity::Nanos whole = a / kUnit;
  const Quantity::Nanos rest = a % kUnit;
  if (whole != 0 && b > kMost / whole) return Quantity::FromNanos(kMost, amount.format());
  const Quantity::Nanos rest_units = b / kUnit * rest;
  const Quantity::Nanos rest_nanos = (b % kUnit * rest + kUnit - 1) / kUnit;
  return Quantity::FromNanos(std::min(kMost, whole * b + rest_units + rest_nanos), amount.format());
}

void AddTo(std::optional<Quantity>& sum, const std::optional<Quantity>& more) {
  if (!more) return;
  if (sum) {
    *sum += *more;
  } else {
    sum = more;
  }
}

std::string InPool(const api::DeviceRequestAllocationResult& result) {
  return "device " + result.device + " not found in pool " + result.pool + " for driver " +
         result.driver;
}

// The sum of the devices of one claim.
class ClaimSum {
 public:
  explicit ClaimSum(const api::ResourceClaim& claim) : claim_(claim) {}

  Result<void> Add(const api::DeviceRequestAllocationResult& result, const api::Device& device) {
    for (const auto& [resource, taken] : device.node_allocatable_resources) {
      if (taken.mapping) {
        if (auto added = AddMapping(resource, *taken.mapping, result); !added) return added;
      }
      if (taken.overhead && (taken.overhead->per_pod || taken.overhead->per_container)) {
        NodeAllocatableOverheadResources& sum = overhead_[resource];
        sum.name = resource;
        AddTo(sum.per_pod, taken.overhead->per_pod);
        AddTo(sum.per_container, taken.overhead->per_container);
      }
    }
    return {};
  }

  bool empty() const { return mapped_.empty() && overhead_.empty(); }

  NodeAllocatableResourceClaimStatus Status() const {
    NodeAllocatableResourceClaimStatus status;
    status.resource_claim_name = claim_.metadata.name;
    for (const auto& [name, amount] : mapped_) status.mapping.push_back({name, amount});
    for (const auto& [name, overhead] : overhead_) status.overhead.push_back(overhead);
    return status;
  }

 private:
  Result<void> AddMapping(const std::string& resource, const api::NodeAllocatableMapping& mapping,
                          const api::DeviceRequestAllocationResult& result) {
    if (mapping.capacity_key && !mapping.capacity_key->empty()) {
      const std::string& key = *mapping.capacity_key;
      if (result.consumed_capacity.empty()) {
        return Fail("claim " + claim_.metadata.namespace_ + "/" + claim_.metadata.name +
                    ", device " + result.device + ": ConsumedCapacity is nil, but Capacity key '" +
                    key + "' is set in NodeAllocatableResources for resource " + resource);
      }
      const Quantity* consumed = api::Find(result.consumed_capacity, key);
      if (consumed == nullptr) return {};
      const Quantity one = Quantity::FromUnits(1);
      mapped_[resource] += Times(*consumed, mapping.capacity_multiplier.value_or(one));
    } else if (mapping.device_multiplier) {
      mapped_[resource] += *mapping.device_multiplier;
    }
    return {};
  }

  const api::ResourceClaim& claim_;
  std::map<std::string, Quantity> mapped_;
  std::map<std::string, NodeAllocatableOverheadResources> overhead_;
};

// A container is there once for each time that it names a claim.
void NameContainers(const api::Pod& pod,
                    std::vector<NodeAllocatableResourceClaimStatus>& statuses) {
  if (statuses.empty()) return;
  absl::flat_hash_map<std::string_view, std::string_view> made;  // by the entry's name
  for (const api::PodResourceClaimStatus& status : pod.status.resource_claim_statuses) {
    if (status.resource_claim_name) made.emplace(status.name, *status.resource_claim_name);
  }
  absl::flat_hash_map<std::string_view, std::vector<NodeAllocatableResourceClaimStatus*>> by_claim;
  for (NodeAllocatableResourceClaimStatus& status : statuses) {
    by_claim[status.resource_claim_name].push_back(&status);
  }
  // By the names that containers use; the first entry of a name counts.
  absl::flat_hash_map<std::string_view, std::vector<NodeAllocatableResourceClaimStatus*>> by_entry;
  for (const api::PodResourceClaim& entry : pod.spec.resource_claims) {
    const auto name = entry.resource_claim_name   ? by_claim.find(*entry.resource_claim_name)
                      : made.contains(entry.name) ? by_claim.find(made.at(entry.name))
                                                  : by_claim.end();
    by_entry.try_emplace(entry.name, name == by_claim.end()
                                         ? std::vector<NodeAllocatableResourceClaimStatus*>{}
                                         : name->second);
  }
  for (const auto* containers : {&pod.spec.init_containers, &pod.spec.containers}) {
    for (const api::Container& container : *containers) {
      for (const api::ContainerResourceClaim& used : container.resources.claims) {
        const auto named = by_entry.find(used.name);
        if (named == by_entry.end()) continue;
        for (NodeAllocatableResourceClaimStatus* status : named->second) {
          status->containers.push_back(container.name);
        }
      }
    }
  }
}

}  // namespace

Result<std::vector<NodeAllocatableResourceClaimStatus>> NodeAllocatableStatuses(
    const api::Pod& pod, std::span<const GivenClaim> claims, const dra::DeviceInventory& inventory,
    const api::Node& node) {
  std::vector<NodeAllocatableResourceClaimStatus> statuses;
  for (const GivenClaim& given : claims) {
    const auto& results = given.allocation->devices.results;
    const auto find = [&](const api::DeviceRequestAllocationResult& result) {
      return inventory.FindDevice(result.driver, result.pool, result.device, &node);
    };
    const bool takes = std::ranges::any_of(results, [&](const auto& result) {
      const api::Device* device = find(result);
      return device != nullptr && !device->node_allocatable_resources.empty();
    });
    if (!takes) continue;
    ClaimSum sum(*given.claim);
    for (const auto& result : results) {
      const api::Device* device = find(result);
      if (device == nullptr) {
        return Fail("claim " + given.claim->metadata.namespace_ + "/" + given.claim->metadata.name +
                    ", device " + result.device + ", driver " + result.driver + ": " +
                    InPool(result));
      }
      if (auto added = sum.Add(result, *device); !added) return Fail(added.error());
    }
    if (!sum.empty()) statuses.push_back(sum.Status());
  }
  NameContainers(pod, statuses);
  std::ranges::sort(statuses, {}, &NodeAllocatableResourceClaimStatus::resource_claim_name);
  return statuses;
}

bool IsMappedToNode(const api::AllocationResult& allocation,
                    const dra::DeviceInventory& inventory) {
  return std::ranges::any_of(allocation.devices.results, [&](const auto& result) {
    const api::Device* device =
        inventory.FindDevice(result.driver, result.pool, result.device, nullptr);
    return device != nullptr &&
           std::ranges::any_of(device->node_allocatable_resources,
                               [](const auto& taken) { return taken.second.mapping.has_value(); });
  });
}

NodeShortage FindShortage(const api::ResourceList& demand, const NodeView& node) {
  NodeShortage shortage;
  const auto check = [&](std::string_view name, int64_t wanted, int64_t has, int64_t taken) {
    if (wanted <= has - taken) return;
    shortage.reasons.push_back("Insufficient " + std::string(name));
    shortage.never = shortage.never || wanted > has;
  };
  const auto check_basic = [&](std::string_view name, ResourceId id) {
    const Quantity* amount = api::Find(demand, name);
    if (amount == nullptr) return;
    const int64_t wanted = id == kCpu ? amount->MilliValue() : amount->Value();
    if (wanted > 0) check(name, wanted, node.allocatable(id), node.requested(id));
  };
  check_basic("cpu", kCpu);
  check_basic("memory", kMemory);
  check_basic("ephemeral-storage", kEphemeralStorage);
  for (const auto& [name, amount] : demand) {
    if (!name.starts_with(kHugePagesPrefix)) continue;
    const Quantity* has = api::Find(node.node().status.allocatable, name);
    int64_t taken = 0;
    node.ForEachPod([&](const PodInfo& pod) {
      for (const auto& [id, used] : pod.placed.scalars) {
        if (node.snapshot().resource_names().Name(id) == name) taken += used;
      }
    });
    check(name, amount.Value(), has == nullptr ? 0 : has->Value(), taken);
  }
  return shortage;
}

bool DynamicResources::CountsOnNodes() const {
  return handle_.features().dra_node_allocatable_resources &&
         devices_->inventory().has_node_allocatable();
}

std::string DynamicResources::WhyNotShared(const PodDevices& devices, const api::Pod& pod,
                                           const api::Node& node) const {
  const GroupReservations groups = handle_.features().dra_workload_resource_claims
                                       ? GroupReservations::kCount
                                       : GroupReservations::kIgnored;
  for (const PodDeviceClaim& used : devices.claims) {
    if (!used.allocated() || !IsReachable(used, node)) continue;
    const api::ResourceClaim& claim = *used.claim;
    // What is pending is so for another pod of the group.
    const bool taken = used.pending != nullptr || (!claim.status.reserved_for.empty() &&
                                                   !IsReservedForPod(pod, claim, groups));
    if (!taken || !IsMappedToNode(*used.allocation(), devices_->inventory())) continue;
    return "node allocatable resource claim " + claim.metadata.name +
           " has a mapped device and cannot be shared across pods";
  }
  return {};
}

Result<std::vector<NodeAllocatableResourceClaimStatus>> DynamicResources::StatusesOn(
    const api::Node& node, const PodDevices& devices, const api::Pod& pod, const NodeClaims* asked,
    std::span<const api::AllocationResult> allocations) const {
  std::vector<GivenClaim> given;
  size_t next = 0;
  for (const PodDeviceClaim& used : devices.claims) {
    if (used.allocated()) {
      given.push_back({used.claim.get(), used.allocation()});
    } else if (asked != nullptr) {
      given.push_back({asked->claims[next].get(), &allocations[next]});
      ++next;
    }
  }
  return NodeAllocatableStatuses(pod, given, devices_->inventory(), node);
}

DynamicResources::NodeVerdict DynamicResources::CheckRoom(PodDevices& devices, const api::Pod& pod,
                                                          const NodeView& node,
                                                          const NodeClaims* asked,
                                                          const dra::NodeAllocation& found) const {
  std::vector<api::AllocationResult> allocations;
  if (asked != nullptr) {
    // Ids of shares do not count here, and later decisions must not change by them.
    Random random(0);
    auto made = dra::MakeAllocationResults(*asked->prepared, node.node(), found,
                                           devices_->features(), random);
    if (!made) return {Code::kError, made.error().message};
    allocations = *std::move(made);
  }
  auto statuses = StatusesOn(node.node(), devices, pod, asked, allocations);
  if (!statuses) return {Code::kError, statuses.error().message};
  if (statuses->empty()) return {};
  if (!devices.footprint || devices.footprint->statuses != *statuses) {
    api::Pod counted = pod;
    counted.status.node_allocatable_resource_claim_statuses = *statuses;
    const bool pod_level = handle_.features().pod_level_resources;
    devices.footprint = {
        .statuses = *std::move(statuses),
        .demand = PodRequests(counted,
                              {.use_status = true, .claim_status = true, .pod_level = pod_level}),
        .uncovered = pod_level ? PodLevelShortage(counted) : ""};
  }
  const PodDevices::Footprint& footprint = *devices.footprint;
  if (!footprint.uncovered.empty()) {
    return {Code::kUnschedulableAndUnresolvable, footprint.uncovered};
  }
  const NodeShortage shortage = FindShortage(footprint.demand, node);
  if (shortage.reasons.empty()) return {};
  return {.code = shortage.never ? Code::kUnschedulableAndUnresolvable : Code::kUnschedulable,
          .reason = shortage.reasons.front(),
          .further = {shortage.reasons.begin() + 1, shortage.reasons.end()}};
}

}  // namespace berth::plugins
