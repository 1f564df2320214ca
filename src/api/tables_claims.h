// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "berth/api/resource_claim.h"
#include "src/api/field_table.h"
#include "src/api/tables_meta.h"
#include "src/api/tables_pod.h"

// Field tables of ResourceClaim, ResourceClaimTemplate and DeviceClass. Numbers are those of
// generated.proto in k8s.io/api/resource/v1.
namespace berth::api {

template <>
inline constexpr auto kFieldsOf<CELDeviceSelector> =
    Table(Field<1, &CELDeviceSelector::expression>("expression"));

template <>
inline constexpr auto kFieldsOf<DeviceSelector> = Table(Field<1, &DeviceSelector::cel>("cel"));

template <>
inline constexpr auto kFieldsOf<OpaqueDeviceConfiguration> =
    Table(Field<1, &OpaqueDeviceConfiguration::driver>("driver"),
          Field<2, &OpaqueDeviceConfiguration::parameters>("parameters"));

template <>
inline constexpr auto kFieldsOf<DeviceToleration> = Table(
    Field<1, &DeviceToleration::key>("key"), Field<2, &DeviceToleration::operator_>("operator"),
    Field<3, &DeviceToleration::value>("value"), Field<4, &DeviceToleration::effect>("effect"),
    Field<5, &DeviceToleration::toleration_seconds>("tolerationSeconds"));

template <>
inline constexpr auto kFieldsOf<CapacityRequirements> =
    Table(Field<1, &CapacityRequirements::requests>("requests"));

template <>
inline constexpr auto kFieldsOf<DeviceDerivedAttribute> =
    Table(Field<1, &DeviceDerivedAttribute::name>("name"),
          Field<2, &DeviceDerivedAttribute::expression>("expression"));

template <>
inline constexpr auto kFieldsOf<ExactDeviceRequest> =
    Table(Field<1, &ExactDeviceRequest::device_class_name>("deviceClassName"),
          Field<2, &ExactDeviceRequest::selectors>("selectors"),
          Field<3, &ExactDeviceRequest::allocation_mode>("allocationMode"),
          Field<4, &ExactDeviceRequest::count>("count"),
          Field<5, &ExactDeviceRequest::admin_access>("adminAccess"),
          Field<6, &ExactDeviceRequest::tolerations>("tolerations"),
          Field<7, &ExactDeviceRequest::capacity>("capacity"),
          Field<8, &ExactDeviceRequest::derived_attributes>("derivedAttributes"));

template <>
inline constexpr auto kFieldsOf<DeviceSubRequest> =
    Table(Field<1, &DeviceSubRequest::name>("name"),
          Field<2, &DeviceSubRequest::device_class_name>("deviceClassName"),
          Field<3, &DeviceSubRequest::selectors>("selectors"),
          Field<4, &DeviceSubRequest::allocation_mode>("allocationMode"),
          Field<5, &DeviceSubRequest::count>("count"),
          Field<6, &DeviceSubRequest::tolerations>("tolerations"),
          Field<7, &DeviceSubRequest::capacity>("capacity"),
          Field<8, &DeviceSubRequest::derived_attributes>("derivedAttributes"));

template <>
inline constexpr auto kFieldsOf<DeviceRequest> =
    Table(Field<1, &DeviceRequest::name>("name"), Field<2, &DeviceRequest::exactly>("exactly"),
          Field<3, &DeviceRequest::first_available>("firstAvailable"));

template <>
inline constexpr auto kFieldsOf<DeviceConstraint> =
    Table(Field<1, &DeviceConstraint::requests>("requests"),
          Field<2, &DeviceConstraint::match_attribute>("matchAttribute"),
          Field<3, &DeviceConstraint::distinct_attribute>("distinctAttribute"));

template <>
inline constexpr auto kFieldsOf<DeviceClaimConfiguration> =
    Table(Field<1, &DeviceClaimConfiguration::requests>("requests"),
          Nested<2>(Field<1, &DeviceClaimConfiguration::opaque>("opaque")));

template <>
inline constexpr auto kFieldsOf<DeviceClaim> = Table(
    Field<1, &DeviceClaim::requests>("requests"),
    Field<2, &DeviceClaim::constraints>("constraints"), Field<3, &DeviceClaim::config>("config"));

template <>
inline constexpr auto kFieldsOf<ResourceClaimSpec> =
    Table(Field<1, &ResourceClaimSpec::devices>("devices"));

template <>
inline constexpr auto kFieldsOf<DeviceRequestAllocationResult> =
    Table(Field<1, &DeviceRequestAllocationResult::request>("request"),
          Field<2, &DeviceRequestAllocationResult::driver>("driver"),
          Field<3, &DeviceRequestAllocationResult::pool>("pool"),
          Field<4, &DeviceRequestAllocationResult::device>("device"),
          Field<5, &DeviceRequestAllocationResult::admin_access>("adminAccess"),
          Field<6, &DeviceRequestAllocationResult::tolerations>("tolerations"),
          Field<7, &DeviceRequestAllocationResult::binding_conditions>("bindingConditions"),
          Field<8, &DeviceRequestAllocationResult::binding_failure_conditions>(
              "bindingFailureConditions"),
          Field<9, &DeviceRequestAllocationResult::share_id>("shareID"),
          Field<10, &DeviceRequestAllocationResult::consumed_capacity>("consumedCapacity"),
          Field<11, &DeviceRequestAllocationResult::skip_node_operations>("skipNodeOperations"));

template <>
inline constexpr auto kFieldsOf<DeviceAllocationConfiguration> =
    Table(Field<1, &DeviceAllocationConfiguration::source>("source"),
          Field<2, &DeviceAllocationConfiguration::requests>("requests"),
          Nested<3>(Field<1, &DeviceAllocationConfiguration::opaque>("opaque")));

template <>
inline constexpr auto kFieldsOf<DeviceAllocationResult> =
    Table(Field<1, &DeviceAllocationResult::results>("results"),
          Field<2, &DeviceAllocationResult::config>("config"));

template <>
inline constexpr auto kFieldsOf<AllocationResult> =
    Table(Field<1, &AllocationResult::devices>("devices"),
          Field<3, &AllocationResult::node_selector>("nodeSelector"),
          Field<5, &AllocationResult::allocation_timestamp>("allocationTimestamp"));

template <>
inline constexpr auto kFieldsOf<ResourceClaimConsumerReference> =
    Table(Field<1, &ResourceClaimConsumerReference::api_group>("apiGroup"),
          Field<3, &ResourceClaimConsumerReference::resource>("resource"),
          Field<4, &ResourceClaimConsumerReference::name>("name"),
          Field<5, &ResourceClaimConsumerReference::uid>("uid"));

template <>
inline constexpr auto kFieldsOf<NetworkDeviceData> =
    Table(Field<1, &NetworkDeviceData::interface_name>("interfaceName"),
          Field<2, &NetworkDeviceData::ips>("ips"),
          Field<3, &NetworkDeviceData::hardware_address>("hardwareAddress"));

template <>
inline constexpr auto kFieldsOf<AllocatedDeviceStatus> =
    Table(Field<1, &AllocatedDeviceStatus::driver>("driver"),
          Field<2, &AllocatedDeviceStatus::pool>("pool"),
          Field<3, &AllocatedDeviceStatus::device>("device"),
          Field<4, &AllocatedDeviceStatus::conditions>("conditions"),
          Field<5, &AllocatedDeviceStatus::data>("data"),
          Field<6, &AllocatedDeviceStatus::network_data>("networkData"),
          Field<7, &AllocatedDeviceStatus::share_id>("shareID"));

template <>
inline constexpr auto kFieldsOf<ResourceClaimStatus> =
    Table(Field<1, &ResourceClaimStatus::allocation>("allocation"),
          Field<2, &ResourceClaimStatus::reserved_for>("reservedFor"),
          Field<4, &ResourceClaimStatus::devices>("devices"));

template <>
inline constexpr auto kFieldsOf<ResourceClaim> = ObjectTableWithStatus<ResourceClaim>();

template <>
inline constexpr auto kFieldsOf<ResourceClaimTemplateSpec> =
    ObjectTable<ResourceClaimTemplateSpec>();

template <>
inline constexpr auto kFieldsOf<ResourceClaimTemplate> = ObjectTable<ResourceClaimTemplate>();

template <>
inline constexpr auto kFieldsOf<DeviceClassConfiguration> =
    Table(Nested<1>(Field<1, &DeviceClassConfiguration::opaque>("opaque")));

template <>
inline constexpr auto kFieldsOf<DeviceClassSpec> =
    Table(Field<1, &DeviceClassSpec::selectors>("selectors"),
          Field<2, &DeviceClassSpec::config>("config"),
          Field<4, &DeviceClassSpec::extended_resource_name>("extendedResourceName"));

template <>
inline constexpr auto kFieldsOf<DeviceClass> = ObjectTable<DeviceClass>();

}  // namespace berth::api
