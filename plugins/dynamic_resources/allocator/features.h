// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace berth::plugins::dra {

// What the allocator looks at: one flag for each feature gate that concerns it.
struct AllocatorFeatures {
  bool admin_access = false;          // DRAAdminAccess
  bool compatibility_groups = false;  // DRADeviceCompatibilityGroups
  bool consumable_capacity = false;   // DRAConsumableCapacity
  bool derived_attributes = false;    // DRADerivedAttributes
  // DRADeviceBindingConditions and DRAResourceClaimDeviceStatus together.
  bool device_binding_and_status = false;
  bool device_taints = false;              // DRADeviceTaints
  bool fractional_capacity_range = false;  // DRAFractionalCapacityRange
  bool list_type_attributes = false;       // DRAListTypeAttributes
  bool optional_node_operations = false;   // DRAOptionalNodeOperations
  bool partitionable_devices = false;      // DRAPartitionableDevices
  bool prioritized_list = false;           // DRAPrioritizedList

  // Whether upstream chooses its "experimental" allocator: what others refuse or leave out, it
  // does.
  bool UsesExperimental() const {
    return compatibility_groups || derived_attributes || list_type_attributes ||
           optional_node_operations;
  }

  // Whether upstream chooses its "stable" allocator, which does not know what came with shares: a
  // request's capacity is passed over, distinctAttribute is an error, selectors see no
  // allowMultipleAllocations, and bindsToNode is passed over.
  bool UsesStable() const {
    return !UsesExperimental() && !consumable_capacity && !device_binding_and_status &&
           !fractional_capacity_range;
  }

  friend bool operator==(const AllocatorFeatures&, const AllocatorFeatures&) = default;
};

}  // namespace berth::plugins::dra
