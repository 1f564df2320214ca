// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "berth/api/boxed.h"
#include "berth/api/meta.h"
#include "berth/api/pod.h"
#include "berth/api/quantity.h"

// What devices there are, and what is wrong with them: resource.k8s.io/v1.
namespace berth::api {

// Values of DeviceTaint::effect; others are none.
inline constexpr std::string_view kDeviceTaintNoSchedule = "NoSchedule";
inline constexpr std::string_view kDeviceTaintNoExecute = "NoExecute";

// One member is set.
struct DeviceAttribute {
  std::optional<int64_t> int_;
  std::optional<bool> bool_;
  std::optional<std::string> string;
  std::optional<std::string> version;
  std::vector<int64_t> ints;
  std::vector<bool> bools;
  std::vector<std::string> strings;
  std::vector<std::string> versions;

  friend bool operator==(const DeviceAttribute&, const DeviceAttribute&) = default;
};

struct CapacityRequestPolicyRange {
  std::optional<Quantity> min;
  std::optional<Quantity> max;
  std::optional<Quantity> step;

  friend bool operator==(const CapacityRequestPolicyRange&,
                         const CapacityRequestPolicyRange&) = default;
};

struct CapacityRequestPolicy {
  std::optional<Quantity> default_;
  std::vector<Quantity> valid_values;
  std::optional<CapacityRequestPolicyRange> valid_range;

  friend bool operator==(const CapacityRequestPolicy&, const CapacityRequestPolicy&) = default;
};

struct DeviceCapacity {
  Quantity value;
  Boxed<CapacityRequestPolicy> request_policy;

  friend bool operator==(const DeviceCapacity&, const DeviceCapacity&) = default;
};

struct Counter {
  Quantity value;

  friend bool operator==(const Counter&, const Counter&) = default;
};

// Sorted by name, names unique.
using Counters = std::vector<std::pair<std::string, Counter>>;

struct CounterSet {
  std::string name;
  Counters counters;

  friend bool operator==(const CounterSet&, const CounterSet&) = default;
};

struct DeviceCounterConsumption {
  std::string counter_set;
  Counters counters;
  std::vector<std::string> compatibility_groups;

  friend bool operator==(const DeviceCounterConsumption&,
                         const DeviceCounterConsumption&) = default;
};

struct DeviceTaint {
  std::string key;
  std::string value;
  // NoSchedule, NoExecute, None.
  std::string effect;
  std::optional<Time> time_added;

  friend bool operator==(const DeviceTaint&, const DeviceTaint&) = default;
};

struct NodeAllocatableMapping {
  std::optional<std::string> capacity_key;
  std::optional<Quantity> capacity_multiplier;
  std::optional<Quantity> device_multiplier;

  friend bool operator==(const NodeAllocatableMapping&, const NodeAllocatableMapping&) = default;
};

struct NodeAllocatableOverhead {
  std::optional<Quantity> per_pod;
  std::optional<Quantity> per_container;

  friend bool operator==(const NodeAllocatableOverhead&, const NodeAllocatableOverhead&) = default;
};

// How a device counts against what its node has.
struct NodeAllocatableResource {
  std::optional<NodeAllocatableMapping> mapping;
  std::optional<NodeAllocatableOverhead> overhead;

  friend bool operator==(const NodeAllocatableResource&, const NodeAllocatableResource&) = default;
};

// Maps are sorted by key, keys unique.
struct Device {
  std::string name;
  std::vector<std::pair<std::string, DeviceAttribute>> attributes;
  std::vector<std::pair<std::string, DeviceCapacity>> capacity;
  std::vector<DeviceCounterConsumption> consumes_counters;
  // Where per_device_node_selection is set in the slice: one of these.
  std::optional<std::string> node_name;
  Boxed<NodeSelector> node_selector;
  std::optional<bool> all_nodes;
  std::vector<DeviceTaint> taints;
  std::optional<bool> binds_to_node;
  std::vector<std::string> binding_conditions;
  std::vector<std::string> binding_failure_conditions;
  std::optional<bool> allow_multiple_allocations;
  std::vector<std::pair<std::string, NodeAllocatableResource>> node_allocatable_resources;

  friend bool operator==(const Device&, const Device&) = default;
};

struct ResourcePool {
  std::string name;
  int64_t generation = 0;
  int64_t resource_slice_count = 0;

  friend bool operator==(const ResourcePool&, const ResourcePool&) = default;
};

struct ResourceSliceSpec {
  std::string driver;
  ResourcePool pool;
  // Which nodes reach the devices: one of these, or per_device_node_selection.
  std::optional<std::string> node_name;
  Boxed<NodeSelector> node_selector;
  std::optional<bool> all_nodes;
  std::vector<Device> devices;
  std::optional<bool> per_device_node_selection;
  std::vector<CounterSet> shared_counters;
  std::optional<std::string> partition_type_attribute;
  std::vector<std::string> skip_node_operations;

  friend bool operator==(const ResourceSliceSpec&, const ResourceSliceSpec&) = default;
};

struct ResourceSlice {
  ObjectMeta metadata;
  ResourceSliceSpec spec;

  friend bool operator==(const ResourceSlice&, const ResourceSlice&) = default;
};

// Members that are set must match.
struct DeviceTaintSelector {
  std::optional<std::string> driver;
  std::optional<std::string> pool;
  std::optional<std::string> device;

  friend bool operator==(const DeviceTaintSelector&, const DeviceTaintSelector&) = default;
};

struct DeviceTaintRuleSpec {
  // nullopt: no device.
  std::optional<DeviceTaintSelector> device_selector;
  DeviceTaint taint;

  friend bool operator==(const DeviceTaintRuleSpec&, const DeviceTaintRuleSpec&) = default;
};

// Taints devices as if their slice did.
struct DeviceTaintRule {
  ObjectMeta metadata;
  DeviceTaintRuleSpec spec;

  friend bool operator==(const DeviceTaintRule&, const DeviceTaintRule&) = default;
};

}  // namespace berth::api
