// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "berth/api/resource_slice.h"
#include "src/api/field_table.h"
#include "src/api/tables_meta.h"
#include "src/api/tables_pod.h"

// Field tables of ResourceSlice and DeviceTaintRule. Numbers are those of generated.proto in
// k8s.io/api/resource/v1.
namespace berth::api {

template <>
inline constexpr auto kFieldsOf<DeviceAttribute> = Table(
    Field<2, &DeviceAttribute::int_>("int"), Field<3, &DeviceAttribute::bool_>("bool"),
    Field<4, &DeviceAttribute::string>("string"), Field<5, &DeviceAttribute::version>("version"),
    Field<6, &DeviceAttribute::ints>("ints"), Field<7, &DeviceAttribute::bools>("bools"),
    Field<8, &DeviceAttribute::strings>("strings"),
    Field<9, &DeviceAttribute::versions>("versions"));

template <>
inline constexpr auto kFieldsOf<CapacityRequestPolicyRange> =
    Table(Field<1, &CapacityRequestPolicyRange::min>("min"),
          Field<2, &CapacityRequestPolicyRange::max>("max"),
          Field<3, &CapacityRequestPolicyRange::step>("step"));

template <>
inline constexpr auto kFieldsOf<CapacityRequestPolicy> =
    Table(Field<1, &CapacityRequestPolicy::default_>("default"),
          Field<3, &CapacityRequestPolicy::valid_values>("validValues"),
          Field<4, &CapacityRequestPolicy::valid_range>("validRange"));

template <>
inline constexpr auto kFieldsOf<DeviceCapacity> =
    Table(Field<1, &DeviceCapacity::value>("value"),
          Field<2, &DeviceCapacity::request_policy>("requestPolicy"));

template <>
inline constexpr auto kFieldsOf<Counter> = Table(Field<1, &Counter::value>("value"));

template <>
inline constexpr auto kFieldsOf<CounterSet> =
    Table(Field<1, &CounterSet::name>("name"), Field<2, &CounterSet::counters>("counters"));

template <>
inline constexpr auto kFieldsOf<DeviceCounterConsumption> =
    Table(Field<1, &DeviceCounterConsumption::counter_set>("counterSet"),
          Field<2, &DeviceCounterConsumption::counters>("counters"),
          Field<3, &DeviceCounterConsumption::compatibility_groups>("compatibilityGroups"));

template <>
inline constexpr auto kFieldsOf<DeviceTaint> = Table(
    Field<1, &DeviceTaint::key>("key"), Field<2, &DeviceTaint::value>("value"),
    Field<3, &DeviceTaint::effect>("effect"), Field<4, &DeviceTaint::time_added>("timeAdded"));

template <>
inline constexpr auto kFieldsOf<NodeAllocatableMapping> =
    Table(Field<1, &NodeAllocatableMapping::capacity_key>("capacityKey"),
          Field<2, &NodeAllocatableMapping::capacity_multiplier>("capacityMultiplier"),
          Field<3, &NodeAllocatableMapping::device_multiplier>("deviceMultiplier"));

template <>
inline constexpr auto kFieldsOf<NodeAllocatableOverhead> =
    Table(Field<1, &NodeAllocatableOverhead::per_pod>("perPod"),
          Field<2, &NodeAllocatableOverhead::per_container>("perContainer"));

template <>
inline constexpr auto kFieldsOf<NodeAllocatableResource> =
    Table(Field<3, &NodeAllocatableResource::mapping>("mapping"),
          Field<4, &NodeAllocatableResource::overhead>("overhead"));

template <>
inline constexpr auto kFieldsOf<Device> = Table(
    Field<1, &Device::name>("name"), Field<2, &Device::attributes>("attributes"),
    Field<3, &Device::capacity>("capacity"),
    Field<4, &Device::consumes_counters>("consumesCounters"),
    Field<5, &Device::node_name>("nodeName"), Field<6, &Device::node_selector>("nodeSelector"),
    Field<7, &Device::all_nodes>("allNodes"), Field<8, &Device::taints>("taints"),
    Field<9, &Device::binds_to_node>("bindsToNode"),
    Field<10, &Device::binding_conditions>("bindingConditions"),
    Field<11, &Device::binding_failure_conditions>("bindingFailureConditions"),
    Field<12, &Device::allow_multiple_allocations>("allowMultipleAllocations"),
    Field<14, &Device::node_allocatable_resources>("nodeAllocatableResources"));

template <>
inline constexpr auto kFieldsOf<ResourcePool> =
    Table(Field<1, &ResourcePool::name>("name"), Field<2, &ResourcePool::generation>("generation"),
          Field<3, &ResourcePool::resource_slice_count>("resourceSliceCount"));

template <>
inline constexpr auto kFieldsOf<ResourceSliceSpec> = Table(
    Field<1, &ResourceSliceSpec::driver>("driver"), Field<2, &ResourceSliceSpec::pool>("pool"),
    Field<3, &ResourceSliceSpec::node_name>("nodeName"),
    Field<4, &ResourceSliceSpec::node_selector>("nodeSelector"),
    Field<5, &ResourceSliceSpec::all_nodes>("allNodes"),
    Field<6, &ResourceSliceSpec::devices>("devices"),
    Field<7, &ResourceSliceSpec::per_device_node_selection>("perDeviceNodeSelection"),
    Field<8, &ResourceSliceSpec::shared_counters>("sharedCounters"),
    Field<9, &ResourceSliceSpec::partition_type_attribute>("partitionTypeAttribute"),
    Field<10, &ResourceSliceSpec::skip_node_operations>("skipNodeOperations"));

template <>
inline constexpr auto kFieldsOf<ResourceSlice> = ObjectTable<ResourceSlice>();

template <>
inline constexpr auto kFieldsOf<DeviceTaintSelector> = Table(
    Field<2, &DeviceTaintSelector::driver>("driver"), Field<3, &DeviceTaintSelector::pool>("pool"),
    Field<4, &DeviceTaintSelector::device>("device"));

template <>
inline constexpr auto kFieldsOf<DeviceTaintRuleSpec> =
    Table(Field<1, &DeviceTaintRuleSpec::device_selector>("deviceSelector"),
          Field<2, &DeviceTaintRuleSpec::taint>("taint"));

template <>
inline constexpr auto kFieldsOf<DeviceTaintRule> = ObjectTable<DeviceTaintRule>();

}  // namespace berth::api
