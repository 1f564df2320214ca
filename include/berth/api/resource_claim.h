// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "berth/api/boxed.h"
#include "berth/api/meta.h"
#include "berth/api/pod.h"
#include "berth/api/quantity.h"

// What devices a pod asks for, and what it was given: resource.k8s.io/v1.
namespace berth::api {

// Values of allocation_mode.
inline constexpr std::string_view kExactCount = "ExactCount";
inline constexpr std::string_view kAllDevices = "All";
// Values of DeviceToleration::operator_.
inline constexpr std::string_view kTolerationExists = "Exists";
inline constexpr std::string_view kTolerationEqual = "Equal";
// Values of DeviceAllocationConfiguration::source.
inline constexpr std::string_view kConfigFromClass = "FromClass";
inline constexpr std::string_view kConfigFromClaim = "FromClaim";
// Keeps a claim that is allocated from going away.
inline constexpr std::string_view kClaimFinalizer = "resource.kubernetes.io/delete-protection";
// "true" on the claim that stands for a pod's extended resources.
inline constexpr std::string_view kExtendedResourceClaimAnnotation =
    "resource.kubernetes.io/extended-resource-claim";

struct CELDeviceSelector {
  std::string expression;

  friend bool operator==(const CELDeviceSelector&, const CELDeviceSelector&) = default;
};

// One member is set.
struct DeviceSelector {
  std::optional<CELDeviceSelector> cel;

  friend bool operator==(const DeviceSelector&, const DeviceSelector&) = default;
};

struct OpaqueDeviceConfiguration {
  std::string driver;
  RawJson parameters;

  friend bool operator==(const OpaqueDeviceConfiguration&,
                         const OpaqueDeviceConfiguration&) = default;
};

struct DeviceToleration {
  // "" with Exists: every key.
  std::string key;
  // Exists, Equal; "" is Equal.
  std::string operator_;
  std::string value;
  // "" tolerates every effect.
  std::string effect;
  std::optional<int64_t> toleration_seconds;

  friend bool operator==(const DeviceToleration&, const DeviceToleration&) = default;
};

struct CapacityRequirements {
  ResourceList requests;

  friend bool operator==(const CapacityRequirements&, const CapacityRequirements&) = default;
};

struct DeviceDerivedAttribute {
  std::string name;
  std::string expression;

  friend bool operator==(const DeviceDerivedAttribute&, const DeviceDerivedAttribute&) = default;
};

struct ExactDeviceRequest {
  std::string device_class_name;
  std::vector<DeviceSelector> selectors;
  // ExactCount, All; "" is ExactCount.
  std::string allocation_mode;
  int64_t count = 0;
  std::optional<bool> admin_access;
  std::vector<DeviceToleration> tolerations;
  std::optional<CapacityRequirements> capacity;
  std::vector<DeviceDerivedAttribute> derived_attributes;

  friend bool operator==(const ExactDeviceRequest&, const ExactDeviceRequest&) = default;
};

struct DeviceSubRequest {
  std::string name;
  std::string device_class_name;
  std::vector<DeviceSelector> selectors;
  std::string allocation_mode;
  int64_t count = 0;
  std::vector<DeviceToleration> tolerations;
  std::optional<CapacityRequirements> capacity;
  std::vector<DeviceDerivedAttribute> derived_attributes;

  friend bool operator==(const DeviceSubRequest&, const DeviceSubRequest&) = default;
};

// Either `exactly`, or the first of `first_available` that can be had.
struct DeviceRequest {
  std::string name;
  Boxed<ExactDeviceRequest> exactly;
  std::vector<DeviceSubRequest> first_available;

  friend bool operator==(const DeviceRequest&, const DeviceRequest&) = default;
};

struct DeviceConstraint {
  // Of requests, or "request/subrequest"; empty: all of the claim.
  std::vector<std::string> requests;
  std::optional<std::string> match_attribute;
  std::optional<std::string> distinct_attribute;

  friend bool operator==(const DeviceConstraint&, const DeviceConstraint&) = default;
};

// JSON has the configuration's members beside the others: here only `opaque`.
struct DeviceClaimConfiguration {
  std::vector<std::string> requests;
  std::optional<OpaqueDeviceConfiguration> opaque;

  friend bool operator==(const DeviceClaimConfiguration&,
                         const DeviceClaimConfiguration&) = default;
};

struct DeviceClaim {
  std::vector<DeviceRequest> requests;
  std::vector<DeviceConstraint> constraints;
  std::vector<DeviceClaimConfiguration> config;

  friend bool operator==(const DeviceClaim&, const DeviceClaim&) = default;
};

struct ResourceClaimSpec {
  DeviceClaim devices;

  friend bool operator==(const ResourceClaimSpec&, const ResourceClaimSpec&) = default;
};

struct DeviceRequestAllocationResult {
  // "request" or "request/subrequest".
  std::string request;
  std::string driver;
  std::string pool;
  std::string device;
  std::optional<bool> admin_access;
  std::vector<DeviceToleration> tolerations;
  std::vector<std::string> binding_conditions;
  std::vector<std::string> binding_failure_conditions;
  // Of a device that several claims share: which share this is.
  std::optional<std::string> share_id;
  ResourceList consumed_capacity;
  std::vector<std::string> skip_node_operations;

  friend bool operator==(const DeviceRequestAllocationResult&,
                         const DeviceRequestAllocationResult&) = default;
};

struct DeviceAllocationConfiguration {
  // FromClass, FromClaim.
  std::string source;
  std::vector<std::string> requests;
  std::optional<OpaqueDeviceConfiguration> opaque;

  friend bool operator==(const DeviceAllocationConfiguration&,
                         const DeviceAllocationConfiguration&) = default;
};

struct DeviceAllocationResult {
  std::vector<DeviceRequestAllocationResult> results;
  std::vector<DeviceAllocationConfiguration> config;

  friend bool operator==(const DeviceAllocationResult&, const DeviceAllocationResult&) = default;
};

struct AllocationResult {
  DeviceAllocationResult devices;
  // nullopt: every node reaches the devices.
  std::optional<NodeSelector> node_selector;
  std::optional<Time> allocation_timestamp;

  friend bool operator==(const AllocationResult&, const AllocationResult&) = default;
};

struct ResourceClaimConsumerReference {
  // "" is the core group.
  std::string api_group;
  // "pods", "podgroups".
  std::string resource;
  std::string name;
  std::string uid;

  friend bool operator==(const ResourceClaimConsumerReference&,
                         const ResourceClaimConsumerReference&) = default;
};

struct NetworkDeviceData {
  std::string interface_name;
  std::vector<std::string> ips;
  std::string hardware_address;

  friend bool operator==(const NetworkDeviceData&, const NetworkDeviceData&) = default;
};

// What a driver says of a device that was given to the claim.
struct AllocatedDeviceStatus {
  std::string driver;
  std::string pool;
  std::string device;
  std::optional<std::string> share_id;
  std::vector<Condition> conditions;
  std::optional<RawJson> data;
  std::optional<NetworkDeviceData> network_data;

  friend bool operator==(const AllocatedDeviceStatus&, const AllocatedDeviceStatus&) = default;
};

struct ResourceClaimStatus {
  Boxed<AllocationResult> allocation;
  std::vector<ResourceClaimConsumerReference> reserved_for;
  std::vector<AllocatedDeviceStatus> devices;

  friend bool operator==(const ResourceClaimStatus&, const ResourceClaimStatus&) = default;
};

struct ResourceClaim {
  ObjectMeta metadata;
  ResourceClaimSpec spec;
  ResourceClaimStatus status;
  // Of one that is watched only until it is allocated, since it is written then.
  StoredForm stored;

  friend bool operator==(const ResourceClaim&, const ResourceClaim&) = default;
};

struct ResourceClaimTemplateSpec {
  ObjectMeta metadata;
  ResourceClaimSpec spec;

  friend bool operator==(const ResourceClaimTemplateSpec&,
                         const ResourceClaimTemplateSpec&) = default;
};

struct ResourceClaimTemplate {
  ObjectMeta metadata;
  ResourceClaimTemplateSpec spec;

  friend bool operator==(const ResourceClaimTemplate&, const ResourceClaimTemplate&) = default;
};

// JSON has the configuration's members in its place: here only `opaque`.
struct DeviceClassConfiguration {
  std::optional<OpaqueDeviceConfiguration> opaque;

  friend bool operator==(const DeviceClassConfiguration&,
                         const DeviceClassConfiguration&) = default;
};

struct DeviceClassSpec {
  std::vector<DeviceSelector> selectors;
  std::vector<DeviceClassConfiguration> config;
  // The extended resource that devices of the class stand for, besides the implicit one,
  // "deviceclass.resource.kubernetes.io/<name of the class>".
  std::optional<std::string> extended_resource_name;

  friend bool operator==(const DeviceClassSpec&, const DeviceClassSpec&) = default;
};

// resource.k8s.io/v1.
struct DeviceClass {
  ObjectMeta metadata;
  DeviceClassSpec spec;

  friend bool operator==(const DeviceClass&, const DeviceClass&) = default;
};

}  // namespace berth::api
